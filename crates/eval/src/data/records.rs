//! Cutting a data file into its records: a JSON list, JSON lines, a table with tabs, or the blocks
//! of lines in which `LogiQA` is published. Lines are read one by one, so that a sample of a large
//! file costs little.
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::error::DataError;
use super::item::RefusedRecord;
use super::raw_record::{RawRecord, parser_message};

/// A record, or a place in the file where there should be one.
pub(super) type Cut = Result<RawRecord, RefusedRecord>;

/// The records of one file, in order.
pub(super) enum Records {
    List(std::vec::IntoIter<Cut>),
    Lines(Lines),
}

impl Iterator for Records {
    type Item = Result<Cut, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::List(cuts) => cuts.next().map(Ok),
            Self::Lines(lines) => lines.next().transpose(),
        }
    }
}

/// Opens a file, by its first character as a list or as lines; `table` reads lines of cells
/// separated by tabs, named by the first one, unless the file is JSON after all.
pub(super) fn open(path: &Path, table: bool) -> Result<Records, DataError> {
    let unreadable = |source| DataError::Unreadable { file: path.into(), source };
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let start = file.fill_buf().map_err(unreadable)?;
    if let Some((kind, command)) = packed(start) {
        return Err(DataError::Packed { file: path.into(), kind, command });
    }
    let bare = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let first = bare.trim_ascii_start().first().copied();
    // The first line of a table names its columns, and no column is called so.
    let table = table && !matches!(first, Some(b'[' | b'{'));
    if first == Some(b'[') {
        return Ok(Records::List(list_of(path, &whole(path, file)?)?.into_iter()));
    }
    let blocks = is_block(bare);
    let mut lines =
        Lines { path: path.into(), file, record: 0, line: 0, byte: 0, head: None, blocks };
    if table {
        let head = lines.next_line()?.unwrap_or_default();
        lines.head = Some(head.split('\t').map(|cell| cell.trim().to_owned()).collect());
    }
    Ok(Records::Lines(lines))
}

/// The whole file as text, without a byte order mark.
pub(super) fn read(path: &Path) -> Result<String, DataError> {
    let file =
        File::open(path).map_err(|source| DataError::Unreadable { file: path.into(), source })?;
    whole(path, BufReader::new(file))
}

