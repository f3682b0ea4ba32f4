//! Reading a whole file: record by record, what is malformed left out and named.
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::records::{self, Cut, RawRecord, Records};
use super::{Beside, DATA_SETS, DataError, DataSet, Format, Item, RefusedRecord};

/// Why a record is no question.
#[derive(Debug)]
pub(super) enum Fault {
    /// This record is malformed; the others may be whole.
    Record(String),
    /// It shows that the whole file is another one than it seems.
    File(String),
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self::Record(reason)
    }
}

/// Makes an item of one record.
pub(super) type ReadItem = fn(&RawRecord, &Beside) -> Result<Item, Fault>;

/// The record in the shape of `T`, or what the parser misses in it.
pub(super) fn parse<T: DeserializeOwned>(raw: &RawRecord) -> Result<T, Fault> {
    serde_json::from_str(&raw.json).map_err(|error| Fault::Record(records::said(&error)))
}

/// Reads a file in its official form; at most `limit` questions, the first ones.
///
/// A malformed record is left out and named in [`DataSet::refused`]; a file that cannot be read at
/// all or that is of another format is an error. Files that the set keeps beside its questions
/// (passages, aliases) are read where they lie in the same folder.
pub fn load(path: &Path, format: Format, limit: Option<usize>) -> Result<DataSet, DataError> {
    let entry = format.entry();
    let cuts = require_format(path, format, records::open(path, entry.table)?)?;
    let beside = Beside::of(path, format)?;
    let mut reader = Reader { path, entry: entry.read, beside, seen: HashMap::new() };
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
    Ok(DataSet { name, format, items, refused })
}

struct Reader<'a> {
    path: &'a Path,
    entry: ReadItem,
    beside: Beside,
    /// The record of each id.
    seen: HashMap<String, usize>,
}

impl Reader<'_> {
    fn item(&mut self, raw: &RawRecord) -> Result<Result<Item, RefusedRecord>, DataError> {
        let read = (self.entry)(raw, &self.beside);
        let reason = match read.and_then(|item| Ok(self.once(raw.record, whole(item)?)?)) {
            Ok(item) => return Ok(Ok(item)),
            Err(Fault::Record(reason)) => reason,
            Err(Fault::File(reason)) => {
                let (file, record, line) = (self.path.into(), raw.record, raw.line);
                return Err(DataError::WrongFile { file, record, line, reason });
            }
        };
        Ok(Err(RefusedRecord { record: raw.record, line: raw.line, reason }))
    }

    /// Ids are the keys of a resumed run, so a repeated one cannot be told from the first.
    fn once(&mut self, record: usize, item: Item) -> Result<Item, String> {
        match self.seen.insert(item.question.id.clone(), record) {
            None => Ok(item),
            Some(first) => {
                let id = &item.question.id;
                Err(format!("its id `{id}` is that of record {first}; give each its own"))
            }
        }
    }
}

fn whole(item: Item) -> Result<Item, String> {
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

/// How many records are looked at to tell what the file is.
const LOOKED_AT: usize = 100;

/// Refuses a file of another format by its first record of a known shape. Gives the records back,
/// those that were looked at included.
fn require_format(
    path: &Path,
    wanted: Format,
    records: Records,
) -> Result<impl Iterator<Item = Result<Cut, DataError>>, DataError> {
    let (first, rest) = looked_at(path, records)?;
    let keys: Vec<BTreeSet<String>> = first.iter().flatten().filter_map(keys_of).collect();
    let known = keys.iter().map(formats_of).find(|formats| !formats.is_empty());
    match known {
        // No line is JSON: `load` names the first one.
        _ if keys.is_empty() && first.iter().all(Result::is_err) => {}
        // Whatever has a question and answers can be read as one's own.
        _ if keys.iter().any(|keys| wanted == Format::Own && wanted.entry().fits(keys)) => {}
        None => return Err(DataError::UnknownShape { file: path.into(), wanted }),
        Some(formats) if formats.contains(&wanted) => {}
        Some(formats) => {
            return Err(DataError::WrongFormat { file: path.into(), wanted, found: formats[0] });
        }
    }
    Ok(first.into_iter().map(Ok).chain(rest))
}

/// The formats that a file's records look like, likeliest first, and the keys of the first record.
pub(super) fn formats_of_file(path: &Path) -> Result<(Vec<Format>, String), DataError> {
    let table = path.extension().is_some_and(|ending| ending == "tsv");
    let (first, _) = looked_at(path, records::open(path, table)?)?;
    let keys: Vec<BTreeSet<String>> = first.iter().flatten().filter_map(keys_of).collect();
    let known = keys.iter().map(formats_of).find(|formats| !formats.is_empty());
    let shown = keys.first().map(|keys| keys.iter().cloned().collect::<Vec<_>>().join(", "));
    Ok((known.unwrap_or_default(), shown.unwrap_or_default()))
}

fn looked_at(path: &Path, mut records: Records) -> Result<(Vec<Cut>, Records), DataError> {
    let first: Vec<Cut> = records.by_ref().take(LOOKED_AT).collect::<Result<_, _>>()?;
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
    let fitting = || DATA_SETS.iter().filter(|entry| entry.fits(keys));
    let most = fitting().map(|entry| entry.keys.len()).max();
    fitting().filter(|e| Some(e.keys.len()) == most).map(|entry| entry.format).collect()
}
