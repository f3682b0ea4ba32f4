//! Every data set by its fixture.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::path::{Path, PathBuf};

use halma_core::AnswerKind;
use halma_eval::{DataSet, Format, GoldPassage, Item, check, load};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn format(name: &str) -> Format {
    name.parse().unwrap()
}

fn loaded(name: &str, format_name: &str) -> DataSet {
    load(&fixture(name), format(format_name), None).unwrap()
}

#[test]
fn the_samples_of_forecasts_and_ideas_are_questions_of_ones_own() {
    let demo = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo").join(path);
    let forecasts = load(&demo("forecast/questions.jsonl"), Format::USER, None).unwrap();
    assert_eq!((forecasts.items.len(), forecasts.refused.len()), (40, 0));
    for item in &forecasts.items {
        let came = halma_eval::judge::ActualValue::read(item);
        assert!(came.value.is_some() && came.last.is_some(), "{}", item.question.id);
        assert!(item.question.asked_at.is_some(), "{}", item.question.id);
    }
    let ideas = load(&demo("creative.jsonl"), Format::USER, None).unwrap();
    assert_eq!((ideas.items.len(), ideas.refused.len()), (20, 0));
}

/// Id, kind of answer, main answer, kind, hops: what distinguishes the items of a set.
fn line(item: &Item) -> String {
    let hops = item.hops.map_or("-".into(), |hops| hops.to_string());
    let kind = item.kind.as_deref().unwrap_or("-");
    let answer = item.answers.first().map_or("-", String::as_str);
    format!("{} {:?} [{answer}] {kind} {hops}", item.question.id, item.question.answer_kind)
}

fn all(data: &DataSet) -> Vec<String> {
    data.items.iter().map(line).collect()
}

/// The reasons of the refused records, with their lines.
fn refused(data: &DataSet) -> Vec<String> {
    data.refused.iter().map(|record| format!("{}: {}", record.line, record.reason)).collect()
}

fn titles(item: &Item) -> Vec<&str> {
    item.gold.iter().map(|passage| passage.title.as_str()).collect()
}

#[test]
fn musique_full_pairs_each_question_with_an_unanswerable_one() {
    let data = loaded("musique_full.jsonl", "musique-full");
    let wanted =
        ["2hop__1_2 Short [the Grey Sea] 2hop 2", "2hop__1_2#unanswerable Short [-] 2hop 2"];
    assert_eq!(all(&data), wanted);
    let answerable: Vec<bool> = data.items.iter().map(|item| item.answerable).collect();
    assert_eq!(answerable, [true, false]);
    assert_eq!((data.items[1].gold.len(), data.items[1].contexts.len()), (0, 2));
    let data = loaded("musique_full.jsonl", "musique");
    assert!(refused(&data)[0].contains("use --format musique-full"), "{:?}", refused(&data));
}

#[test]
fn strategyqa_reads_the_paragraphs_beside_it() {
    let data = loaded("strategyqa.json", "strategyqa");
    assert_eq!(all(&data), ["s1 YesNo [no] - 2", "s2 YesNo [yes] - 3"]);
    assert_eq!(refused(&data), ["7: the answer is neither `true` nor `false`"]);
    let telephone = GoldPassage {
        title: "Telephone".into(),
        text: "The telephone was patented in 1876.".into(),
    };
    let unknown = GoldPassage { title: "Telephone".into(), text: String::new() };
    assert_eq!(data.items[0].gold, [telephone, unknown], "of the first annotator who named any");
    assert_eq!(data.items[0].contexts.len(), 1);
}

