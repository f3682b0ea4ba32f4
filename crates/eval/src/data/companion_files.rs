//! Reading companion files, where they lie in the same folder as the questions; without them the
//! questions load anyway.
use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::companion::{CompanionContent, CompanionFiles};
use super::entry::DataSetEntry;
use super::error::DataError;
use super::item::Passage;
use super::raw_record::parser_message;
use super::records;

impl CompanionFiles {
    pub(super) fn read(data: &Path, entry: &DataSetEntry) -> Result<Self, DataError> {
        let Some(companion) = &entry.companion else { return Ok(Self::default()) };
        let file = data.with_file_name(&companion.file);
        if !file.is_file() {
            return Ok(Self::default());
        }
        let read = match companion.holds {
            CompanionContent::Aliases => aliases(&file),
            CompanionContent::Abstracts => abstracts(&file),
            CompanionContent::Paragraphs => paragraphs(&file),
        };
        read?.map_err(|reason| DataError::Companion { file, data: data.into(), reason })
    }
}

type Read = Result<Result<CompanionFiles, String>, DataError>;

/// One line for each entity of Wikidata.
#[derive(Deserialize)]
struct WikiEntity {
    #[serde(rename = "Q_id")]
    id: String,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    demonyms: Vec<String>,
}

fn aliases(file: &Path) -> Read {
    let entities = match lines::<WikiEntity>(file)? {
        Ok(entities) => entities,
        Err(reason) => return Ok(Err(reason)),
    };
    let named = |entity: WikiEntity| (entity.id, [entity.aliases, entity.demonyms].concat());
    Ok(Ok(CompanionFiles {
        aliases: entities.into_iter().map(named).collect(),
        ..CompanionFiles::default()
    }))
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
    Ok(Ok(CompanionFiles {
        passages: abstracts.into_iter().map(passage).collect(),
        ..CompanionFiles::default()
    }))
}

/// A paragraph of `StrategyQA`'s Wikipedia.
#[derive(Deserialize)]
struct CompanionParagraph {
    title: String,
    content: String,
}

fn paragraphs(file: &Path) -> Read {
    let text = records::read(file)?;
    let paragraphs: Result<HashMap<String, CompanionParagraph>, _> = serde_json::from_str(&text);
    let passage =
        |(id, one): (String, CompanionParagraph)| (id, Passage::plain(one.title, one.content));
    Ok(match paragraphs {
        Ok(paragraphs) => {
            let passages = paragraphs.into_iter().map(passage).collect();
            Ok(CompanionFiles { passages, ..CompanionFiles::default() })
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
                return Ok(Err(format!("line {}: {}", raw.line, parser_message(&error))));
            }
        }
    }
    Ok(Ok(all))
}
