//! Why a data file cannot be used as a whole.
use std::path::PathBuf;

use super::format::Format;
use super::item::RefusedRecord;

#[derive(Debug, thiserror::Error)]
pub enum DataError {
    #[error("{}: the data file cannot be read: {source}; check the path", file.display())]
    Unreadable { file: PathBuf, source: std::io::Error },
    #[error(
        "{}: the data file is packed ({kind}); unpack it and give the file itself, {command}",
        file.display()
    )]
    Packed { file: PathBuf, kind: &'static str, command: &'static str },
    #[error(
        "{}: the data file is not UTF-8 text (byte {byte}); give the JSON file itself, unpacked",
        file.display()
    )]
    NotText { file: PathBuf, byte: usize },
    #[error("{}: the passages cannot be written: {source}; check the folder", folder.display())]
    Unwritable { folder: PathBuf, source: std::io::Error },
    #[error("{}: the data file holds no record; fetch it again", file.display())]
    Empty { file: PathBuf },
    #[error(
        "{}:{line}:{column}: the JSON list is broken: {reason}; \
         if the file was cut short, fetch it again",
        file.display()
    )]
    Broken { file: PathBuf, line: usize, column: usize, reason: String },
    #[error(
        "{}: this looks like the format `{recognised}`, not like `{expected}`; use --format {recognised}",
        file.display()
    )]
    WrongFormat { file: PathBuf, expected: Format, recognised: Format },
    #[error(
        "{}: no record has the keys of a {} file ({}); give the file as its authors publish it, \
         `halma data` says where it is",
        file.display(), expected.title(), expected.entry().shape_in_words()
    )]
    UnknownShape { file: PathBuf, expected: Format },
    #[error(
        "{}:{line}: no record can be read: {reason}; write each question as a line of JSON with \
         `question` and `answers`",
        file.display()
    )]
    NotJson { file: PathBuf, line: usize, reason: String },
    #[error(
        "{}: no format has the keys of this file's records ({keys}); \
         write your own questions as lines of JSON with `question` and `answers`",
        file.display()
    )]
    NoFormat { file: PathBuf, keys: String },
    #[error("{}:{line}: record {record}: {reason}", file.display())]
    WrongFile { file: PathBuf, record: usize, line: usize, reason: String },
    #[error(
        "{}: the companion file of {} cannot be used: {reason}; fetch it again or move it away",
        file.display(), data.display()
    )]
    Companion { file: PathBuf, data: PathBuf, reason: String },
    #[error("no question has a property `{key}`; there are {keys}")]
    NoProperty { key: String, keys: String },
    #[error("{}: no ids are in it; write one a line, or JSON records with `id`", file.display())]
    NoIds { file: PathBuf },
    #[error(
        "{}: {missing} of its ids are not in the data file, `{id}` for example; \
         is it the ids of another data set or split?",
        file.display()
    )]
    UnknownIds { file: PathBuf, missing: usize, id: String },
    #[error("no question is selected by {selection}")]
    NothingSelected { selection: String },
    #[error(
        "{}: no record can be used as {}; record {} (line {}): {}",
        file.display(), format.title(), first.record, first.line, first.reason
    )]
    NothingUsable { file: PathBuf, format: Format, first: RefusedRecord },
}