#[test]
fn larger_benchmarks_name_their_evidence_and_what_has_no_answer() {
    let answerable =
        |data: &DataSet| data.items.iter().map(|item| item.answerable).collect::<Vec<_>>();
    let data = loaded("multihop_rag.json", "multihop-rag");
    let wanted = [
        "multihop-rag-1 Short [Ada Holm] inference_query -",
        "multihop-rag-2 Short [-] null_query -",
    ];
    assert_eq!(
        (all(&data), answerable(&data)),
        (wanted.map(str::to_owned).into(), vec![true, false])
    );
    assert_eq!(titles(&data.items[0]), ["A keeper leaves", "Skell without a keeper"]);
    assert_eq!(refused(&data).len(), 1);

    let data = loaded("frames.tsv", "frames");
    let wanted = [
        "frames-1 Short [9] Numerical reasoning 2",
        "frames-2 Short [Ada Holm] Multiple constraints 1",
    ];
    assert_eq!(all(&data), wanted);
    assert_eq!(titles(&data.items[0]), ["Skell Light", "Varn (isle)"]);
    assert_eq!(data.items[1].question.text, "Which keeper wrote \"The Gull\"?");
    assert!(refused(&data)[0].contains("cells"), "{:?}", refused(&data));

    let data = loaded("browsecomp_plus.jsonl", "browsecomp-plus");
    assert_eq!(all(&data), ["769 Short [Varn] - -"]);
    let gold = &data.items[0].gold;
    assert!(gold.len() == 2 && gold[0].matches("any title", "Its keeper wrote The Gull in 1928."));
    assert!(!gold[0].matches("any title", "Lenn is a river."));

    let data = loaded("enterpriserag_bench.jsonl", "enterpriserag-bench");
    assert_eq!((data.items.len(), answerable(&data)), (2, vec![true, false]));
    let gold = &data.items[0].gold[0];
    assert!(gold.matches("dsid_0a1b__repairs", "Lamps …") && !gold.matches("dsid_0a1bc__x", "y"));
    assert_eq!(refused(&data), ["3: `expected_doc_ids` is not a list"]);

    let data = loaded("longmemeval.json", "longmemeval");
    assert_eq!((data.items.len(), answerable(&data)), (2, vec![true, false]));
    let first = &data.items[0];
    assert_eq!((titles(first), first.contexts.len()), (vec!["answer_2"], 2));
    assert!(first.gold[0].text.ends_with("user: I named my boat Gull.\nassistant: A fine name."));
    assert!(first.question.asked_at.is_some() && data.items[1].gold.is_empty());
    assert_eq!(refused(&data), ["4: there are 2 ids for 1 conversations"]);
}

/// `HippoRAG` publishes 1,000 questions of each set as one list, and the pool next to it.
#[test]
fn the_pools_of_hipporag_are_read_as_the_sets_that_they_are_drawn_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("musique.json");
    let lines = std::fs::read_to_string(fixture("musique.jsonl")).unwrap();
    let records: Vec<&str> = lines.lines().filter(|line| !line.trim().is_empty()).collect();
    std::fs::write(&path, format!("[{}]", records.join(",\n"))).unwrap();
    let (list, lines) =
        (load(&path, format("musique"), None).unwrap(), loaded("musique.jsonl", "musique"));
    assert_eq!(all(&list), all(&lines));
}

#[test]
fn multiple_choice_sets_have_options_and_the_right_one() {
    let data = loaded("medqa.jsonl", "medqa");
    assert_eq!(
        all(&data),
        ["medqa-1 Option [Vitamin C] step1 -", "medqa-2 Option [Femur] step2&3 -"]
    );
    assert_eq!(data.items[1].question.options.len(), 5);
    assert_eq!(refused(&data), ["3: option A is not `Liver`"]);

    let data = loaded("medmcqa.jsonl", "medmcqa");
    assert_eq!(
        all(&data),
        ["m1 Option [Liver] Anatomy -", "m2 Option [tendon reflexes] Medicine -"]
    );
    assert_eq!(refused(&data), ["3: `cop` is 7, and there are four options"]);

    let data = loaded("logiqa2.jsonl", "logiqa2");
    assert_eq!(
        all(&data),
        [
            "5-1 Option [The Gull is white.] Categorical + Conjunctive -",
            "5-2 Option [Indoors.] Sufficient Conditional -",
        ],
        "ids repeat in the published files"
    );
    assert!(data.items[0].question.text.ends_with("The Gull is a ferry.\n\nWhich follows?"));
    assert_eq!(refused(&data), ["3: `answer` is 4, and there are 4 options"]);
}

#[test]
fn a_copy_of_medmcqa_that_counts_from_0_is_refused_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dev.json");
    let text = std::fs::read_to_string(fixture("medmcqa.jsonl")).unwrap();
    std::fs::write(&path, text.replace("\"cop\":4", "\"cop\":0")).unwrap();
    let error = load(&path, format("medmcqa"), None).unwrap_err().to_string();
    assert!(error.contains("dev.json:2: record 2: `cop` is 0, so this copy counts"), "{error}");
}

