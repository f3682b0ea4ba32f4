//! Documents of Office before 2007: records and lists of formatting in streams of a compound file. No
//! place or length in them is trusted.
mod doc;
mod ppt;

use crate::container::{compound_file, refusal};
use crate::detect::Format;
use crate::parsed::{Parsed, Refusal};

/// Ends of warnings.
const RESAVE: &str = "save it as .docx or .pptx to have them read";
const SIGNS: &str = "signs of special fonts are read as \u{fffd}; write them in an ordinary font";

pub(super) fn read(format: Format, bytes: &[u8]) -> Result<Parsed, Refusal> {
    let mut file = compound_file(bytes)?;
    if format == Format::Doc { doc::read(&mut file) } else { ppt::read(&mut file) }
}

fn damaged(what: &str) -> Refusal {
    refusal(&format!("it is a damaged {what}"), "open it in its program and save it again")
}

/// The two bytes at a place as a number.
fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The four bytes at a place as a number.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?)).ok()
}
