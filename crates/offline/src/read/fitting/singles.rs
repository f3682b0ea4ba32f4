//! Questions over one passage that the heads have not seen: those whose passage `train/heads/data.py`
//! holds out. They are worded freely, as questions of several steps seldom are.
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::rules::{Record, list, string};
use crate::input::Passage;

/// Files of the layout of `SQuAD`.
const ARTICLES: [&str; 2] =
    ["training/squadshifts_new_wiki_v1.0.json.gz", "training/xquad.en.json.gz"];
const SEARCHED: &str = "training/nq-open-oracle.jsonl.gz";

/// Other passages of an article, or questions, that stand next to each one.
const OTHERS: usize = 8;

/// Whether a number of the first bytes of the text's hash is in the first 25th.
fn is_held_out(text: &str) -> bool {
    let hash = Sha256::digest(text.as_bytes());
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]) < u32::MAX / 25
}

/// All of them, each with others of the same article or about something else.
pub(super) fn read_singles(data: &Path) -> Vec<Record> {
    let mut records: Vec<Record> = vec![];
    for name in ARTICLES {
        let value: Value = serde_json::from_str(&unpacked(&data.join(name))).unwrap();
        records.extend(list(&value, "data").flat_map(of_article));
    }
    let lines = unpacked(&data.join(SEARCHED));
    let values: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    records.extend(values.windows(OTHERS + 1).filter_map(searched));
    records
}

fn unpacked(file: &Path) -> String {
    let packed = std::fs::File::open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text
}

fn passage(title: &str, text: &str) -> Passage {
    Passage { title: title.to_owned(), text: text.to_owned(), ..Passage::default() }
}

fn of_article(article: &Value) -> Vec<Record> {
    let title = string(&article["title"]).replace('_', " ");
    let texts: Vec<String> = list(article, "paragraphs")
        .map(|paragraph| string(&paragraph["context"]).trim().to_owned())
        .collect();
    let mut records = vec![];
    for (at, paragraph) in list(article, "paragraphs").enumerate() {
        if !is_held_out(&texts[at]) {
            continue;
        }
        let near = (0..texts.len()).skip(at.saturating_sub(OTHERS / 2)).take(OTHERS + 1);
        let passages: Vec<(Passage, bool)> =
            near.map(|other| (passage(&title, &texts[other]), other == at)).collect();
        records.extend(list(paragraph, "qas").map(|entry| Record {
            id: string(&entry["id"]),
            question: string(&entry["question"]),
            answers: list(entry, "answers").map(|answer| string(&answer["text"])).collect(),
            passages: passages.clone(),
        }));
    }
    records
}

/// The first of the questions of a search engine, if it was held out.
fn searched(window: &[Value]) -> Option<Record> {
    let context = |value: &Value| {
        let context = &value["ctxs"][0];
        (string(&context["title"]), string(&context["text"]))
    };
    let (_, text) = context(&window[0]);
    is_held_out(&text).then(|| Record {
        id: string(&window[0]["question"]),
        question: format!("{}?", string(&window[0]["question"])),
        answers: list(&window[0], "answers").map(string).collect(),
        passages: window
            .iter()
            .map(context)
            .enumerate()
            .map(|(at, (title, text))| (passage(&title, &text), at == 0))
            .collect(),
    })
}
