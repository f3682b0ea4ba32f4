//! What the tests of cutting share.
use halma_parse::Parsed;

use super::{CutSettings, cut_now};
use crate::store::Outline;
use crate::{Chunks, KbSettings};

pub(crate) fn plain(text: &str) -> Parsed {
    halma_parse::plain(text.to_owned())
}

pub(crate) fn markdown(text: &str) -> Parsed {
    halma_parse::markdown(text.to_owned())
}

pub(crate) fn delimited(text: &str, delimiter: u8) -> Parsed {
    halma_parse::delimited(text.to_owned(), delimiter)
}

pub(crate) fn settings(chunks: Chunks, limit: usize) -> CutSettings {
    let settings = KbSettings { chunks, chunk_chars: limit, ..KbSettings::default() };
    CutSettings::from(&settings)
}

/// The own parts of the chunks.
pub(crate) fn owns<'a>(parsed: &'a Parsed, outline: &Outline) -> Vec<&'a str> {
    let chunks = outline.sections.iter().flat_map(|section| &section.chunks);
    chunks.map(|chunk| &parsed.text[chunk.tile.bytes.0..chunk.tile.bytes.1]).collect()
}

pub(crate) fn texts<'a>(parsed: &'a Parsed, settings: &CutSettings) -> Vec<&'a str> {
    owns(parsed, &cut_now(parsed, "", settings).expect("these ways need no model").outline)
}
