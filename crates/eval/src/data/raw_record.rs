//! A record of a data file, and what may be wrong with it.
use serde::de::DeserializeOwned;

/// One record's JSON and where it stands; both numbers count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawRecord {
    pub(super) record: usize,
    pub(super) line: usize,
    pub(super) json: String,
}

/// Why a record is not a question.
#[derive(Debug)]
pub(super) enum Fault {
    /// This record is malformed; the others may be whole.
    Record(String),
    /// It shows that the whole file is not what it seems to be.
    File(String),
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self::Record(reason)
    }
}

/// The record in the shape of `T`, or what the parser misses in it.
pub(super) fn parse<T: DeserializeOwned>(raw: &RawRecord) -> Result<T, Fault> {
    serde_json::from_str(&raw.json).map_err(|error| Fault::Record(parser_message(&error)))
}

/// The message of the parser, without its own line and column: they count within the record.
pub(super) fn parser_message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.rsplit_once(" at line ").map_or(message.clone(), |(reason, _)| reason.to_owned())
}
