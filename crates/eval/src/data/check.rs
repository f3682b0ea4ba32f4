//! Looking at a downloaded file before it is used: which set it is, what can be used of it, and
//! whether it is the published one.
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::entry::PublishedFile;
use super::load::{formats_of_file, keys_of};
use super::{DataError, DataSet, Format, RefusedRecord, load, records};
use crate::figures::counted;

/// What was found in a data file.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    pub file: PathBuf,
    pub bytes: u64,
    /// Of the whole file, in hexadecimal digits.
    pub sha256: String,
    pub format: Format,
    /// Records in the file; those of them that are questions are `usable`.
    pub records: usize,
    pub usable: usize,
    pub refused: Vec<RefusedRecord>,
    /// The keys of the records, the commonest first.
    pub keys: Vec<KeyCount>,
    /// Questions of each kind.
    pub kinds: BTreeMap<String, usize>,
    /// Questions with gold passages, and passages to be pooled.
    pub with_gold: usize,
    pub passages: usize,
    pub unanswerable: usize,
    /// The published file with this hash.
    pub same_as: Option<&'static str>,
    /// A published file of this name or this count, which is not it by its hash or has none known.
    pub like: Option<&'static str>,
}

/// How many records have a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyCount {
    pub key: String,
    pub records: usize,
}

/// Reads a whole file as the format, or as the one that its keys tell; where several share their
/// keys (`LawBench`'s tasks), as the one that can use the most of it.
pub fn check(path: &Path, format: Option<Format>) -> Result<Checked, DataError> {
    let (sha256, bytes) = hash(path)?;
    let data = match format {
        Some(format) => load(path, format, None)?,
        None => likeliest(path)?,
    };
    let entry = data.format.entry();
    let records = data.items.len() + data.refused.len();
    let same = entry.files.iter().find(|split| split.sha256.as_deref() == Some(&sha256));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let like = |split: &&PublishedFile| split.file == name || split.records == records;
    let kinds = counted(data.items.iter().filter_map(|item| item.kind.clone()));
    Ok(Checked {
        file: path.into(),
        bytes,
        format: data.format,
        records,
        usable: data.items.len(),
        keys: keys(path, entry.table)?,
        kinds,
        with_gold: data.items.iter().filter(|item| !item.gold.is_empty()).count(),
        passages: data.pool().len(),
        unanswerable: data.items.iter().filter(|item| !item.answerable).count(),
        refused: data.refused,
        same_as: same.map(|split| split.file.as_str()),
        like: entry
            .files
            .iter()
            .find(like)
            .filter(|_| same.is_none())
            .map(|split| split.file.as_str()),
        sha256,
    })
}

/// The format of a file, told by the keys of its records as in [`check`].
pub fn recognise(path: &Path) -> Result<Format, DataError> {
    Ok(likeliest(path)?.format)
}

fn likeliest(path: &Path) -> Result<DataSet, DataError> {
    let (formats, keys) = formats_of_file(path)?;
    let mut best: Option<DataSet> = None;
    let mut failed = None;
    for format in formats {
        match load(path, format, None) {
            Ok(data) => {
                let better = |best: &DataSet| rank(&data, path) > rank(best, path);
                if best.as_ref().is_none_or(better) {
                    best = Some(data);
                }
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let none = || failed.unwrap_or(DataError::NoFormat { file: path.into(), keys });
    best.ok_or_else(none)
}

/// The more can be used the better; of equals the one that the file's name names. Any file
/// with questions and answers can be read as the user's own, so that is the last choice.
fn rank(data: &DataSet, path: &Path) -> (bool, usize, bool) {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().replace('_', "-");
    let (usable, name) = (data.items.len(), data.format.name());
    let plausible = data.format != Format::USER && usable >= data.refused.len();
    (plausible, usable, name.ends_with(&stem) || stem.ends_with(name))
}

fn keys(path: &Path, table: bool) -> Result<Vec<KeyCount>, DataError> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for cut in records::open(path, table)? {
        let Ok(raw) = cut? else { continue };
        for key in keys_of(&raw).into_iter().flatten() {
            *counts.entry(key).or_default() += 1;
        }
    }
    let count = |(key, records)| KeyCount { key, records };
    let mut counts: Vec<KeyCount> = counts.into_iter().map(count).collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.records));
    Ok(counts)
}

fn hash(path: &Path) -> Result<(String, u64), DataError> {
    let unreadable = |source| DataError::Unreadable { file: path.into(), source };
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut hasher = Sha256::new();
    let mut bytes = 0;
    let mut block = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut block).map_err(unreadable)?;
        if read == 0 {
            break;
        }
        bytes += read as u64;
        hasher.update(&block[..read]);
    }
    Ok((hex::encode(hasher.finalize()), bytes))
}

impl Checked {
    /// For the terminal, a line for each thing that is known.
    pub fn lines(&self) -> Vec<String> {
        let Self { records, usable, sha256, bytes, .. } = self;
        let title = self.format.title();
        let mut lines = vec![
            format!("{}: {title} (--format {})", self.file.display(), self.format),
            format!("records: {records}, usable: {usable}, refused: {}", self.refused.len()),
            format!("{bytes} bytes, sha256 {sha256}: {}", self.identity()),
        ];
        let all: Vec<&str> =
            self.keys.iter().filter(|k| k.records == *records).map(|k| k.key.as_str()).collect();
        lines.push(format!("keys of every record: {}", all.join(", ")));
        for key in self.keys.iter().filter(|key| key.records < *records) {
            lines.push(format!("key of some: {} (records: {})", key.key, key.records));
        }
        let kinds: Vec<String> =
            self.kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        if !kinds.is_empty() {
            lines.push(format!("kinds: {}", kinds.join(", ")));
        }
        let (gold, passages, without) = (self.with_gold, self.passages, self.unanswerable);
        lines.push(format!(
            "questions with gold passages: {gold}; passages in the file: {passages}"
        ));
        if without > 0 {
            lines.push(format!("questions that are not answerable: {without}"));
        }
        for refused in self.refused.iter().take(10) {
            let (record, line, reason) = (refused.record, refused.line, &refused.reason);
            lines.push(format!("record {record} (line {line}) refused: {reason}"));
        }
        lines
    }

    fn identity(&self) -> String {
        let published = |name: &str| {
            let file = self.format.entry().files.iter().find(|file| file.file == name);
            file.map(|file| (file.records, file.sha256.is_some()))
        };
        match (self.same_as, self.like) {
            (Some(name), _) => format!("the published `{name}`"),
            (None, Some(name)) => match published(name) {
                Some((count, _)) if count != self.records => {
                    format!("not the whole `{name}`, which has {count} records")
                }
                Some((_, true)) => format!("as many records as `{name}`, and other bytes"),
                _ => format!("as many records as `{name}`, whose hash we do not know"),
            },
            (None, None) => "no published file that we know of".to_owned(),
        }
    }
}
