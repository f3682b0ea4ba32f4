use std::path::PathBuf;

use super::*;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn load_text(text: &str, format: Format) -> Result<DataSet, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.json");
    std::fs::write(&path, text).unwrap();
    load(&path, format, None)
}

fn format(name: &str) -> Format {
    name.parse().unwrap()
}

fn passage(title: &str, text: &str) -> GoldPassage {
    GoldPassage { title: title.into(), text: text.into() }
}

#[test]
fn hotpotqa_names_its_passages_by_supporting_facts() {
    let data = load(&fixture("hotpotqa.json"), Format::HOTPOTQA, None).unwrap();
    assert_eq!((data.name.as_str(), data.items.len(), data.refused.len()), ("hotpotqa", 3, 0));
    let first = &data.items[0];
    assert_eq!(first.question.id, "h1");
    assert_eq!(first.answers, ["Oldbridge"]);
    assert_eq!(first.kind.as_deref(), Some("bridge"));
    let fresco = "The Harbour Fresco is a mural by Mara Venn. It covers the customs house.";
    let venn = "Mara Venn is a painter. She was born in Oldbridge.";
    assert_eq!(first.gold, [passage("Harbour Fresco", fresco), passage("Mara Venn", venn)]);
    // Of two paragraphs of one title it is the one that has the sentence; a title that the file
    // does not hold stays, without a text.
    let bridge = passage("Oldbridge", "Oldbridge has an old bridge. Monks built it.");
    assert_eq!(data.items[2].gold, [bridge, passage("Saint Bryn", "")]);
}

#[test]
fn two_wiki_sentences_are_parted_by_a_space() {
    let data = load(&fixture("2wiki.json"), Format::TWO_WIKI, None).unwrap();
    let gold = &data.items[0].gold;
    assert_eq!(gold.len(), 4);
    assert_eq!(gold[0].text, "Salt Road is a film by Ilo Brandt. It is set in a desert.");
    assert_eq!(gold[3], passage("Nea Corr", "Nea Corr( born 1950) is a director."));
}

#[test]
fn musique_has_aliases_hops_and_refuses_the_unanswerable() {
    let data = load(&fixture("musique.jsonl"), Format::MUSIQUE, None).unwrap();
    assert_eq!(data.items[0].answers, ["the Grey Sea", "Grey Sea", "Mare Cinereum"]);
    let kinds: Vec<_> = data.items.iter().map(|item| item.kind.as_deref().unwrap()).collect();
    assert_eq!(kinds, ["2hop", "3hop"]);
    assert_eq!((data.refused[0].record, data.refused[0].line), (2, 2));
    assert!(data.refused[0].reason.contains("not answerable"));
}

#[test]
fn the_same_records_load_as_list_and_as_lines() {
    let lines = std::fs::read_to_string(fixture("musique.jsonl")).unwrap();
    let list = format!("\u{feff}[{}]", lines.trim().replace('\n', ",\n"));
    let data = load_text(&list, Format::MUSIQUE).unwrap();
    assert_eq!(data.items.len(), 2);
    assert_eq!((data.refused[0].record, data.refused[0].line), (2, 2));
}

#[test]
fn a_malformed_record_is_named_and_the_others_are_loaded() {
    let whole = std::fs::read_to_string(fixture("hotpotqa.json")).unwrap();
    let data = load_text(&whole.replace("\"answer\": \"yes\",", ""), Format::HOTPOTQA).unwrap();
    assert_eq!(data.items.len(), 2);
    let refused = RefusedRecord { record: 2, line: 13, reason: "missing field `answer`".into() };
    assert_eq!(data.refused, [refused]);
    let lines = std::fs::read_to_string(fixture("musique.jsonl")).unwrap();
    let torn = format!("{{\"id\": \n\n{lines}");
    let data = load_text(&torn, Format::MUSIQUE).unwrap();
    assert_eq!(data.items.len(), 2);
    assert_eq!((data.refused[0].record, data.refused[0].line), (1, 1));
    assert!(
        data.refused[0].reason.starts_with("it is not valid JSON at column"),
        "{:?}",
        data.refused
    );
    assert_eq!((data.refused[1].record, data.refused[1].line), (3, 4));
    let twice = load_text(&whole.replace("\"h2\"", "\"h1\""), Format::HOTPOTQA).unwrap();
    let reason = "its id `h1` is that of record 1; give each its own";
    assert_eq!(twice.refused[0].reason, reason);
    let empty = load_text(&whole.replace("\"yes\"", "\" \""), Format::HOTPOTQA).unwrap();
    assert_eq!(empty.refused[0].reason, "the answer is empty");
}

