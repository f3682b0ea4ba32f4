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

fn passage(title: &str, text: &str) -> GoldPassage {
    GoldPassage { title: title.into(), text: text.into() }
}

#[test]
fn hotpotqa_names_its_passages_by_supporting_facts() {
    let data = load(&fixture("hotpotqa.json"), Format::Hotpotqa, None).unwrap();
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
    let data = load(&fixture("2wiki.json"), Format::TwoWiki, None).unwrap();
    let gold = &data.items[0].gold;
    assert_eq!(gold.len(), 4);
    assert_eq!(gold[0].text, "Salt Road is a film by Ilo Brandt. It is set in a desert.");
    assert_eq!(gold[3], passage("Nea Corr", "Nea Corr( born 1950) is a director."));
}

#[test]
fn musique_has_aliases_hops_and_refuses_the_unanswerable() {
    let data = load(&fixture("musique.jsonl"), Format::Musique, None).unwrap();
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
    let data = load_text(&list, Format::Musique).unwrap();
    assert_eq!(data.items.len(), 2);
    assert_eq!((data.refused[0].record, data.refused[0].line), (2, 2));
}

#[test]
fn a_malformed_record_is_named_and_the_others_are_loaded() {
    let whole = std::fs::read_to_string(fixture("hotpotqa.json")).unwrap();
    let data = load_text(&whole.replace("\"answer\": \"yes\",", ""), Format::Hotpotqa).unwrap();
    assert_eq!(data.items.len(), 2);
    let refused = RefusedRecord { record: 2, line: 13, reason: "missing field `answer`".into() };
    assert_eq!(data.refused, [refused]);
    let lines = std::fs::read_to_string(fixture("musique.jsonl")).unwrap();
    let torn = format!("{{\"id\": \n\n{lines}");
    let data = load_text(&torn, Format::Musique).unwrap();
    assert_eq!(data.items.len(), 2);
    assert_eq!((data.refused[0].record, data.refused[0].line), (1, 1));
    assert!(data.refused[0].reason.starts_with("no JSON at column"), "{:?}", data.refused);
    assert_eq!((data.refused[1].record, data.refused[1].line), (3, 4));
    let twice = load_text(&whole.replace("\"h2\"", "\"h1\""), Format::Hotpotqa).unwrap();
    assert_eq!(twice.refused[0].reason, "its id `h1` is that of record 1");
    let empty = load_text(&whole.replace("\"yes\"", "\" \""), Format::Hotpotqa).unwrap();
    assert_eq!(empty.refused[0].reason, "the answer is empty");
}

#[test]
fn a_limit_takes_the_first_questions() {
    let data = load(&fixture("musique.jsonl"), Format::Musique, Some(1)).unwrap();
    assert_eq!((data.items.len(), data.refused.len()), (1, 0));
    let data = load(&fixture("hotpotqa.json"), Format::Hotpotqa, Some(99)).unwrap();
    assert_eq!(data.items.len(), 3);
}

#[test]
fn a_file_of_another_format_says_which() {
    let files = ["hotpotqa.json", "2wiki.json", "musique.jsonl"];
    for (i, file) in files.into_iter().enumerate() {
        for wanted in Format::ALL {
            let found = Format::ALL[i];
            match load(&fixture(file), wanted, None) {
                Ok(_) => assert_eq!(wanted, found),
                Err(error) => {
                    let advice = format!("use --format {found}");
                    assert!(error.to_string().ends_with(&advice), "{error}");
                }
            }
        }
    }
    let error = load(&fixture("musique.jsonl"), Format::Hotpotqa, None).unwrap_err().to_string();
    assert!(error.contains("looks like a MuSiQue file, not like HotpotQA"), "{error}");
}

#[test]
fn a_file_that_is_no_data_set_is_an_error_with_its_name() {
    let error = |text: &str| load_text(text, Format::Hotpotqa).unwrap_err().to_string();
    for (text, wanted) in [
        ("", "holds no record"),
        ("[]", "holds no record"),
        ("[{\"_id\": \"x\",\n \"ques", "some.json:2:6: the JSON list is broken: EOF"),
        ("[{\"text\": \"x\"}]", "no record has `context`"),
        ("plain words", "record 1 (line 1): no JSON at column 1"),
        ("[{\"context\": 7}]", "record 1 (line 1): "),
    ] {
        let error = error(text);
        assert!(error.contains("some.json") && error.contains(wanted), "{text}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("latin.json");
    std::fs::write(&path, b"[\"caf\xe9\"]").unwrap();
    let error = load(&path, Format::Musique, None).unwrap_err();
    assert!(matches!(error, DataError::NotText { byte: 5, .. }), "{error}");
    let error = load(folder.path(), Format::Musique, None).unwrap_err();
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
}

#[test]
fn names_are_those_of_the_command_line() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
        assert_eq!(serde_json::to_value(format).unwrap(), format.name());
    }
    assert!("hotpot".parse::<Format>().unwrap_err().contains("use hotpotqa, 2wiki or musique"));
}

/// The published files, where they are at hand; the fixtures cover the same paths otherwise.
#[test]
fn the_published_files_load_whole() {
    let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    for (file, format, count) in [
        ("hotpotqa_dev.json", Format::Hotpotqa, 289),
        ("hotpotqa_train.json", Format::Hotpotqa, 100),
        ("2wiki_dev.json", Format::TwoWiki, 82),
        ("2wiki_train.json", Format::TwoWiki, 500),
        ("musique_ans_dev.jsonl", Format::Musique, 229),
        ("musique_train100.json", Format::Musique, 100),
    ] {
        let path = shared.join(file);
        if !path.exists() {
            continue;
        }
        let data = load(&path, format, None).unwrap();
        assert_eq!((data.items.len(), &data.refused[..]), (count, &[][..]), "{file}");
        for item in &data.items {
            let id = &item.question.id;
            assert!(item.gold.len() >= 2, "{file}: {id} has {} gold passages", item.gold.len());
            assert!(item.gold.iter().all(|passage| !passage.text.is_empty()), "{file}: {id}");
            assert!(item.kind.is_some(), "{file}: {id}");
        }
    }
}
