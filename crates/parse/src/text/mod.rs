//! Formats that are text already: it stays as it is, and what stands where is noted.
pub(crate) mod delimited;
pub(crate) mod markdown;
pub(crate) mod notebook;
pub(crate) mod plain;

use crate::parsed::{Block, BlockKind, Parsed};

impl Parsed {
    /// The words of a heading without its marks, with its level (counted from 1); `None` for any
    /// other block.
    pub fn heading(&self, block: &Block) -> Option<(u8, String)> {
        let BlockKind::Heading { level } = block.kind else { return None };
        let text = &self.text[block.range.clone()];
        if matches!(self.format, "markdown" | "ipynb") {
            return Some((level, markdown::heading(text)));
        }
        // A text that we wrote: what looks like marks inside is meant as it stands.
        Some((level, text.trim_start_matches('#').trim().to_owned()))
    }

    /// The first heading with a word in it.
    pub(crate) fn first_heading(&self) -> Option<String> {
        let mut headings = self.blocks.iter().filter_map(|block| self.heading(block));
        headings.find(|(_, words)| !words.is_empty()).map(|(_, words)| words)
    }
}
