//! From files to documents: every format that Halma reads becomes one text with its headings,
//! tables, figures, links and pages ([`Parsed`]). What cannot be read is refused with a reason.
#[cfg(test)]
mod check;
mod container;
mod decode;
mod detect;
mod epub;
mod guard;
mod html;
mod inflate;
mod mail;
mod metadata;
mod ocr;
mod office;
mod parsed;
mod parser;
mod pdf;
mod room;
mod sheets;
mod text;
pub mod worker;
mod writer;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

pub use detect::FormatInfo;
pub use parsed::{
    Attachment, Block, BlockKind, Figure, Link, Merged, Page, Parsed, Refusal, Table, TableRow,
};
pub use parser::{Parser, serve};

use container::refusal;
use detect::Format;
use ocr::Ocr;
use text::{delimited, markdown, notebook, plain};
use writer::Writer;
use writer::inline::{Inline, visible};

/// What a document may cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseOptions {
    /// Whether pictures and scanned pages are read by `tesseract`, if it is installed.
    pub ocr: bool,
    /// The languages that tesseract expects, as in `eng+deu`.
    pub ocr_languages: String,
    /// For one document, scans included. Scans that are not read by then are warned of.
    pub seconds: u64,
    /// Larger files are refused: they are read into memory whole.
    pub max_bytes: u64,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self { ocr: true, ocr_languages: "eng".into(), seconds: 10, max_bytes: 200_000_000 }
    }
}

/// Reads a file. Its content decides what it is; `name` only distinguishes kinds of text
/// (`.md`, `.csv`, `.tsv`, `.html`, `.mhtml`, `.ipynb`).
///
/// It runs on a thread of its own and returns after `options.seconds` at the latest. The same bytes
/// give the same document, unless time runs out while scans are read.
pub fn parse(name: &str, bytes: &[u8], options: &ParseOptions) -> Result<Parsed, Refusal> {
    check_size(bytes, options)?;
    let start = Instant::now();
    let limits = ReadLimits {
        ocr: Ocr {
            enabled: options.ocr,
            languages: options.ocr_languages.clone(),
            // The rest is for writing down what was read.
            until: start + Duration::from_millis(options.seconds * 800),
        },
        until: start + Duration::from_secs(options.seconds.max(1)),
    };
    let (name, bytes) = (name.to_owned(), bytes.to_vec());
    guard::guarded(options.seconds, move || read(&name, bytes, &limits))
}

/// Refuses a file that is too large to be read.
fn check_size(bytes: &[u8], options: &ParseOptions) -> Result<(), Refusal> {
    if bytes.len() as u64 > options.max_bytes {
        let (is, max) = (bytes.len() / 1_000_000, options.max_bytes / 1_000_000);
        let reason = format!("it has {is} MB; at most {max} MB are read");
        return Err(refusal(&reason, "split it into smaller files"));
    }
    Ok(())
}

/// What reading one document may use.
struct ReadLimits {
    ocr: Ocr,
    until: Instant,
}

/// Bytes at the beginning of a file by which [`recognise`] recognises it, unless it
/// [`is_container`].
pub const HEAD: usize = 256 * 1024;

/// Whether a file that begins with these bytes is recognised by what it contains, for which all of it
/// is needed.
pub fn is_container(head: &[u8]) -> bool {
    detect::is_zip(head) || detect::is_compound(head)
}

/// The programs for OCR that are installed: with others, scans that were not read may be.
pub fn ocr_programs() -> Vec<PathBuf> {
    ocr::programs()
}

/// The format of a file, by its content, as [`Parsed::format`] will name it. Found without reading the
/// file as a whole: [`parse`] may still refuse it.
pub fn recognise(name: &str, bytes: &[u8]) -> Result<&'static str, Refusal> {
    let format = detect::detect(name, bytes)?;
    if format.is_archive() {
        container::inspect(bytes)?;
    }
    if matches!(format, Format::Markdown | Format::Delimited | Format::Notebook | Format::Text) {
        decode::decode(bytes, None)?;
    }
    Ok(format.name())
}

fn read(name: &str, bytes: Vec<u8>, limits: &ReadLimits) -> Result<Parsed, Refusal> {
    let format = detect::detect(name, &bytes)?;
    if format.is_archive() {
        container::inspect(&bytes)?;
    }
    let mut parsed = match format {
        Format::Pdf => pdf::read(bytes, &limits.ocr, limits.until)?,
        Format::Doc
        | Format::Docx
        | Format::Ppt
        | Format::Pptx
        | Format::Odt
        | Format::Odp
        | Format::Rtf => office::read(format, &bytes)?,
        Format::Eml | Format::Mbox | Format::Msg => mail::read(format, &bytes)?,
        Format::Html => html::read(&bytes)?,
        Format::Mhtml => html::mhtml::read(&bytes)?,
        Format::Epub => epub::read(&bytes)?,
        Format::Xlsx | Format::Xlsb | Format::Xls | Format::Ods => sheets::read(format, &bytes)?,
        Format::Image(media) => picture(name, bytes, media, &limits.ocr),
        Format::Markdown | Format::Delimited | Format::Notebook | Format::Text => {
            text(name, format, &bytes)?
        }
    };
    if parsed.blocks.is_empty() {
        return Err(refusal("it has no text", "remove it or fill it"));
    }
    if matches!(format, Format::Html | Format::Text)
        && let Some(kind) = detect::misnamed(name)
    {
        let is = parsed.format;
        let warning = format!("it is named .{kind} and is {is}: give the right file, or rename it");
        parsed.warnings.push(warning);
    }
    finish(&mut parsed);
    Ok(parsed)
}

