//! From files to documents. What cannot be read is refused by name, with a reason and a hint, and
//! the rest goes on.
pub(crate) mod bridge;
mod contexts;
pub(crate) mod markdown;
mod records;
pub(crate) mod table;
mod walk;

use std::path::Path;

pub(crate) use walk::{InputFile, walk};

use crate::report::Refused;
use crate::{InputFormat, KbError};

/// Files from this size on are refused: they are read into memory whole.
const LARGEST: u64 = 200_000_000;

/// A document as read, not yet cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) naming: Naming,
    /// The input file, below the folder that was given.
    pub(crate) source: String,
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    pub(crate) url: Option<String>,
    pub(crate) date: Option<String>,
    pub(crate) kind: Kind,
}

/// What a name says about a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// It stays the same when the content changes.
    Own,
    /// Paragraphs of many questions: another text under the same title is another document.
    Pooled,
}

/// How a document's text is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Markdown,
    Table { delimiter: u8 },
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

    fn of(self, file: &Path) -> Refused {
        let file = file.to_owned();
        Refused { file, line: self.line, reason: self.reason, hint: self.hint }
    }
}

/// Reads one file into `sink`; returns what of it was refused.
pub(crate) fn read(
    file: &InputFile,
    format: InputFormat,
    sink: &mut Sink<'_>,
) -> Result<Vec<Refused>, KbError> {
    let text = match load(&file.path) {
        Ok(text) => text,
        Err(refusal) => return Ok(vec![refusal.of(&file.path)]),
    };
    let mut refusals = vec![];
    let extension = extension(&file.path);
    match (format, extension.as_str()) {
        (InputFormat::Auto, "jsonl" | "ndjson") => {
            records::lines(&text, &file.name, format, sink, &mut refusals)?;
        }
        (InputFormat::Auto, "csv" | "tsv") => match table_of(file, text) {
            Ok(draft) => sink(draft)?,
            Err(refusal) => refusals.push(refusal),
        },
        (InputFormat::Auto, "md" | "markdown") => match markdown_of(file, text) {
            Ok(draft) => sink(draft)?,
            Err(refusal) => refusals.push(refusal),
        },
        (InputFormat::Auto, "json") => match records::json(&text, &file.name, sink)? {
            records::Json::Records => {}
            records::Json::Lines => {
                records::lines(&text, &file.name, format, sink, &mut refusals)?;
            }
            records::Json::Other => sink(plain(file, text))?,
            records::Json::Broken(refusal) => refusals.push(refusal),
        },
        (InputFormat::Auto, _) => sink(plain(file, text))?,
        _ => records::contexts(&text, &file.name, format, sink, &mut refusals)?,
    }
    Ok(refusals.into_iter().map(|refusal| refusal.of(&file.path)).collect())
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// The file's text without a byte order mark.
fn load(path: &Path) -> Result<String, Refusal> {
    const READS: &str = "this version reads text, Markdown, JSONL and CSV; convert the file first";
    let unreadable = |e: std::io::Error| {
        Refusal::new(format!("it cannot be read: {e}"), "check that it exists and may be read")
    };
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        return Err(Refusal::new("it is no regular file", "give files and folders only"));
    }
    if about.len() >= LARGEST {
        let megabytes = about.len() / 1_000_000;
        return Err(Refusal::new(
            format!("it has {megabytes} MB; at most 200 MB are read"),
            "split it into smaller files",
        ));
    }
    if BINARY.contains(&extension(path).as_str()) {
        return Err(Refusal::new(format!("`.{}` files are not read", extension(path)), READS));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Refusal::new("it is UTF-16 text", "save it as UTF-8"));
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(Refusal::new(format!("it is binary: byte {at} is NUL"), READS));
    }
    if bytes.starts_with(b"%PDF-") || bytes.starts_with(b"PK\x03\x04") {
        return Err(Refusal::new("it is binary, whatever its name says", READS));
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

/// Extensions of what is surely no text.
const BINARY: &[&str] = &[
    "7z", "avi", "bmp", "bz2", "doc", "docx", "epub", "exe", "gif", "gz", "ico", "jpeg", "jpg",
    "mdb", "mp3", "mp4", "odp", "ods", "odt", "parquet", "pdf", "png", "ppt", "pptx", "rar", "so",
    "sqlite", "tar", "tif", "tiff", "wav", "webp", "xls", "xlsx", "xz", "zip", "zst",
];

fn stem(file: &InputFile) -> Option<String> {
    file.path.file_stem().map(|stem| stem.to_string_lossy().into_owned())
}

fn plain(file: &InputFile, text: String) -> Draft {
    Draft {
        name: file.name.clone(),
        naming: Naming::Own,
        source: file.name.clone(),
        title: stem(file),
        text,
        url: None,
        date: None,
        kind: Kind::Plain,
    }
}

fn table_of(file: &InputFile, text: String) -> Result<Draft, Refusal> {
    if text.lines().filter(|line| !line.trim().is_empty()).nth(1).is_none() {
        return Err(Refusal::new("it has a header and no rows", "add rows"));
    }
    let delimiter = if extension(&file.path) == "tsv" { b'\t' } else { table::sniff(&text) };
    Ok(Draft { kind: Kind::Table { delimiter }, ..plain(file, text) })
}

fn markdown_of(file: &InputFile, text: String) -> Result<Draft, Refusal> {
    let about = markdown::about(&text);
    if text[about.body..].trim().is_empty() {
        return Err(Refusal::new("there is nothing below its front matter", "write a text there"));
    }
    let title = about.title.or_else(|| stem(file));
    let (url, date) = (about.url, about.date);
    Ok(Draft { title, url, date, kind: Kind::Markdown, ..plain(file, text) })
}

#[cfg(test)]
mod tests;
