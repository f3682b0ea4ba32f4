//! What chunks name, and the titles and headings they stand under.
use std::collections::HashMap;

use halma_core::Layer;
use halma_core::text::{NameKind, count_name, is_stop_word, names, normalise_name};

use crate::mentions::{ChunkSource, DraftName, DraftNames, chunk_terms};
use crate::store::{At, Row, StoreReader};
use crate::terms::{Languages, TermHashes};

/// Longer names are sentences in capitals, in bytes.
const LONGEST: usize = 90;

/// What is named at one place: key → (as written, how often).
pub(super) type Named = HashMap<String, (String, f32)>;

/// What a chunk is tied to.
pub(super) struct ChunkLinks {
    pub(super) row: Row,
    pub(super) document: Row,
    pub(super) section: Row,
    pub(super) named: Named,
    /// The names that the title of the document and the heading of the section are.
    pub(super) title: Named,
    pub(super) heading: Named,
    /// Whether it is the first chunk of its document, and of its section, with which these are tied to
    /// their names.
    pub(super) is_first: (bool, bool),
    /// What graph search needs of it, where nothing else will change it in this build.
    pub(super) draft: Option<DraftNames>,
}

impl ChunkLinks {
    /// The names in a chunk and above it; `None` where it is gone. A draft is made where there is what
    /// it takes.
    pub(super) fn find(
        reader: &StoreReader<'_>,
        row: Row,
        for_draft: Option<(&mut TermHashes, &Languages)>,
    ) -> heed::Result<Option<Self>> {
        let Some(source) = ChunkSource::load(reader, row)? else { return Ok(None) };
        let title = title_names(&source.document.title);
        let heading = source.heading().map(heading_names).unwrap_or_default();
        let named = named_in(&source.text, title.iter().chain(&heading));
        let draft = match for_draft {
            Some((hashes, languages)) => {
                let drafts = draft_names(&named, title.keys().chain(heading.keys()));
                let text = source.searched_text();
                let terms = chunk_terms(hashes, languages, &text, source.language());
                Some(DraftNames::new(reader, &source, drafts, terms)?)
            }
            None => None,
        };
        Ok(Some(Self {
            row,
            document: source.record.document,
            section: source.record.section,
            is_first: (source.document.chunks.0 == row, source.section.chunks.0 == row),
            named,
            title,
            heading,
            draft,
        }))
    }

    /// The nodes that are tied to names with this chunk, itself last.
    pub(super) fn ties(&self) -> impl Iterator<Item = (At, &Named)> {
        let (of_document, of_section) = self.is_first;
        let title = of_document.then_some(((Layer::Document, self.document), &self.title));
        let heading = of_section.then_some(((Layer::Section, self.section), &self.heading));
        title.into_iter().chain(heading).chain([((Layer::Chunk, self.row), &self.named)])
    }
}

/// The names of a chunk with those that it stands under, each once.
fn draft_names<'a>(named: &Named, titles: impl Iterator<Item = &'a String>) -> Vec<DraftName> {
    let mut drafts: Vec<DraftName> =
        named.keys().map(|key| DraftName { key: key.clone(), is_title: false }).collect();
    for title in titles {
        match drafts.iter_mut().find(|name| name.key == *title) {
            Some(name) => name.is_title = true,
            None => drafts.push(DraftName { key: title.clone(), is_title: true }),
        }
    }
    drafts
}

/// A title as a name: without what stands in brackets after it, and as well without what stands
/// after a comma (`Lower Saxby, Ohio`).
fn title_names(title: &str) -> Named {
    let plain = title.split(" (").next().unwrap_or(title).trim();
    let short = plain.split_once(", ").map(|(short, _)| short);
    let mut named = Named::new();
    for written in [Some(plain), short].into_iter().flatten() {
        let key = normalise_name(written);
        if !key.is_empty() && key.len() <= LONGEST {
            named.insert(key, (written.to_owned(), 1.0));
        }
    }
    named
}

/// The innermost heading, where it is a name and not `History` or `3.2`.
fn heading_names(name: &str) -> Named {
    let named = title_names(name.rsplit(" > ").next().unwrap_or(name));
    if named.keys().any(|key| key.contains(' ')) { named } else { Named::new() }
}

/// The names in a text, and the titles it stands under where it names them in any spelling.
fn named_in<'a>(
    text: &str,
    titles: impl Iterator<Item = (&'a String, &'a (String, f32))>,
) -> Named {
    let mut named = Named::new();
    for name in names(text) {
        if matches!(name.kind, NameKind::Value(_)) || name.range.len() > LONGEST {
            continue;
        }
        let written = &text[name.range];
        let key = normalise_name(written);
        if key.len() < 2 || is_stop_word(&key) || key.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        named.entry(key).or_insert_with(|| (written.to_owned(), 0.0)).1 += 1.0;
    }
    for (key, (written, _)) in titles {
        if !named.contains_key(key) {
            let times = count_name(key, &normalise_name(text));
            if let Some(times) = u16::try_from(times).ok().filter(|times| *times > 0) {
                named.insert(key.clone(), (written.clone(), f32::from(times)));
            }
        }
    }
    named
}