/// A picture: a figure, and its text where it can be read.
fn picture(name: &str, bytes: Vec<u8>, media: &str, ocr: &Ocr) -> Parsed {
    let mut writer = Writer::new("image");
    let text = ocr.picture(&bytes);
    let name = name.rsplit(['/', '\\']).next().filter(|name| !name.is_empty());
    writer.figure("", name.unwrap_or("picture"), Some((media.to_owned(), bytes)));
    match text {
        Ok(text) => text.split("\n\n").for_each(|part| writer.paragraph(&Inline::lines(part))),
        Err(why) => writer.warn(format!("the picture is not read: {why}")),
    }
    writer.finish()
}

fn text(name: &str, format: Format, bytes: &[u8]) -> Result<Parsed, Refusal> {
    let decode::Decoded { text, mut warnings } = decode::decode(bytes, None)?;
    let text = visible(text);
    if text.trim().is_empty() {
        return Err(refusal("it is empty", "remove it or fill it"));
    }
    let mut parsed = match format {
        Format::Markdown => markdown::read(text),
        Format::Delimited => {
            let tabs = name.to_lowercase().ends_with(".tsv");
            let delimiter = if tabs { b'\t' } else { delimited::sniff(&text) };
            let parsed = delimited::read(text, delimiter)?;
            if parsed.tables.iter().all(|table| table.rows.is_empty()) {
                return Err(refusal("it has a header and no rows", "add rows"));
            }
            parsed
        }
        Format::Notebook => notebook::read(&text).unwrap_or_else(|error| {
            warnings.push(format!("it is not a whole notebook and read as text: {error}"));
            plain::read(text)
        }),
        _ => plain::read(text),
    };
    if parsed.text[parsed.body..].trim().is_empty() {
        return Err(refusal("there is nothing below its front matter", "write a text there"));
    }
    parsed.warnings.extend(warnings);
    Ok(parsed)
}

/// What every format gets in the same way.
fn finish(parsed: &mut Parsed) {
    // The name of a sheet is not a title, nor is the subject of the first message.
    let untitled = ["xlsx", "xlsb", "xls", "ods", "mbox"];
    if parsed.title.is_none() && !untitled.contains(&parsed.format) {
        parsed.title = parsed.first_heading();
    }
    metadata::set_language(parsed);
}

/// The characters of a file that is text, by its mark or as UTF-8. Refused where any would have to be
/// guessed.
pub fn certain_text(bytes: &[u8]) -> Result<String, Refusal> {
    let decoded = decode::decode(bytes, None)?;
    match decoded.warnings.first() {
        Some(warning) => Err(refusal(warning, "save it as UTF-8")),
        None => Ok(decoded.text),
    }
}

/// Reads a text that is known to be Markdown.
pub fn markdown(text: String) -> Parsed {
    let mut parsed = markdown::read(visible(text));
    finish(&mut parsed);
    parsed
}

/// Reads a text that has no marks: its paragraphs are what empty lines part.
pub fn plain(text: String) -> Parsed {
    let mut parsed = plain::read(visible(text));
    finish(&mut parsed);
    parsed
}

/// Reads a text that is known to be a table, its values separated by `delimiter`.
pub fn delimited(text: String, delimiter: u8) -> Parsed {
    let text = visible(text);
    // A text that is too uneven for a table is still a text.
    let mut parsed = delimited::read(text.clone(), delimiter).unwrap_or_else(|_| plain::read(text));
    finish(&mut parsed);
    parsed
}

/// The formats that are read, each with what of it is not.
pub fn formats() -> impl Iterator<Item = &'static FormatInfo> {
    detect::FORMATS.iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(name: &str, bytes: &[u8]) -> (String, Vec<String>) {
        let parsed = parse(name, bytes, &ParseOptions::default()).unwrap();
        check::check(&parsed);
        (parsed.text, parsed.warnings)
    }

    #[test]
    fn words_of_texts_are_whole() {
        let shy = "Quer\u{ad}balken, Zahn\u{200b}rad\n".as_bytes();
        for name in ["a.txt", "a.md", "a.csv"] {
            let text = text_of(name, &[shy, "1,2\n".as_bytes()].concat()).0;
            assert_eq!(text, "Querbalken, Zahnrad\n1,2\n", "{name}");
        }
        assert_eq!(plain("Vor\u{ad}mann".into()).text, "Vormann");
    }

    #[test]
    fn a_text_that_is_named_as_another_format_is_warned_of() {
        for (name, bytes) in [
            ("a.pdf", &b"<Error>AccessDenied</Error>"[..]),
            ("report.DOCX", b"404 Not Found"),
            ("b.pdf", b"<!doctype html><p>Please log in"),
        ] {
            let (_, warnings) = text_of(name, bytes);
            assert!(warnings[0].starts_with("it is named ."), "{name}: {warnings:?}");
        }
        assert!(text_of("a.log", b"Edda").1.is_empty());
    }
}
