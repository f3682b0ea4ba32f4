//! From files to documents. What cannot be read is refused by name, with a reason and a hint, and
//! the rest is read.
mod contexts;
mod fields;
mod records;
mod selection;
mod walk;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use halma_core::Metadata;
pub(crate) use halma_parse::Refusal;
use halma_parse::{ParseOptions, Parsed, Parser};
use serde::Serialize;
pub(crate) use walk::{InputFile, Root, Walked, file_of, origin_of, stamp_of, walk};

pub use self::fields::{is_metadata_file, metadata_file, read_metadata_file};
pub(crate) use self::selection::Selection;
use crate::{Base, InputFormat, KbError};

/// Something of an indexed file that was not read, or may have been read wrongly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReadWarning {
    pub file: PathBuf,
    /// What is lost, and what to do about it.
    pub warning: String,
}

impl ReadWarning {
    pub(crate) fn new(file: &Path, warning: &str) -> Self {
        Self { file: file.to_owned(), warning: warning.to_owned() }
    }
}

/// Something in the input that was not indexed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    pub file: PathBuf,
    /// Counted from 1, for files of records.
    pub line: Option<usize>,
    pub reason: String,
    /// What to do about it.
    pub hint: String,
}

impl Refused {
    pub(crate) fn new(file: &Path, line: Option<usize>, refusal: Refusal) -> Self {
        let Refusal { reason, hint } = refusal;
        Self { file: file.to_owned(), line, reason, hint }
    }
}

/// A document as read, not yet cut.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedDocument {
    pub(crate) name: String,
    pub(crate) naming: Naming,
    /// The input file, below the folder that was given.
    pub(crate) source: String,
    pub(crate) title: Option<String>,
    pub(crate) parsed: Parsed,
    /// The fields that came with it; `None` where nothing says any.
    pub(crate) metadata: Option<Metadata>,
}

impl ParsedDocument {
    /// Its title without white space around it; empty where it has none.
    pub(crate) fn shown_title(&self) -> &str {
        self.title.as_deref().unwrap_or("").trim()
    }
}

/// What a name says about a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// It stays the same when the content changes.
    Stable,
    /// Paragraphs of many questions: another text under the same title is another document.
    Pooled,
}

/// Takes documents one by one.
pub(crate) type Sink<'a> = dyn FnMut(ParsedDocument) -> Result<(), KbError> + 'a;

pub(crate) fn refusal(reason: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal { reason: reason.into(), hint: hint.into() }
}

impl Base {
    /// What a file is that is called `name`, by its content, or why it would be refused. No more of
    /// it is read than that takes: its beginning, or all of an archive. It blocks.
    pub fn recognise_file(
        &self,
        name: &str,
        path: &Path,
    ) -> Result<Result<&'static str, Refused>, KbError> {
        let bytes = distinctive(path).map_err(|e| KbError::io(path, "read", e))?;
        let recognised = self.parser().recognise(name, &bytes);
        Ok(recognised.map_err(|r| Refused::new(Path::new(name), None, r)))
    }

    /// What reads files: worker processes, if there are any.
    pub(crate) fn parser(&self) -> Parser {
        self.options.workers.as_ref().map(|workers| workers.parser(&self.dir)).unwrap_or_default()
    }
}

/// The bytes by which a file is recognised.
fn distinctive(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(path)?;
    let mut bytes = vec![];
    (&mut file).take(halma_parse::HEAD as u64).read_to_end(&mut bytes)?;
    if halma_parse::is_container(&bytes) {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Reads input files into documents.
pub(crate) struct FileReader<'a> {
    pub(crate) parser: Parser,
    pub(crate) options: &'a ParseOptions,
    pub(crate) format: InputFormat,
}

impl FileReader<'_> {
    /// Reads one file, whose bytes are given, into `sink`; returns what of it was refused.
    pub(crate) fn read(
        &self,
        file: &InputFile,
        bytes: Vec<u8>,
        sink: &mut Sink<'_>,
    ) -> Result<Vec<Refused>, KbError> {
        let format = self.format;
        let refused = |line, refusal| Refused::new(&file.path, line, refusal);
        let extension = extension(&file.name);
        if format == InputFormat::Auto && !may_hold_records(&file.name) {
            return match self.document(file, &bytes) {
                Ok(draft) => sink(draft).map(|()| vec![]),
                Err(refusal) => Ok(vec![refused(None, refusal)]),
            };
        }
        let text = match text_of(bytes) {
            Ok(text) => text,
            Err(refusal) => return Ok(vec![refused(None, refusal)]),
        };
        let mut refusals = vec![];
        match (format, extension.as_str()) {
            (InputFormat::Auto, "json") => match records::json(&text, &file.name, sink)? {
                records::Json::Records => {}
                records::Json::Lines => {
                    records::lines(&text, &file.name, format, sink, &mut refusals)?;
                }
                records::Json::Other => sink(of_file(file, halma_parse::plain(text)))?,
                records::Json::Broken(refusal) => refusals.push((None, refusal)),
            },
            (InputFormat::Auto, _) => {
                records::lines(&text, &file.name, format, sink, &mut refusals)?;
            }
            _ => records::contexts(&text, &file.name, format, sink, &mut refusals)?,
        }
        Ok(refusals.into_iter().map(|(line, refusal)| refused(line, refusal)).collect())
    }

    /// A file that is one document, of whatever format.
    fn document(&self, file: &InputFile, bytes: &[u8]) -> Result<ParsedDocument, Refusal> {
        Ok(of_file(file, self.parser.parse(&file.name, bytes, self.options)?))
    }
}

/// Whether a file of this name may hold several documents.
pub fn may_hold_records(name: &str) -> bool {
    matches!(extension(name).as_str(), "jsonl" | "ndjson" | "json")
}

fn extension(name: &str) -> String {
    let extension = Path::new(name).extension();
    extension.map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn of_file(file: &InputFile, parsed: Parsed) -> ParsedDocument {
    let stem = || Path::new(&file.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    ParsedDocument {
        name: file.name.clone(),
        naming: Naming::Stable,
        source: file.name.clone(),
        title: parsed.title.clone().filter(|title| !title.trim().is_empty()).or_else(stem),
        parsed,
        metadata: None,
    }
}

/// The text of a file of records, without a byte order mark.
fn text_of(bytes: Vec<u8>) -> Result<String, Refusal> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(refusal("it is UTF-16 text", "save it as UTF-8"));
    }
    if bytes.contains(&0) {
        return Err(refusal(
            "it is binary: it has bytes that are NUL",
            "records are lines of JSON; give other files a name of their own kind",
        ));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        refusal(format!("it is not UTF-8: byte {at} fits no character"), "save it as UTF-8")
    })?;
    let text = match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    };
    if text.trim().is_empty() {
        return Err(refusal("it is empty", "remove it or fill it"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
