//! The sections of a document: its headings, with what stands below each.
use std::ops::Range;

use halma_parse::{Block, BlockKind, Parsed};
use pulldown_cmark::{Event, Options, Parser};

use super::pieces::is_longer;

/// Neighbouring sections shorter than this are not worth a chunk each.
const SMALL: usize = 200;

/// A section: its headings from the top, without the document's title, and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SectionRange {
    pub(super) path: Vec<String>,
    pub(super) range: Range<usize>,
    /// Several small sections, under the heading that they have in common.
    pub(super) packed: bool,
}

impl SectionRange {
    fn new(path: Vec<String>, range: Range<usize>) -> Self {
        Self { path, range, packed: false }
    }
}

/// The sections of the body, which tile it. A heading with nothing under it goes with the section
/// that follows.
pub(super) fn parts(parsed: &Parsed, title: &str) -> Vec<SectionRange> {
    let text = parsed.text.as_str();
    let headings: Vec<(u8, &Block)> = parsed
        .blocks
        .iter()
        .filter_map(|block| match block.kind {
            BlockKind::Heading { level } => Some((level, block)),
            _ => None,
        })
        .collect();
    let mut parts = vec![];
    let mut open: Vec<(u8, String)> = vec![];
    let mut start = parsed.body;
    let first = headings.first().map_or(text.len(), |(_, heading)| heading.range.start);
    if !text[start..first].trim().is_empty() {
        parts.push(SectionRange::new(vec![], start..first));
        start = first;
    }
    for (i, (level, heading)) in headings.iter().enumerate() {
        let next = headings.get(i + 1);
        let end = next.map_or(text.len(), |(_, next)| next.range.start);
        open.retain(|(above, _)| above < level);
        open.push((*level, words(&text[heading.range.clone()])));
        let bare = text[heading.range.end..end].trim().is_empty();
        if bare && next.is_some_and(|(deeper, _)| deeper > level) {
            continue;
        }
        let path = open.iter().map(|(_, name)| name.clone()).filter(|name| !name.is_empty());
        let path = path.enumerate().filter(|(i, name)| *i > 0 || name != title);
        parts.push(SectionRange::new(path.map(|(_, name)| name).collect(), start..end));
        start = end;
    }
    parts
}

/// The words of a heading, without its marks.
fn words(heading: &str) -> String {
    let mut words = String::new();
    for event in Parser::new_ext(heading, Options::empty()) {
        match event {
            Event::Text(text) | Event::Code(text) => words.push_str(&text),
            Event::SoftBreak | Event::HardBreak => words.push(' '),
            _ => {}
        }
    }
    words.trim().to_owned()
}

/// Joins neighbouring small sections below the same heading, up to the limit.
pub(super) fn pack_small(text: &str, parts: Vec<SectionRange>, limit: usize) -> Vec<SectionRange> {
    let small = |part: &SectionRange| {
        !part.path.is_empty() && !is_longer(&text[part.range.clone()], SMALL.min(limit))
    };
    let mut packed: Vec<SectionRange> = vec![];
    // Whether the last one may grow.
    let mut growing: Option<Vec<String>> = None;
    for part in parts {
        if !small(&part) {
            growing = None;
            packed.push(part);
            continue;
        }
        if let (Some(path), Some(last)) = (&growing, packed.last_mut())
            && path.len() == part.path.len()
            && path.split_last().map(|(_, above)| above)
                == part.path.split_last().map(|(_, above)| above)
            && !is_longer(&text[last.range.start..part.range.end], limit)
        {
            last.path.truncate(path.len() - 1);
            last.range.end = part.range.end;
            last.packed = true;
        } else {
            growing = Some(part.path.clone());
            packed.push(part);
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cut::testing::markdown;

    fn paths(parts: &[SectionRange]) -> Vec<String> {
        parts.iter().map(|part| part.path.join(" > ")).collect()
    }

    #[test]
    fn headings_make_sections_with_their_path() {
        let text = "Before.\n\n# Jaws\n\n## *The* Crew\n\nSpielberg.\n\n### Music\n\nWilliams.\n\n\
                    ## Cast\n\nScheider.\n";
        let parts = parts(&markdown(text), "Jaws");
        assert_eq!(paths(&parts), ["", "The Crew", "The Crew > Music", "Cast"]);
        let joined: String = parts.iter().map(|part| &text[part.range.clone()]).collect();
        assert_eq!(joined, text);
        assert!(text[parts[1].range.clone()].starts_with("# Jaws\n\n## *The*"));
    }

    #[test]
    fn front_matter_belongs_to_no_section() {
        let text = "---\ntitle: \"The Shark\"\n---\n# Jaws\nA film.\n";
        let parts = parts(&markdown(text), "The Shark");
        assert_eq!(&text[parts[0].range.clone()], "# Jaws\nA film.\n");
        assert_eq!(parts[0].path, ["Jaws"]);
    }

    #[test]
    fn small_neighbours_share_a_chunk_below_what_they_have_in_common() {
        let long = "Spielberg made it. ".repeat(20);
        let text = format!(
            "## Crew\n\n### Music\n\nWilliams.\n\n### Light\n\nButler.\n\n### Story\n\n{long}\n\n\
             ### Cut\n\nFields.\n\n## Cast\n\nScheider.\n"
        );
        let parsed = markdown(&text);
        let small = |limit| paths(&pack_small(&text, parts(&parsed, ""), limit));
        assert_eq!(small(1500), ["Crew", "Crew > Story", "Crew > Cut", "Cast"]);
        assert_eq!(small(40).len(), 5, "nothing fits together");
    }
}
