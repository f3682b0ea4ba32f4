//! How long it takes to resolve one more document, in processor time. The passages are those of
//! published question sets in the folder that the environment variable `HALMA_DATA` names, with the
//! names that a rule finds in them.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

use halma_core::text::{NameKind, names, sentences};
use serde_json::Value;

use super::library::{Content, Library, mention};
use crate::extract::resolution::{Resolution, Scope, Unanswered};
use crate::store::hash;
use crate::terms::form;

const FILES: [&str; 6] = [
    "hotpotqa_dev.json",
    "hotpotqa_train.json",
    "2wiki_train.json",
    "2wiki_dev.json",
    "musique_train100.json",
    "musique_ans_dev.jsonl",
];

/// Mentions of a passage at most.
const MENTIONS: usize = 10;

/// Names of more passages stay the same where passages are repeated with other names.
const SHARED: usize = 20;

/// Documents that are added one by one.
const ADDED: usize = 30;

/// Every passage with its title.
fn passages() -> Vec<(String, String)> {
    let folder = std::env::var_os("HALMA_DATA").expect("HALMA_DATA names the folder of test data");
    let mut passages = BTreeSet::new();
    for file in FILES {
        let text = std::fs::read_to_string(Path::new(&folder).join(file)).unwrap();
        for value in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
            collect(&value.unwrap(), &mut passages);
        }
    }
    let mut passages: Vec<(String, String)> = passages.into_iter().collect();
    // In no order that says anything.
    passages.sort_by_key(|(title, text)| hash(&[title.as_bytes(), text.as_bytes()]));
    passages
}

fn collect(value: &Value, passages: &mut BTreeSet<(String, String)>) {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match value {
        Value::Object(map) => match (map.get("title"), map.get("paragraph_text")) {
            (Some(title), Some(paragraph)) => passages.extend(text(title).zip(text(paragraph))),
            _ => map.values().for_each(|value| collect(value, passages)),
        },
        Value::Array(list) => match list.as_slice() {
            [Value::String(title), Value::Array(said)] if said.iter().all(Value::is_string) => {
                let said: Vec<String> = said.iter().filter_map(text).collect();
                passages.insert((title.clone(), said.join(" ")));
            }
            _ => list.iter().for_each(|value| collect(value, passages)),
        },
        _ => {}
    }
}

/// The names in a passage, each described by the sentence in which it stands.
fn mentions((title, text): &(String, String)) -> Vec<(String, String)> {
    let mut mentions: BTreeMap<String, (String, String)> = BTreeMap::new();
    let first = sentences(text).first().map_or("", |range| &text[range.clone()]);
    mentions.insert(form(title), (title.clone(), first.to_owned()));
    for name in names(text) {
        let is_name = !matches!(name.kind, NameKind::Value(_)) && name.range.len() < 60;
        let key = form(&text[name.range.clone()]);
        if is_name && !key.is_empty() && mentions.len() < MENTIONS {
            let around = sentences(text).into_iter().find(|s| s.contains(&name.range.start));
            let said = around.map_or("", |range| &text[range]).to_owned();
            mentions.entry(key).or_insert((text[name.range].to_owned(), said));
        }
    }
    mentions.into_values().collect()
}

/// A document of these mentions; all but the first round of passages have other names.
fn content(
    mentions: &[(String, String)],
    round: usize,
    shared: &HashMap<String, usize>,
) -> Content {
    let kinds = ["person", "place", "organisation", "film"];
    let mention = |(name, said): &(String, String)| {
        let key = form(name);
        let kind = kinds[usize::try_from(hash(&[key.as_bytes()]) % 4).unwrap()];
        let syllable = ["", "bo", "ka", "ri", "mu", "te", "lo", "vi", "za", "ne"][round];
        if round == 0 || shared.get(&key).is_some_and(|count| *count >= SHARED) {
            return mention(name, kind, said);
        }
        let other: Vec<String> = name.split(' ').map(|word| format!("{word}{syllable}")).collect();
        mention(&other.join(" "), kind, said)
    };
    vec![mentions.iter().map(mention).collect()]
}

/// Processor time of this thread.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

fn resolve(library: &Library) -> (Duration, usize, bool) {
    let began = processor_time();
    let resolution = Resolution::load(&library.base).unwrap().unwrap();
    resolution.write(&library.base, Unanswered::Wait).unwrap();
    let everything = matches!(resolution.scope, Scope::Everything);
    (processor_time().saturating_sub(began), resolution.read, everything)
}

#[test]
#[ignore = "needs HALMA_DATA: the question sets, and prints a measurement; `make soak` runs it"]
#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn measure_one_more_document() {
    let mut all: Vec<Vec<(String, String)>> = passages().iter().map(mentions).collect();
    let added = all.split_off(all.len() - ADDED);
    let mut counts = HashMap::new();
    for (name, _) in all.iter().flatten() {
        *counts.entry(form(name)).or_default() += 1;
    }
    let limit: usize =
        std::env::var("HALMA_PASSAGES").map_or(10_000, |limit| limit.parse().unwrap());
    for passages in [1_000, 10_000, 100_000].into_iter().filter(|count| *count <= limit) {
        let library = Library::new();
        let documents: Vec<(String, Content)> = (0..passages)
            .map(|at| (format!("d{at}"), content(&all[at % all.len()], at / all.len(), &counts)))
            .collect();
        library.fill(&documents);
        println!("{passages} passages, all at once: {:?}", resolve(&library).0);
        let mut took = vec![];
        for (at, mentions) in added.iter().enumerate() {
            library.fill(&[(format!("new{at}"), content(mentions, 0, &counts))]);
            took.push(resolve(&library));
        }
        took.sort();
        println!("one more, by time: {took:?}");
        library.fill(&[("last".to_owned(), content(&added[0][..1], 0, &counts))]);
        library.base.store.write(|writer| writer.touch_everything()).unwrap();
        println!("one more, everything resolved: {:?}", resolve(&library).0);
    }
}
