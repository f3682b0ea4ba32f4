//! Every data set by its published file, for those who have them; the fixtures cover the same
//! paths.
use std::path::PathBuf;

use halma_eval::{Format, Item, check, load};

/// Files with the number of questions in them.
const PUBLISHED: &[(&str, &str, usize)] = &[
    ("hotpotqa_dev.json", "hotpotqa", 289),
    ("hotpotqa_train.json", "hotpotqa", 100),
    ("2wiki_dev.json", "2wiki", 82),
    ("2wiki_train.json", "2wiki", 500),
    ("musique_ans_dev.jsonl", "musique", 229),
    ("musique_train100.json", "musique", 100),
    ("strategyqa_dev.json", "strategyqa", 114),
    ("medqa_test.jsonl", "medqa", 150),
    ("medmcqa_dev.jsonl", "medmcqa", 150),
    ("scifact_dev.tsv", "scifact-pairs", 104),
    ("fever_paper_dev.jsonl", "fever", 150),
    ("logiqa2_dev.jsonl", "logiqa2", 150),
    ("folio_validation.jsonl", "folio", 102),
    ("gsm8k_test.jsonl", "gsm8k", 150),
    ("mawps_test.json", "mawps", 119),
    ("lawbench/1-1.json", "lawbench-1-1", 100),
    ("lawbench/1-2.json", "lawbench-1-2", 100),
    ("lawbench/3-1.json", "lawbench-3-1", 100),
    ("lawbench/3-2.json", "lawbench-3-2", 100),
    ("lawbench/3-6.json", "lawbench-3-6", 100),
    ("lawbench/3-8.json", "lawbench-3-8", 100),
    ("crag_test.jsonl", "crag", 250),
    ("blendqa/kg-web_132.jsonl", "blendqa", 66),
    ("blendqa/text-kg_163.jsonl", "blendqa", 81),
    ("blendqa/web-text_150.jsonl", "blendqa", 75),
];

#[test]
#[ignore = "needs HALMA_DATA: the folder with the published files"]
fn the_published_files_load_whole() {
    let folder = std::env::var_os("HALMA_DATA").expect("HALMA_DATA names the folder");
    let mut read = 0;
    for (file, name, count) in PUBLISHED {
        let path = PathBuf::from(&folder).join(file);
        if !path.exists() {
            continue;
        }
        read += 1;
        let format: Format = name.parse().unwrap();
        let checked = check(&path, None).unwrap();
        assert_eq!(checked.format, format, "{file}");
        let data = load(&path, format, None).unwrap();
        assert_eq!((data.items.len(), &data.refused[..]), (*count, &[][..]), "{file}");
        for item in &data.items {
            right_answers_score(item, format);
        }
        let multi_hop = [Format::HOTPOTQA, Format::TWO_WIKI, Format::MUSIQUE].contains(&format);
        for item in data.items.iter().filter(|_| multi_hop) {
            let id = &item.question.id;
            assert!(item.gold.len() >= 2, "{file}: {id} has {} gold passages", item.gold.len());
            assert!(item.gold.iter().all(|passage| !passage.text.is_empty()), "{file}: {id}");
            assert!(item.kind.is_some() && item.hops.is_some(), "{file}: {id}");
        }
    }
    assert!(read > 0, "the folder has none of the published files");
}

/// The gold answer is right by the set's own metric.
fn right_answers_score(item: &Item, format: Format) {
    let answer = halma_core::Answer { text: item.answers[0].clone(), ..Default::default() };
    let value = format.entry().metric.value(&answer, &item.gold_answer());
    assert!(value > 0.999, "{format} {}: {value}", item.question.id);
}
