//! Every data set by its published file, where that is at hand; the fixtures cover the same paths
//! otherwise.
use std::path::PathBuf;

use halma_eval::{Format, Item, check, load};

/// Files with the number of questions in them.
const PUBLISHED: &[(&str, Format, usize)] = &[
    ("hotpotqa_dev.json", Format::Hotpotqa, 289),
    ("hotpotqa_train.json", Format::Hotpotqa, 100),
    ("2wiki_dev.json", Format::TwoWiki, 82),
    ("2wiki_train.json", Format::TwoWiki, 500),
    ("musique_ans_dev.jsonl", Format::Musique, 229),
    ("musique_train100.json", Format::Musique, 100),
    ("strategyqa_dev.json", Format::Strategyqa, 114),
    ("medqa_test.jsonl", Format::Medqa, 150),
    ("medmcqa_dev.jsonl", Format::Medmcqa, 150),
    ("scifact_dev.tsv", Format::ScifactPairs, 104),
    ("fever_paper_dev.jsonl", Format::Fever, 150),
    ("logiqa2_dev.jsonl", Format::Logiqa2, 150),
    ("folio_validation.jsonl", Format::Folio, 102),
    ("gsm8k_test.jsonl", Format::Gsm8k, 150),
    ("mawps_test.json", Format::Mawps, 119),
    ("lawbench/1-1.json", Format::Lawbench11, 100),
    ("lawbench/1-2.json", Format::Lawbench12, 100),
    ("lawbench/3-1.json", Format::Lawbench31, 100),
    ("lawbench/3-2.json", Format::Lawbench32, 100),
    ("lawbench/3-6.json", Format::Lawbench36, 100),
    ("lawbench/3-8.json", Format::Lawbench38, 100),
    ("crag_test.jsonl", Format::Crag, 250),
    ("blendqa/kg-web_132.jsonl", Format::Blendqa, 66),
    ("blendqa/text-kg_163.jsonl", Format::Blendqa, 81),
    ("blendqa/web-text_150.jsonl", Format::Blendqa, 75),
];

#[test]
fn the_published_files_load_whole() {
    let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    for (file, format, count) in PUBLISHED {
        let path = shared.join(file);
        if !path.exists() {
            continue;
        }
        let checked = check(&path, None).unwrap();
        assert_eq!(checked.format, *format, "{file}");
        let data = load(&path, *format, None).unwrap();
        assert_eq!((data.items.len(), &data.refused[..]), (*count, &[][..]), "{file}");
        for item in &data.items {
            right_answers_score(item, *format);
        }
        let multi_hop = [Format::Hotpotqa, Format::TwoWiki, Format::Musique].contains(format);
        for item in data.items.iter().filter(|_| multi_hop) {
            let id = &item.question.id;
            assert!(item.gold.len() >= 2, "{file}: {id} has {} gold passages", item.gold.len());
            assert!(item.gold.iter().all(|passage| !passage.text.is_empty()), "{file}: {id}");
            assert!(item.kind.is_some() && item.hops.is_some(), "{file}: {id}");
        }
    }
}

/// Whoever answers with the gold answer is right by the set's own metric.
fn right_answers_score(item: &Item, format: Format) {
    let answer = halma_core::Answer { text: item.answers[0].clone(), ..Default::default() };
    let value = format.entry().metric.value(item, &answer);
    assert!(value > 0.999, "{format} {}: {value}", item.question.id);
}