#[test]
fn claims_have_verdicts() {
    let data = loaded("scifact/claims.jsonl", "scifact");
    let wanted = [
        "1 Verdict [SUPPORT] SUPPORT -",
        "2 Verdict [CONTRADICT] CONTRADICT -",
        "3 Verdict [NOT ENOUGH INFO] NOT ENOUGH INFO -",
    ];
    assert_eq!(all(&data), wanted);
    assert!(refused(&data)[0].contains("different verdicts"), "{:?}", refused(&data));
    let first = &data.items[0];
    assert_eq!(titles(first), ["Seedlings and lamps"]);
    assert_eq!(first.gold[0].text, "Seedlings bent towards the lamp. The bend was 30 degrees.");
    assert_eq!((first.contexts.len(), data.items[2].gold.len()), (2, 0));

    let data = loaded("scifact_pairs.tsv", "scifact-pairs");
    let wanted =
        ["0 Verdict [entailment] entailment -", "1 Verdict [not_entailment] not_entailment -"];
    assert_eq!(all(&data), wanted);
    assert!(data.items[0].gold[0].text.ends_with("lamp \"at once\"."), "quotes are of the text");
    assert!(refused(&data)[0].starts_with("4: 5 cells where the first line names 4 columns"));

    let data = loaded("fever.jsonl", "fever");
    let wanted = [
        "21 Verdict [SUPPORTS] SUPPORTS 1",
        "22 Verdict [REFUTES] REFUTES 2",
        "23 Verdict [NOT ENOUGH INFO] NOT ENOUGH INFO -",
    ];
    assert_eq!(all(&data), wanted);
    assert_eq!(titles(&data.items[0]), ["Anna Quist"], "the smallest set is enough");
    assert_eq!(titles(&data.items[1]), ["Marsh Bridge", "Sweden"]);
    assert_eq!(data.items[0].question.options, ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]);
    assert_eq!(refused(&data), ["4: `MAYBE` is not a verdict of FEVER"]);

    let data = loaded("folio.jsonl", "folio");
    let answers: Vec<&str> = data.items.iter().map(|item| item.answers[0].as_str()).collect();
    assert_eq!(answers, ["True", "Uncertain", "False"], "`Unknown` is `Uncertain`");
    let text = "All ferries are white.\nThe Gull is a ferry.\n\nThe Gull is white.";
    assert_eq!(data.items[0].question.text, text);
    assert_eq!(refused(&data), ["4: `premises` is empty"]);
}

#[test]
fn word_problems_have_numbers() {
    let data = loaded("gsm8k.jsonl", "gsm8k");
    assert_eq!(all(&data), ["gsm8k-1 Number [6000] - -", "gsm8k-2 Number [-3] - -"]);
    assert_eq!(refused(&data), ["3: the answer has no `####` before its number"]);
    let data = loaded("mawps.json", "mawps");
    assert_eq!(all(&data), ["7 Number [5] - -", "8 Number [0.3333333333333333] - -"]);
    assert_eq!(refused(&data), ["4: the answer `much` is not a number"]);
}

#[test]
fn lawbench_distinguishes_its_tasks_by_their_answers() {
    let data = loaded("lawbench_1-1.json", "lawbench-1-1");
    assert_eq!(all(&data), ["1-1-1 Long [为了保障灯塔的管理，制定本法。] - -"]);
    assert!(refused(&data)[0].contains("does not begin with `答案:`"), "{:?}", refused(&data));
    let data = loaded("lawbench_1-2.json", "lawbench-1-2");
    assert_eq!(all(&data), ["1-2-1 Option [B] - -"]);
    assert_eq!(refused(&data), ["3: the answer `E` is not one of A, B, C, D"]);
    let data = loaded("lawbench_3-1.json", "lawbench-3-1");
    assert_eq!(all(&data), ["3-1-1 Short [刑法第264、245条] - -"]);
    let text = &data.items[0].question.text;
    assert!(text.starts_with("根据下列事实和罪名给出涉及的刑法法条。\n事实:"), "{text}");
    assert_eq!(refused(&data), ["3: the answer `不明` names no article"]);
    for (name, format, wanted) in [
        ("3-2", "lawbench-3-2", "3-2-1 Long [根据灯塔法第五条，管理员应当赔偿损失。] - -"),
        ("3-6", "lawbench-3-6", "3-6-1 Option [A] - -"),
        ("3-8", "lawbench-3-8", "3-8-1 Long [由所有人修理。法律依据:《灯塔法》第九条。] - -"),
    ] {
        assert_eq!(all(&loaded(&format!("lawbench_{name}.json"), format)), [wanted]);
    }
    let error = load(&fixture("lawbench_3-2.json"), format("lawbench-1-1"), None).unwrap_err();
    assert!(error.to_string().contains("is it another task's file?"), "{error}");
}

