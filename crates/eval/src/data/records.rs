//! Cutting a data file into its records, as a JSON list or as JSON lines.
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{DataError, Format, RefusedRecord};

/// One record's JSON and where it stands; both numbers count from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawRecord<'a> {
    pub(super) record: usize,
    pub(super) line: usize,
    pub(super) json: &'a str,
}

/// The whole file as text, without a byte order mark.
pub(super) fn read(path: &Path) -> Result<String, DataError> {
    let bytes = std::fs::read(path)
        .map_err(|source| DataError::Unreadable { file: path.into(), source })?;
    let text = String::from_utf8(bytes).map_err(|error| DataError::NotText {
        file: path.into(),
        byte: error.utf8_error().valid_up_to(),
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The file's records, and the lines of it that are no JSON.
pub(super) fn split<'a>(
    path: &Path,
    text: &'a str,
) -> Result<(Vec<RawRecord<'a>>, Vec<RefusedRecord>), DataError> {
    let (records, refused) = match text.trim_start().chars().next() {
        Some('[') => (list(path, text)?, vec![]),
        _ => lines(text),
    };
    if records.is_empty() && refused.is_empty() {
        return Err(DataError::Empty { file: path.into() });
    }
    Ok((records, refused))
}

fn list<'a>(path: &Path, text: &'a str) -> Result<Vec<RawRecord<'a>>, DataError> {
    let values: Vec<&'a RawValue> =
        serde_json::from_str(text).map_err(|error| DataError::Broken {
            file: path.into(),
            line: error.line(),
            column: error.column(),
            reason: said(&error),
        })?;
    let mut records = vec![];
    let mut line = 1;
    let mut counted = 0;
    for (i, value) in values.into_iter().enumerate() {
        let json = value.get();
        // The values are slices of `text`, so the distance of their addresses is their offset.
        let offset = json.as_ptr() as usize - text.as_ptr() as usize;
        line += text[counted..offset].matches('\n').count();
        counted = offset;
        records.push(RawRecord { record: i + 1, line, json });
    }
    Ok(records)
}

fn lines(text: &str) -> (Vec<RawRecord<'_>>, Vec<RefusedRecord>) {
    let mut records = vec![];
    let mut refused = vec![];
    let full = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (i, (line, json)) in full.enumerate() {
        let (record, line) = (i + 1, line + 1);
        match serde_json::from_str::<IgnoredAny>(json) {
            Ok(_) => records.push(RawRecord { record, line, json }),
            Err(error) => {
                let reason = format!("no JSON at column {}: {}", error.column(), said(&error));
                refused.push(RefusedRecord { record, line, reason });
            }
        }
    }
    (records, refused)
}

/// What the parser says, without its own line and column: they count within the record.
pub(super) fn said(error: &serde_json::Error) -> String {
    let said = error.to_string();
    said.rsplit_once(" at line ").map_or(said.clone(), |(reason, _)| reason.to_owned())
}

/// The fields that tell the formats apart.
#[derive(Deserialize)]
struct Shape {
    context: Option<IgnoredAny>,
    paragraphs: Option<IgnoredAny>,
    evidences: Option<IgnoredAny>,
    level: Option<IgnoredAny>,
}

impl Shape {
    /// The formats whose records look like this; none for a stranger.
    fn formats(&self) -> &'static [Format] {
        match (&self.paragraphs, &self.context) {
            (Some(_), None) => &[Format::Musique],
            (None, Some(_)) if self.evidences.is_some() => &[Format::TwoWiki],
            (None, Some(_)) if self.level.is_some() => &[Format::Hotpotqa],
            (None, Some(_)) => &[Format::Hotpotqa, Format::TwoWiki],
            _ => &[],
        }
    }
}

/// Refuses a file of another format by its first record of a known shape.
pub(super) fn require_format(
    path: &Path,
    wanted: Format,
    records: &[RawRecord],
) -> Result<(), DataError> {
    if records.is_empty() {
        // No line is JSON: `load` names the first one.
        return Ok(());
    }
    let shapes = records.iter().filter_map(|raw| serde_json::from_str::<Shape>(raw.json).ok());
    let formats = shapes.map(|shape| shape.formats()).find(|formats| !formats.is_empty());
    match formats {
        None => Err(DataError::UnknownShape { file: path.into(), wanted }),
        Some(formats) if formats.contains(&wanted) => Ok(()),
        Some(formats) => {
            Err(DataError::WrongFormat { file: path.into(), wanted, found: formats[0] })
        }
    }
}