#[test]
fn a_question_without_an_id_keeps_it_when_lines_are_added_or_removed() {
    let line = |question: &str| format!("{{\"question\": \"{question}\", \"answers\": [\"x\"]}}\n");
    let of = |lines: &[String]| load_text(&lines.concat(), Format::USER).unwrap();
    let (who, whose) = (line("Who built Varn?"), line("Whose is Varn?"));
    let both = of(&[who.clone(), whose.clone()]);
    assert_ne!(both.items[0].question.id, both.items[1].question.id);
    assert_eq!(of(std::slice::from_ref(&whose)).items[0].question.id, both.items[1].question.id);
    let twice = of(&[whose.clone(), who, whose]);
    let reason = "it is the question of record 1 again; give each its own `id` to ask both";
    assert_eq!((twice.items.len(), twice.refused[0].reason.as_str()), (2, reason));
}

#[test]
fn a_limit_takes_the_first_questions() {
    let data = load(&fixture("musique.jsonl"), Format::MUSIQUE, Some(1)).unwrap();
    assert_eq!((data.items.len(), data.refused.len()), (1, 0));
    let data = load(&fixture("hotpotqa.json"), Format::HOTPOTQA, Some(99)).unwrap();
    assert_eq!(data.items.len(), 3);
}

#[test]
fn a_file_of_another_format_says_which() {
    let files = ["hotpotqa.json", "2wiki.json", "musique.jsonl", "medqa.jsonl"];
    let formats = [Format::HOTPOTQA, Format::TWO_WIKI, Format::MUSIQUE, format("medqa")];
    for (file, recognised) in files.into_iter().zip(formats) {
        // Any file with questions and answers can be read as the user's own.
        for wanted in Format::all().filter(|format| *format != Format::USER) {
            match load(&fixture(file), wanted, None) {
                Ok(_) => {
                    assert!(wanted == recognised || wanted == format("musique-full"), "{wanted}");
                }
                Err(error) => {
                    let advice = format!("use --format {recognised}");
                    assert!(error.to_string().ends_with(&advice), "{wanted}: {error}");
                }
            }
        }
    }
    let error = load(&fixture("musique.jsonl"), Format::HOTPOTQA, None).unwrap_err().to_string();
    assert!(error.contains("looks like the format `musique`, not like `hotpotqa`"), "{error}");
}