#[test]
fn law_and_web_bring_their_passages() {
    let data = loaded("open_australian_legal_qa.jsonl", "open-australian-legal-qa");
    assert_eq!(data.items.len(), 2);
    assert_eq!(titles(&data.items[0]), ["Lights Act 1901 (Tas)"]);
    assert_eq!(data.items[0].question.answer_kind, AnswerKind::Long);
    assert_eq!(refused(&data), ["3: missing field `text`"]);

    let data = loaded("crag.jsonl", "crag");
    let wanted = [
        "c1 Short [yes] comparison -",
        "c2 Short [1998] simple -",
        "c3 Short [invalid question] false_premise -",
    ];
    assert_eq!(all(&data), wanted);
    assert_eq!(data.items[1].answers, ["1998", "in 1998"]);
    assert_eq!(data.items[0].question.asked_at.as_deref(), Some("02/28/2024, 10:04:54 PT"));
    let pages: Vec<(&str, bool)> =
        data.items[0].contexts.iter().map(|page| (page.title.as_str(), page.html)).collect();
    assert_eq!(pages, [("The Gull", true), ("https://example.org/tern", false)]);
    assert_eq!(refused(&data), ["4: `alternative_answers` is not a list"]);
}

#[test]
fn a_pool_is_written_as_documents() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("pool");
    assert_eq!(loaded("crag.jsonl", "crag").write_pool(&out).unwrap(), 2);
    let mut endings: Vec<String> = std::fs::read_dir(&out)
        .unwrap()
        .map(|file| file.unwrap().path().extension().unwrap().to_string_lossy().into_owned())
        .collect();
    endings.sort();
    assert_eq!(endings, ["html", "jsonl"]);
    let line = std::fs::read_to_string(out.join("passages.jsonl")).unwrap();
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["title"], "https://example.org/tern");
    assert_eq!(line["text"], "The Tern is 60 m long.");
    let nothing = folder.path().join("nothing");
    assert_eq!(loaded("gsm8k.jsonl", "gsm8k").write_pool(&nothing).unwrap(), 0);
    assert!(!nothing.exists());
}

#[test]
fn blendqa_names_the_pages_of_wikipedia() {
    let data = loaded("blendqa.jsonl", "blendqa");
    let wanted =
        ["type_t2k-0 Short [Ilse Brandt] KG-Text 2", "type1_w2t-0 Short [1998] Text-Web 2"];
    assert_eq!(all(&data), wanted);
    assert_eq!(titles(&data.items[0]), ["Café of Oldbridge"]);
    assert_eq!(titles(&data.items[1]), ["Gull (ferry)"]);
    assert_eq!(refused(&data), ["3: the answer is empty"]);
}

#[test]
fn questions_of_ones_own_need_little() {
    let data = loaded("own.jsonl", "own");
    let wanted = [
        "q-7e673e7f8e Short [Ilse Brandt] - -",
        "12 Short [6] look-up 1",
        "c YesNo [yes] - -",
        "d Option [the Gull] - -",
        "e Short [-] - -",
        "f Long [It was sold because the new bridge took most of its passengers away within two \
         years.] - -",
        "g Short [北京] - -",
    ];
    assert_eq!(all(&data), wanted);
    assert_eq!(data.items[1].answers, ["6", "six"]);
    assert_eq!(data.items[1].gold[0].text, "The Gull makes six trips.");
    assert_eq!(titles(&data.items[1]), ["", "Gull"]);
    assert!(!data.items[4].answerable);
    let reasons = refused(&data);
    let wanted = [
        "8: its id `c` is that of record 3; give each its own",
        "9: the list of answers is empty; give at least one",
        "10: an answer is a list in a list; give one flat list",
        "11: it has no `answers`, so it cannot be scored; add them, or `\"answerable\": false` if \
         the right thing is to abstain",
        "12: it has answers and says that it is not answerable",
        "13: the answer `the Swan` is none of its options",
        "14: the question is empty",
    ];
    assert_eq!(reasons[..7], wanted);
    assert!(reasons[7].starts_with("15: unknown variant `poem`"), "{reasons:?}");
}

#[test]
fn aliases_of_2wiki_come_from_its_companion_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dev.json");
    let text = std::fs::read_to_string(fixture("2wiki.json")).unwrap();
    let text = text.replacen("\"answer\"", "\"answer_id\": \"Q5\", \"answer\"", 1);
    std::fs::write(&path, text).unwrap();
    let aliases = folder.path().join("id_aliases.json");
    let lines = "{\"Q_id\": \"Q5\", \"aliases\": [\"The Salt Road\"], \"demonyms\": []}\n";
    std::fs::write(&aliases, lines).unwrap();
    let data = load(&path, format("2wiki"), None).unwrap();
    assert_eq!(data.items[0].answers, ["Salt Road", "The Salt Road"]);
    std::fs::write(&aliases, "{\"Q_id\": 5}\n").unwrap();
    let error = load(&path, format("2wiki"), None).unwrap_err().to_string();
    assert!(error.contains("id_aliases.json: the companion file of") && error.contains("line 1"));
}

