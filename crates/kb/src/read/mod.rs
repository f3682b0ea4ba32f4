//! From files to documents. What cannot be read is refused by name, with a reason and a hint, and
//! the rest goes on.
mod contexts;
mod records;
mod walk;

use std::path::Path;

use halma_parse::{ParseOptions, Parsed};
pub(crate) use walk::{InputFile, Walked, walk};

use crate::report::Refused;
use crate::{InputFormat, KbError};

/// Files from this size on are refused: they are read into memory whole.
const LARGEST: u64 = 200_000_000;

/// A document as read, not yet cut.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) naming: Naming,
    /// The input file, below the folder that was given.
    pub(crate) source: String,
    pub(crate) title: Option<String>,
    pub(crate) parsed: Parsed,
}

/// What a name says about a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// It stays the same when the content changes.
    Own,
    /// Paragraphs of many questions: another text under the same title is another document.
    Pooled,
}

/// Takes documents one by one.
pub(crate) type Sink<'a> = dyn FnMut(Draft) -> Result<(), KbError> + 'a;

/// Why a file or a line of it is not indexed.
pub(crate) struct Refusal {
    line: Option<usize>,
    reason: String,
    hint: String,
}

impl Refusal {
    fn new(reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { line: None, reason: reason.into(), hint: hint.into() }
    }

    fn at(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }

    pub(crate) fn of(self, file: &Path) -> Refused {
        let file = file.to_owned();
        Refused { file, line: self.line, reason: self.reason, hint: self.hint }
    }
}

/// What a file is, by its content, or why it would be refused; said before it is read as a whole.
pub fn recognise(name: &str, bytes: &[u8]) -> Result<&'static str, Refused> {
    let refused = |reason, hint| Refused { file: name.into(), line: None, reason, hint };
    halma_parse::recognise(name, bytes).map_err(|refusal| refused(refusal.reason, refusal.hint))
}

/// Reads one file, whose bytes are given, into `sink`; returns what of it was refused.
pub(crate) fn read(
    file: &InputFile,
    bytes: Vec<u8>,
    format: InputFormat,
    sink: &mut Sink<'_>,
) -> Result<Vec<Refused>, KbError> {
    let extension = extension(&file.name);
    let of_records = matches!(extension.as_str(), "jsonl" | "ndjson" | "json");
    if format == InputFormat::Auto && !of_records {
        return match document(file, &bytes) {
            Ok(draft) => sink(draft).map(|()| vec![]),
            Err(refusal) => Ok(vec![refusal.of(&file.path)]),
        };
    }
    let text = match text_of(bytes) {
        Ok(text) => text,
        Err(refusal) => return Ok(vec![refusal.of(&file.path)]),
    };
    let mut refusals = vec![];
    match (format, extension.as_str()) {
        (InputFormat::Auto, "json") => match records::json(&text, &file.name, sink)? {
            records::Json::Records => {}
            records::Json::Lines => {
                records::lines(&text, &file.name, format, sink, &mut refusals)?;
            }
            records::Json::Other => sink(of_file(file, halma_parse::plain(text)))?,
            records::Json::Broken(refusal) => refusals.push(refusal),
        },
        (InputFormat::Auto, _) => {
            records::lines(&text, &file.name, format, sink, &mut refusals)?;
        }
        _ => records::contexts(&text, &file.name, format, sink, &mut refusals)?,
    }
    Ok(refusals.into_iter().map(|refusal| refusal.of(&file.path)).collect())
}

fn extension(name: &str) -> String {
    let extension = Path::new(name).extension();
    extension.map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// A file that is one document, of whatever format.
fn document(file: &InputFile, bytes: &[u8]) -> Result<Draft, Refusal> {
    let options = ParseOptions { max_bytes: LARGEST, ..ParseOptions::default() };
    let parsed = halma_parse::parse(&file.name, bytes, &options)
        .map_err(|refusal| Refusal::new(refusal.reason, refusal.hint))?;
    Ok(of_file(file, parsed))
}

fn of_file(file: &InputFile, parsed: Parsed) -> Draft {
    let stem = || Path::new(&file.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Draft {
        name: file.name.clone(),
        naming: Naming::Own,
        source: file.name.clone(),
        title: parsed.title.clone().filter(|title| !title.trim().is_empty()).or_else(stem),
        parsed,
    }
}

/// The text of a file of records, without a byte order mark.
fn text_of(bytes: Vec<u8>) -> Result<String, Refusal> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Refusal::new("it is UTF-16 text", "save it as UTF-8"));
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(Refusal::new(
            format!("it is binary: byte {at} is NUL"),
            "records are lines of JSON; give other files a name of their own kind",
        ));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Refusal::new(format!("it is not UTF-8: byte {at} fits no character"), "save it as UTF-8")
    })?;
    let text = match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    };
    if text.trim().is_empty() {
        return Err(Refusal::new("it is empty", "remove it or fill it"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