#[test]
fn a_file_that_is_no_data_set_is_an_error_with_its_name() {
    let error = |text: &str| load_text(text, Format::HOTPOTQA).unwrap_err().to_string();
    for (text, wanted) in [
        ("", "holds no record"),
        ("[]", "holds no record"),
        ("[{\"_id\": \"x\",\n \"ques", "some.json:2:6: the JSON list is broken: EOF"),
        (
            "[{\"text\": \"x\"}]",
            "no record has the keys of a HotpotQA file (`_id` or `id`, `question`",
        ),
        ("plain words", "record 1 (line 1): it is not valid JSON at column 1"),
        (
            "[{\"id\": \"1\", \"question\": \"?\", \"answer\": \"x\", \"context\": 7}]",
            "record 1 (line 1): ",
        ),
        ("BZh91AY", "packed (bzip2); unpack it and give the file itself, `bunzip2 -k FILE`"),
    ] {
        let error = error(text);
        assert!(error.contains("some.json") && error.contains(wanted), "{text}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("latin.json");
    std::fs::write(&path, b"[\"caf\xe9\"]").unwrap();
    let error = load(&path, Format::MUSIQUE, None).unwrap_err();
    assert!(matches!(error, DataError::NotText { byte: 5, .. }), "{error}");
    let error = load(folder.path(), Format::MUSIQUE, None).unwrap_err();
    assert!(matches!(error, DataError::Unreadable { .. }), "{error}");
}

#[test]
fn a_hit_matches_by_title_and_by_lying_in_the_passage() {
    let gold = passage("Mara Venn", "Mara Venn is a painter. She was born in Oldbridge.");
    assert!(gold.matches("Mara Venn", "She was\n  born in Oldbridge."));
    assert!(gold.matches("Mara  Venn ", "Mara Venn is a painter.She was born"));
    assert!(!gold.matches("Mara", "She was born in Oldbridge."));
    assert!(!gold.matches("Mara Venn", "She was born in Newbridge."));
    assert!(!gold.matches("Mara Venn", " "));
    assert!(passage("Saint Bryn", "").matches("Saint Bryn", "Whatever is there."));
    assert!(passage("", "Mara Venn is a painter.").matches("Painters", "Mara Venn is a painter."));
    assert!(!passage("", "Mara Venn is a painter.").matches("Painters", "A painter."));
}

#[test]
fn names_are_those_of_the_command_line() {
    for format in Format::all() {
        assert_eq!(format.to_string().parse(), Ok(format));
        assert_eq!(serde_json::to_value(format).unwrap(), format.name());
    }
    let error = "hotpot".parse::<Format>().unwrap_err();
    assert!(error.contains("use one of hotpotqa, 2wiki, musique, "), "{error}");
}

#[test]
fn every_entry_is_whole() {
    let mut names = std::collections::BTreeSet::new();
    for entry in entries() {
        assert!(names.insert(&entry.name), "two entries are called {}", entry.name);
        assert_eq!(entry.format().entry().name, entry.name);
        assert_ne!(entry.reader.is_some(), entry.record.is_some(), "{}", entry.name);
        // Panics where the reader does not exist.
        entry.reader();
    }
    for format in [Format::HOTPOTQA, Format::TWO_WIKI, Format::MUSIQUE, Format::USER] {
        assert_eq!(format.entry().name, format.name());
    }
}

#[test]
fn a_long_file_is_read_no_further_than_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.jsonl");
    let mut bytes = vec![];
    for i in 0..200 {
        bytes.extend(format!("{{\"question\": \"Who is {i}?\", \"answers\": {i}}}\n").bytes());
    }
    bytes.extend(b"\xff no text\n");
    std::fs::write(&path, bytes).unwrap();
    let data = load(&path, Format::USER, Some(150)).unwrap();
    assert_eq!((data.items.len(), data.items[149].answers[0].as_str()), (150, "149"));
    assert!(matches!(load(&path, Format::USER, None), Err(DataError::NotText { .. })));
}

#[test]
fn a_pool_holds_each_passage_once() {
    let data = load(&fixture("musique.jsonl"), Format::MUSIQUE, None).unwrap();
    let titles: Vec<&str> = data.pool().iter().map(|passage| passage.title.as_str()).collect();
    assert_eq!(titles, ["Oldbridge", "Lenn", "Tarr", "Lenn"], "two passages of one title");
}

fn answered(data: &DataSet) -> Vec<(&str, &str)> {
    data.items.iter().map(|one| (one.question.id.as_str(), one.answers[0].as_str())).collect()
}

#[test]
fn the_first_logiqa_is_blocks_of_lines_or_records() {
    let data = load(&fixture("logiqa.txt"), format("logiqa"), None).unwrap();
    let gull = ("logiqa-1", "The Gull does not leave Varn at noon.");
    assert_eq!(answered(&data), [gull, ("logiqa-2", "Orla")]);
    assert_eq!((data.refused[0].line, data.refused.len()), (18, 1));
    assert_eq!(data.refused[0].reason, "5 lines where a record has seven");
    assert!(data.items[1].question.text.ends_with("Ilse is away.\n\nWho mans the lamp?"));
    let record = |right: &str| {
        format!(
            r#"{{"context": "c", "query": "q", "options": ["x", "y"], "correct_option": {right}}}"#
        )
    };
    let lines: Vec<String> = ["1", "\"0\"", "\"B\"", "2", "\"ab\""].map(record).to_vec();
    let data = load_text(&lines.join("\n"), format("logiqa")).unwrap();
    let right: Vec<&str> = data.items.iter().map(|item| item.answers[0].as_str()).collect();
    assert_eq!((right, data.refused.len()), (vec!["y", "x", "y"], 2));
}

#[test]
fn calc_x_states_numbers_as_texts() {
    let data = load(&fixture("mawps_calcx.jsonl"), format("mawps-calcx"), None).unwrap();
    assert_eq!(answered(&data), [("mawps__a1", "7"), ("mawps__a2", "5/2")]);
    assert_eq!(data.refused.len(), 1);
}

#[test]
fn a_copy_of_medmcqa_that_counts_from_0_has_a_format_of_its_own() {
    let (file, zero) = (fixture("medmcqa_from_0.jsonl"), format("medmcqa-from-0"));
    let data = load(&file, zero, None).unwrap();
    assert_eq!(answered(&data), [("m-0", "the first"), ("m-1", "femur")]);
    let text = std::fs::read_to_string(file).unwrap();
    let error = load_text(&text.replace("\"cop\": 3", "\"cop\": 4"), zero).unwrap_err();
    assert!(error.to_string().contains("read it with --format medmcqa"), "{error}");
}

#[test]
fn a_file_of_broken_json_is_refused_with_its_line_and_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.jsonl");
    std::fs::write(&path, "\n{\"question\": \"Who?\", \"answers\": [\"Ann\"\n").unwrap();
    let error = recognise(&path).unwrap_err().to_string();
    assert!(
        error.contains("bad.jsonl:2: ") && error.contains("not valid JSON at column"),
        "{error}"
    );
    std::fs::write(&path, "{\"colour\": \"red\"}\n").unwrap();
    let error = recognise(&path).unwrap_err().to_string();
    assert!(error.contains("keys of this file's records (colour)"), "{error}");
}