fn whole(path: &Path, mut file: BufReader<File>) -> Result<String, DataError> {
    let mut bytes = vec![];
    file.read_to_end(&mut bytes)
        .map_err(|source| DataError::Unreadable { file: path.into(), source })?;
    let text = String::from_utf8(bytes).map_err(|error| DataError::NotText {
        file: path.into(),
        byte: error.utf8_error().valid_up_to(),
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The first bytes of the packed forms in which data sets are published.
fn packed(start: &[u8]) -> Option<(&'static str, &'static str)> {
    let formats: [(&[u8], _, _); 4] = [
        (b"BZh", "bzip2", "`bunzip2 -k FILE`"),
        (b"\x1f\x8b", "gzip", "`gunzip -k FILE`"),
        (b"PK\x03\x04", "zip", "`unzip FILE`"),
        (b"\x28\xb5\x2f\xfd", "zstd", "`unzstd FILE`"),
    ];
    let format = formats.into_iter().find(|(magic, _, _)| start.starts_with(magic));
    format.map(|(_, kind, command)| (kind, command))
}

fn list_of(path: &Path, text: &str) -> Result<Vec<Cut>, DataError> {
    let values: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| DataError::Broken {
        file: path.into(),
        line: error.line(),
        column: error.column(),
        reason: parser_message(&error),
    })?;
    let mut cuts = Vec::with_capacity(values.len());
    let mut line = 1;
    let mut counted = 0;
    for (i, value) in values.into_iter().enumerate() {
        let json = value.get();
        // The values are slices of `text`, so the distance of their addresses is their offset.
        let offset = json.as_ptr() as usize - text.as_ptr() as usize;
        line += text[counted..offset].matches('\n').count();
        counted = offset;
        cuts.push(Ok(RawRecord { record: i + 1, line, json: json.to_owned() }));
    }
    Ok(cuts)
}

/// A file of lines, read on demand.
pub(super) struct Lines {
    path: PathBuf,
    file: BufReader<File>,
    record: usize,
    line: usize,
    byte: usize,
    /// The names of a table's columns.
    head: Option<Vec<String>>,
    /// A record is the lines up to an empty one.
    blocks: bool,
}

fn cut(record: usize, line: usize, json: Result<String, String>) -> Cut {
    let json = json.map_err(|reason| RefusedRecord { record, line, reason })?;
    Ok(RawRecord { record, line, json })
}

impl Lines {
    fn next(&mut self) -> Result<Option<Cut>, DataError> {
        if self.blocks {
            return self.next_block();
        }
        while let Some(text) = self.next_line()? {
            if text.trim().is_empty() {
                continue;
            }
            self.record += 1;
            let (record, line) = (self.record, self.line);
            let json = match &self.head {
                Some(head) => row(head, &text),
                None => checked(text),
            };
            return Ok(Some(cut(record, line, json)));
        }
        Ok(None)
    }

    fn next_block(&mut self) -> Result<Option<Cut>, DataError> {
        let (mut texts, mut line) = (vec![], 0);
        while let Some(text) = self.next_line()? {
            match (text.trim().is_empty(), texts.is_empty()) {
                (true, true) => {}
                (true, false) => break,
                (false, _) => {
                    line = if texts.is_empty() { self.line } else { line };
                    texts.push(text.trim().to_owned());
                }
            }
        }
        if texts.is_empty() {
            return Ok(None);
        }
        self.record += 1;
        let record = self.record;
        Ok(Some(cut(record, line, block(&texts))))
    }

    fn next_line(&mut self) -> Result<Option<String>, DataError> {
        let mut bytes = vec![];
        let read = self
            .file
            .read_until(b'\n', &mut bytes)
            .map_err(|source| DataError::Unreadable { file: self.path.clone(), source })?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        let began = self.byte;
        self.byte += read;
        let text = String::from_utf8(bytes).map_err(|error| DataError::NotText {
            file: self.path.clone(),
            byte: began + error.utf8_error().valid_up_to(),
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
    }
}

fn checked(text: String) -> Result<String, String> {
    match serde_json::from_str::<IgnoredAny>(&text) {
        Ok(_) => Ok(text),
        Err(error) => Err(format!("it is not valid JSON at column {}", error.column())),
    }
}

/// Whether a file begins with the letter of a right choice in a line of its own.
fn is_block(start: &[u8]) -> bool {
    let mut lines = start.trim_ascii_start().split(|byte| *byte == b'\n');
    lines.next().is_some_and(|line| matches!(line.trim_ascii(), [b'a'..=b'd']))
}

/// The letter of the right choice, a passage, a question and four choices as a JSON object.
fn block(lines: &[String]) -> Result<String, String> {
    let [right, context, query, options @ ..] = lines else {
        return Err(format!("{} lines where a record has seven", lines.len()));
    };
    if options.len() != 4 {
        return Err(format!("{} lines where a record has seven", lines.len()));
    }
    let lettered = |option: &String| match option.split_once('.') {
        Some((letter, text)) if letter.len() == 1 => text.trim().to_owned(),
        _ => option.clone(),
    };
    let options: Vec<String> = options.iter().map(lettered).collect();
    let record = serde_json::json!({
        "context": context, "query": query, "options": options, "correct_option": right,
    });
    Ok(record.to_string())
}

/// A line of a table as a JSON object. Cells are taken as they are: the tables that are published
/// this way have no quotes that mean anything.
fn row(head: &[String], text: &str) -> Result<String, String> {
    let cells: Vec<&str> = text.split('\t').collect();
    if cells.len() != head.len() {
        return Err(format!(
            "{} cells where the first line names {} columns; a tab in a text splits it in two",
            cells.len(),
            head.len()
        ));
    }
    let row = head.iter().cloned().zip(cells.into_iter().map(Value::from));
    Ok(Value::Object(row.collect()).to_string())
}
