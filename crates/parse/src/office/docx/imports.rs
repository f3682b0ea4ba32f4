//! Documents of any format that a Word document takes in whole (`w:altChunk`).
use std::time::{Duration, Instant};

use crate::container::{inspect, open, refusal};
use crate::detect::{Format, detect};
use crate::ocr::Ocr;
use crate::office::table::TableBuilder;
use crate::parsed::{BlockKind, Parsed, Refusal};
use crate::writer::Writer;
use crate::writer::inline::Inline;
use crate::{ParseOptions, ReadLimits};

/// Reads the part `path`. `imports` says whether it may take in documents itself.
pub(super) fn read(path: &str, bytes: Vec<u8>, imports: bool) -> Result<Parsed, Refusal> {
    let format = detect(path, &bytes)?;
    if format == Format::Docx && imports {
        inspect(&bytes)?;
        return super::document(&mut open(&bytes)?, false);
    }
    let is_xml = format == Format::Text && bytes.trim_ascii_start().starts_with(b"<");
    if is_xml || format.is_archive() {
        let reason = "it is XML, or an archive inside a document";
        return Err(refusal(reason, "save it as a file of its own"));
    }
    let ParseOptions { ocr_languages: languages, seconds, .. } = ParseOptions::default();
    let until = Instant::now() + Duration::from_secs(seconds);
    crate::read(path, bytes, &ReadLimits { ocr: Ocr { enabled: false, languages, until }, until })
}

/// Writes the blocks of a document: headings and tables as such, all else as it stands in its text.
pub(super) fn append(parsed: Parsed, writer: &mut Writer) {
    for block in &parsed.blocks {
        let text = &parsed.text[block.range.clone()];
        match block.kind {
            BlockKind::Heading { level } => {
                writer.heading(level, &Inline::words(text.trim_start_matches('#')));
            }
            BlockKind::Table(index) => {
                let table = &parsed.tables[index];
                let has_names = table.columns.iter().any(|name| !name.is_empty());
                let names = has_names.then_some(&table.columns);
                let rows = names.into_iter().chain(table.rows.iter().map(|row| &row.cells));
                let mut builder = TableBuilder::default();
                for (row, cells) in rows.enumerate() {
                    let cells = cells.iter().map(|cell| Inline::words(cell));
                    builder.plain_row(has_names && row == 0, cells);
                }
                builder.write(writer);
            }
            _ => writer.paragraph(&Inline::lines(text)),
        }
    }
    parsed.warnings.into_iter().for_each(|warning| writer.warn(warning));
}
