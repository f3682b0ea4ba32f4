//! Reading a whole file: record by record, what is malformed left out and named.
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde_json::Value;

use super::companion::CompanionFiles;
use super::data_set::DataSet;
use super::entry::{DataSetEntry, entries};
use super::error::DataError;
use super::format::Format;
use super::item::{Item, RefusedRecord};
use super::raw_record::{Fault, RawRecord};
use super::readers::ReadItem;
use super::records::{self, Cut, Records};

/// Reads a file in its official form; at most `limit` questions, the first ones.
///
/// A malformed record is left out and named in [`DataSet::refused`]; a file that cannot be read at
/// all or that is of another format is an error. Companion files of the set (passages, aliases) are
/// read where they lie in the same folder.
pub fn load(path: &Path, format: Format, limit: Option<usize>) -> Result<DataSet, DataError> {
    let entry = format.entry();
    let cuts = require_format(path, format, records::open(path, entry.table)?)?;
    let companion = CompanionFiles::read(path, entry)?;
    let mut reader =
        RecordReader { path, read: entry.reader(), companion, records: HashMap::new() };
    let (mut items, mut refused) = (vec![], vec![]);
    for cut in cuts {
        if limit.is_some_and(|limit| items.len() >= limit) {
            break;
        }
        match cut?.map_or_else(|refused| Ok(Err(refused)), |raw| reader.item(&raw))? {
            Ok(item) => items.push(item),
            Err(record) => refused.push(record),
        }
    }
    if items.is_empty() && !refused.is_empty() {
        let first = refused.swap_remove(0);
        return Err(DataError::NothingUsable { file: path.into(), format, first });
    }
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok(DataSet { name, format, metric: entry.metric, items, refused })
}

struct RecordReader<'a> {
    path: &'a Path,
    read: ReadItem<'a>,
    companion: CompanionFiles,
    /// The record of each id, with its question.
    records: HashMap<String, (usize, String)>,
}

impl RecordReader<'_> {
    fn item(&mut self, raw: &RawRecord) -> Result<Result<Item, RefusedRecord>, DataError> {
        let read = self.read.item(raw, &self.companion);
        let reason = match read.and_then(|item| Ok(self.unique(raw.record, checked(item)?)?)) {
            Ok(item) => return Ok(Ok(item)),
            Err(Fault::Record(reason)) => reason,
            Err(Fault::File(reason)) => {
                let (file, record, line) = (self.path.into(), raw.record, raw.line);
                return Err(DataError::WrongFile { file, record, line, reason });
            }
        };
        Ok(Err(RefusedRecord { record: raw.record, line: raw.line, reason }))
    }

    /// Ids are the keys of a resumed run, so two records of one id cannot be distinguished.
    fn unique(&mut self, record: usize, item: Item) -> Result<Item, String> {
        let (id, text) = (&item.question.id, &item.question.text);
        match self.records.get(id) {
            None => {
                self.records.insert(id.clone(), (record, text.clone()));
                Ok(item)
            }
            Some((first, same)) if same == text => Err(format!(
                "it is the question of record {first} again; give each its own `id` to ask both"
            )),
            Some((first, _)) => {
                Err(format!("its id `{id}` is that of record {first}; give each its own"))
            }
        }
    }
}

fn checked(item: Item) -> Result<Item, String> {
    if item.question.id.trim().is_empty() {
        return Err("the id is empty".into());
    }
    if item.question.text.trim().is_empty() {
        return Err("the question is empty".into());
    }
    if item.question.options.iter().any(|option| option.trim().is_empty()) {
        return Err("one of its options is empty".into());
    }
    if item.answerable && item.answers.iter().all(|answer| answer.trim().is_empty()) {
        return Err("the answer is empty".into());
    }
    let options = &item.question.options;
    if let Some(stray) = item.answers.iter().find(|a| !options.is_empty() && !options.contains(a)) {
        return Err(format!("the answer `{stray}` is none of its options"));
    }
    Ok(item)
}

/// How many records are read to recognise the format of a file.
const INSPECTED: usize = 100;

/// Refuses a file of another format by its first record of a known shape. Gives the records back,
/// those that were inspected included.
fn require_format(
    path: &Path,
    expected: Format,
    records: Records,
) -> Result<impl Iterator<Item = Result<Cut, DataError>>, DataError> {
    let (first, rest) = first_records(path, records)?;
    let keys: Vec<BTreeSet<String>> = first.iter().flatten().filter_map(keys_of).collect();
    let matching = keys.iter().map(formats_of).find(|formats| !formats.is_empty());
    match matching {
        // No line is JSON: `load` names the first one.
        _ if keys.is_empty() && first.iter().all(Result::is_err) => {}
        // Any file with questions and answers can be read as the user's own.
        _ if keys.iter().any(|keys| expected == Format::USER && expected.entry().fits(keys)) => {}
        None => return Err(DataError::UnknownShape { file: path.into(), expected }),
        Some(formats) if formats.contains(&expected) => {}
        Some(formats) => {
            return Err(DataError::WrongFormat {
                file: path.into(),
                expected,
                recognised: formats[0],
            });
        }
    }
    Ok(first.into_iter().map(Ok).chain(rest))
}

/// The formats that a file's records look like, likeliest first, and the keys of the first record.
pub(super) fn formats_of_file(path: &Path) -> Result<(Vec<Format>, String), DataError> {
    let table = path.extension().is_some_and(|ending| ending == "tsv");
    let (first, _) = first_records(path, records::open(path, table)?)?;
    let keys: Vec<BTreeSet<String>> = first.iter().flatten().filter_map(keys_of).collect();
    // Without keys the cause is named, not that no format has them.
    if let Some(Err(refused)) = first.iter().find(|cut| cut.is_err()).filter(|_| keys.is_empty()) {
        let (line, reason) = (refused.line, refused.reason.clone());
        return Err(DataError::NotJson { file: path.into(), line, reason });
    }
    let matching = keys.iter().map(formats_of).find(|formats| !formats.is_empty());
    let key_list = keys.first().map(|keys| keys.iter().cloned().collect::<Vec<_>>().join(", "));
    Ok((matching.unwrap_or_default(), key_list.unwrap_or_default()))
}

fn first_records(path: &Path, mut records: Records) -> Result<(Vec<Cut>, Records), DataError> {
    let first: Vec<Cut> = records.by_ref().take(INSPECTED).collect::<Result<_, _>>()?;
    if first.is_empty() {
        return Err(DataError::Empty { file: path.into() });
    }
    Ok((first, records))
}

pub(super) fn keys_of(raw: &RawRecord) -> Option<BTreeSet<String>> {
    match serde_json::from_str(&raw.json) {
        Ok(Value::Object(fields)) => Some(fields.into_iter().map(|(key, _)| key).collect()),
        _ => None,
    }
}

/// The formats with the most keys in common with a record, of those whose keys it has all.
fn formats_of(keys: &BTreeSet<String>) -> Vec<Format> {
    let fitting = || entries().iter().filter(|entry| entry.fits(keys));
    let max_keys = fitting().map(|entry| entry.keys.len()).max();
    fitting().filter(|e| Some(e.keys.len()) == max_keys).map(DataSetEntry::format).collect()
}