/// Each with the format it is recognised as; `musique.jsonl` holds an unanswerable question.
const FIXTURES: &[(&str, &str)] = &[
    ("hotpotqa.json", "hotpotqa"),
    ("2wiki.json", "2wiki"),
    ("musique.jsonl", "musique-full"),
    ("musique_full.jsonl", "musique-full"),
    ("strategyqa.json", "strategyqa"),
    ("medqa.jsonl", "medqa"),
    ("medmcqa.jsonl", "medmcqa"),
    ("medmcqa_from_0.jsonl", "medmcqa-from-0"),
    ("scifact/claims.jsonl", "scifact"),
    ("scifact_pairs.tsv", "scifact-pairs"),
    ("fever.jsonl", "fever"),
    ("logiqa.txt", "logiqa"),
    ("logiqa2.jsonl", "logiqa2"),
    ("mawps_calcx.jsonl", "mawps-calcx"),
    ("folio.jsonl", "folio"),
    ("gsm8k.jsonl", "gsm8k"),
    ("mawps.json", "mawps"),
    ("lawbench_1-1.json", "lawbench-1-1"),
    ("lawbench_1-2.json", "lawbench-1-2"),
    ("lawbench_3-1.json", "lawbench-3-1"),
    ("lawbench_3-2.json", "lawbench-3-2"),
    ("lawbench_3-6.json", "lawbench-3-6"),
    ("lawbench_3-8.json", "lawbench-3-8"),
    ("open_australian_legal_qa.jsonl", "open-australian-legal-qa"),
    ("crag.jsonl", "crag"),
    ("blendqa.jsonl", "blendqa"),
    ("own.jsonl", "own"),
];

#[test]
fn every_fixture_is_recognised_by_its_keys() {
    for (name, set) in FIXTURES {
        let checked = check(&fixture(name), None).unwrap();
        assert_eq!(checked.format.name(), *set, "{name}");
        assert_eq!(checked.usable, loaded(name, set).items.len(), "{name}");
        assert_eq!(checked.records, checked.usable + checked.refused.len(), "{name}");
        assert!(checked.same_as.is_none() && checked.lines().len() >= 5, "{name}");
    }
}

#[test]
fn a_check_says_what_a_file_is() {
    let checked = check(&fixture("own.jsonl"), Some(format("own"))).unwrap();
    let lines = checked.lines().join("\n");
    for wanted in [
        "own.jsonl: The user's own questions (--format own)",
        "records: 15, usable: 7, refused: 8",
        "no published file that we know of",
        "keys of every record: question",
        "key of some: answers (records: 14)",
        "kinds: look-up 1",
        "questions with gold passages: 2; passages in the file: 1",
        "questions that are not answerable: 1",
        "record 8 (line 8) refused: its id `c` is that of record 3",
    ] {
        assert!(lines.contains(wanted), "{wanted:?} is not in\n{lines}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    std::fs::write(&path, "{\"colour\": 1}\n").unwrap();
    let error = check(&path, None).unwrap_err().to_string();
    assert!(error.contains("no format has the keys of this file's records (colour)"), "{error}");
}

/// Whatever stands in the place of a value, the record is read or refused.
#[test]
fn a_value_of_another_type_is_never_more_than_a_refused_record() {
    let folder = tempfile::tempdir().unwrap();
    let json = |(name, _): &&(&str, &str)| {
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
        !matches!(extension, Some("tsv" | "txt"))
    };
    for (name, set) in FIXTURES.iter().filter(json) {
        let text = std::fs::read_to_string(fixture(name)).unwrap();
        let records: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap_or_else(|_| {
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        });
        let first = records[0].as_object().unwrap();
        for (key, other) in first.keys().flat_map(|key| OTHERS.map(|other| (key, other))) {
            let mut records = records.clone();
            records[0][key] = serde_json::from_str(other).unwrap();
            let path = folder.path().join("changed.json");
            std::fs::write(&path, serde_json::to_vec(&records).unwrap()).unwrap();
            if let Ok(data) = load(&path, format(set), None) {
                let all = data.items.len() + data.refused.len();
                assert_eq!(all, records.len(), "{name}: {key} = {other}");
            }
        }
    }
}

const OTHERS: [&str; 7] = ["null", "7", "-1.5", "\"\"", "[]", "{}", "[[\"x\"], {\"y\": []}]"];
