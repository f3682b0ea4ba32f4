//! Files that some data sets keep beside their questions: passages, and aliases of answers. They
//! are used where they lie in the same folder; without them the questions load all the same.
use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::{DataError, Format, Passage, records};

/// What lies beside a data file.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// By the id under which the questions name them.
    pub(super) passages: HashMap<String, Passage>,
    /// Further names of an answer, by the answer's id.
    pub(super) aliases: HashMap<String, Vec<String>>,
}

impl Beside {
    pub(super) fn of(data: &Path, format: Format) -> Result<Self, DataError> {
        let Some(name) = format.entry().beside else { return Ok(Self::default()) };
        let file = data.with_file_name(name);
        if !file.is_file() {
            return Ok(Self::default());
        }
        let read = match format {
            Format::TwoWiki => aliases(&file),
            Format::Scifact => abstracts(&file),
            Format::Strategyqa => paragraphs(&file),
            _ => return Ok(Self::default()),
        };
        read?.map_err(|reason| DataError::Beside { file, data: data.into(), reason })
    }
}

type Read = Result<Result<Beside, String>, DataError>;

/// One line for each entity of Wikidata.
#[derive(Deserialize)]
struct Entity {
    #[serde(rename = "Q_id")]
    id: String,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    demonyms: Vec<String>,
}

fn aliases(file: &Path) -> Read {
    let entities = match lines::<Entity>(file)? {
        Ok(entities) => entities,
        Err(reason) => return Ok(Err(reason)),
    };
    let named = |entity: Entity| (entity.id, [entity.aliases, entity.demonyms].concat());
    Ok(Ok(Beside { aliases: entities.into_iter().map(named).collect(), ..Beside::default() }))
}

/// An abstract of `SciFact`'s corpus, sentence by sentence.
#[derive(Deserialize)]
struct Abstract {
    doc_id: u64,
    title: String,
    #[serde(rename = "abstract")]
    sentences: Vec<String>,
}

fn abstracts(file: &Path) -> Read {
    let abstracts = match lines::<Abstract>(file)? {
        Ok(abstracts) => abstracts,
        Err(reason) => return Ok(Err(reason)),
    };
    let passage = |one: Abstract| {
        let text = one.sentences.iter().map(|s| s.trim()).collect::<Vec<_>>().join(" ");
        (one.doc_id.to_string(), Passage::plain(one.title, text))
    };
    Ok(Ok(Beside { passages: abstracts.into_iter().map(passage).collect(), ..Beside::default() }))
}

/// A paragraph of `StrategyQA`'s Wikipedia.
#[derive(Deserialize)]
struct Paragraph {
    title: String,
    content: String,
}

fn paragraphs(file: &Path) -> Read {
    let text = records::read(file)?;
    let paragraphs: Result<HashMap<String, Paragraph>, _> = serde_json::from_str(&text);
    let passage = |(id, one): (String, Paragraph)| (id, Passage::plain(one.title, one.content));
    Ok(match paragraphs {
        Ok(paragraphs) => {
            let passages = paragraphs.into_iter().map(passage).collect();
            Ok(Beside { passages, ..Beside::default() })
        }
        Err(error) => Err(error.to_string()),
    })
}

/// Every line of a file, or what is wrong with the first that does not fit.
fn lines<T: for<'de> Deserialize<'de>>(file: &Path) -> Result<Result<Vec<T>, String>, DataError> {
    let mut all = vec![];
    for cut in records::open(file, false)? {
        let raw = match cut? {
            Ok(raw) => raw,
            Err(refused) => return Ok(Err(format!("line {}: {}", refused.line, refused.reason))),
        };
        match serde_json::from_str(&raw.json) {
            Ok(one) => all.push(one),
            Err(error) => {
                return Ok(Err(format!("line {}: {}", raw.line, records::said(&error))));
            }
        }
    }
    Ok(Ok(all))
}
