//! Data sets: questions with gold answers and gold passages, read from the official files.
mod contexts;
mod error;
mod musique;
mod records;

use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;

use halma_core::{AnswerKind, Question};
use serde::{Deserialize, Serialize};

pub use error::DataError;
use records::RawRecord;

/// An official file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Format {
    /// `HotpotQA`: a JSON list with `context` and `supporting_facts`.
    #[serde(rename = "hotpotqa")]
    Hotpotqa,
    /// `2WikiMultiHopQA`: `HotpotQA`'s shape with `evidences`.
    #[serde(rename = "2wiki")]
    TwoWiki,
    /// `MuSiQue`: lines with `paragraphs` that say whether they are supporting.
    #[serde(rename = "musique")]
    Musique,
}

impl Format {
    pub const ALL: [Self; 3] = [Self::Hotpotqa, Self::TwoWiki, Self::Musique];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hotpotqa => "hotpotqa",
            Self::TwoWiki => "2wiki",
            Self::Musique => "musique",
        }
    }

    /// The name its authors gave it.
    fn title(self) -> &'static str {
        match self {
            Self::Hotpotqa => "HotpotQA",
            Self::TwoWiki => "2WikiMultiHopQA",
            Self::Musique => "MuSiQue",
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|format| format.name() == name);
        known.ok_or_else(|| format!("`{name}` is no format; use hotpotqa, 2wiki or musique"))
    }
}

/// The questions of one file, and the records of it that could not be used.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// The file's name without its ending.
    pub name: String,
    pub format: Format,
    pub items: Vec<Item>,
    pub refused: Vec<RefusedRecord>,
}

/// One question with what a perfect run would give.
#[derive(Debug, Clone)]
pub struct Item {
    pub question: Question,
    /// Never empty: the main answer, then its aliases.
    pub answers: Vec<String>,
    /// The passages the answer rests on, as the data set's authors marked them.
    pub gold: Vec<GoldPassage>,
    /// `bridge`, `comparison`, …; for `MuSiQue` the number of hops, `2hop`.
    pub kind: Option<String>,
}

/// A record that was left out, and why. Both numbers count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedRecord {
    pub record: usize,
    /// The line of the file at which it begins.
    pub line: usize,
    pub reason: String,
}

/// A passage that supports the answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GoldPassage {
    pub title: String,
    /// Empty where the file names the passage and does not hold it (`HotpotQA`'s full-wiki
    /// setting): then the title alone decides.
    pub text: String,
}

impl GoldPassage {
    /// Whether a hit or a citation lies in this passage: the titles are equal and the hit's text
    /// is a part of the passage's. White space does not count at all, because pools join a
    /// passage's sentences in different ways.
    pub fn matches(&self, title: &str, text: &str) -> bool {
        let text = squeezed(text);
        squeezed(title) == squeezed(&self.title)
            && !text.is_empty()
            && (self.text.is_empty() || squeezed(&self.text).contains(&text))
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Reads a file in its official form, as a JSON list or as JSON lines; at most `limit` questions.
///
/// A malformed record is left out and named in [`DataSet::refused`]; a file that cannot be read at
/// all or that is of another format is an error.
pub fn load(path: &Path, format: Format, limit: Option<usize>) -> Result<DataSet, DataError> {
    let text = records::read(path)?;
    let (records, mut refused) = records::split(path, &text)?;
    records::require_format(path, format, &records)?;
    let mut items = vec![];
    let mut seen = HashMap::new();
    for raw in &records {
        if limit.is_some_and(|limit| items.len() >= limit) {
            // What was refused behind the last question was not asked for.
            refused.retain(|refused| refused.record < raw.record);
            break;
        }
        match item(format, raw).and_then(|item| once(&mut seen, raw.record, item)) {
            Ok(item) => items.push(item),
            Err(reason) => {
                refused.push(RefusedRecord { record: raw.record, line: raw.line, reason });
            }
        }
    }
    refused.sort_by_key(|refused| refused.record);
    if items.is_empty() && !refused.is_empty() {
        let first = refused.swap_remove(0);
        return Err(DataError::NothingUsable { file: path.into(), format, first });
    }
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok(DataSet { name, format, items, refused })
}

fn item(format: Format, raw: &RawRecord) -> Result<Item, String> {
    let item = match format {
        Format::Hotpotqa | Format::TwoWiki => contexts::item(raw.json)?,
        Format::Musique => musique::item(raw.json)?,
    };
    if item.question.id.trim().is_empty() {
        return Err("the id is empty".into());
    }
    if item.question.text.trim().is_empty() {
        return Err("the question is empty".into());
    }
    if item.answers[0].trim().is_empty() {
        return Err("the answer is empty".into());
    }
    Ok(item)
}

/// Ids are the keys of a resumed run, so a repeated one cannot be told from the first.
fn once(seen: &mut HashMap<String, usize>, record: usize, item: Item) -> Result<Item, String> {
    match seen.insert(item.question.id.clone(), record) {
        None => Ok(item),
        Some(first) => Err(format!("its id `{}` is that of record {first}", item.question.id)),
    }
}

fn question(id: String, text: String) -> Question {
    Question { id, text, options: vec![], answer_kind: AnswerKind::Short }
}

#[cfg(test)]
mod tests;
