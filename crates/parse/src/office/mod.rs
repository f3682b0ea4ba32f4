//! Documents of word processors and presentation programs.
mod chart;
mod docx;
mod drawing;
mod math;
mod odf;
mod old;
mod package;
mod pptx;
pub(crate) mod rtf;
mod run_text;
mod symbols;
mod table;
mod xml;

pub(crate) use package::{main_part, renamed_workbook};

use crate::container::open;
use crate::detect::Format;
use crate::parsed::{Parsed, Refusal};

/// Reads a document of one of the formats of this folder.
pub(crate) fn read(format: Format, bytes: &[u8]) -> Result<Parsed, Refusal> {
    match format {
        Format::Doc | Format::Ppt => old::read(format, bytes),
        Format::Rtf => Ok(rtf::read(bytes)),
        Format::Docx => docx::read(&mut open(bytes)?),
        Format::Pptx => pptx::read(&mut open(bytes)?),
        _ => odf::read(format.name(), &mut open(bytes)?),
    }
}

/// Sets title and author as the file states them, unless they say nothing.
fn describe(parsed: &mut Parsed, title: Option<String>, author: Option<String>) {
    parsed.title = title.and_then(|title| crate::metadata::title(&title));
    parsed.author = author.and_then(|author| crate::metadata::line(&author));
}
