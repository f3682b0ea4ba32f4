//! What graph search needs of a chunk: the names in it and above it, and its sentences with the
//! names in each. It is made once, by the build, and stored sealed next to the chunk, so that a
//! search reads neither texts nor the records of names. What changes the chunk removes it.
use halma_core::text::normalise_name;
use halma_core::{Edge, Layer};

use super::units::{NamedEntity, units};
use crate::store::{
    At, ChunkNames, ChunkRecord, DocumentRecord, EntityRecord, Row, SectionRecord, StoreReader,
    under_headings,
};
use crate::terms::{Languages, TermHashes};

/// Hashes of the terms of a chunk, of 24 bits, ascending.
pub(crate) fn chunk_terms(
    terms: &mut TermHashes,
    languages: &Languages,
    text: &str,
    code: Option<&str>,
) -> Vec<u32> {
    let hashes = terms.hashes(languages, text, code);
    let mut hashes: Vec<u32> = hashes.into_iter().map(short_hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// As much of the hash of a term as is stored: of two texts with 60 terms one in four thousand
/// takes a term for another.
pub(crate) fn short_hash(hash: u32) -> u32 {
    hash >> 8
}

/// Makes records; keys of entities that occur again are read once.
#[derive(Default)]
pub(super) struct NameKeys(std::collections::HashMap<Row, String>);

/// The maximum of keys in the cache.
const MAX_KEYS: usize = 100_000;

impl NameKeys {
    /// The normalised name of an entity.
    fn key(&mut self, reader: &StoreReader<'_>, row: Row) -> heed::Result<String> {
        if let Some(key) = self.0.get(&row) {
            return Ok(key.clone());
        }
        let record = reader.node::<EntityRecord>(row)?;
        let key = record.map(|record| normalise_name(&record.name)).unwrap_or_default();
        if self.0.len() >= MAX_KEYS {
            self.0.clear();
        }
        self.0.insert(row, key.clone());
        Ok(key)
    }
}

/// Makes the record of a chunk.
pub(super) fn names_of(
    reader: &StoreReader<'_>,
    keys: &mut NameKeys,
    source: &ChunkSource,
) -> heed::Result<ChunkNames> {
    let (row, record) = (source.row, &source.record);
    let mentioned = |at: At| reader.edges_from(at, Some(Edge::Mentions));
    let links = mentioned((Layer::Chunk, row))?;
    let names: Vec<(Row, f32)> = links.iter().map(|link| (link.to.1, link.weight)).collect();
    let mut titles: Vec<Row> = vec![];
    for at in [(Layer::Document, record.document), (Layer::Section, record.section)] {
        titles.extend(mentioned(at)?.iter().map(|link| link.to.1));
    }
    titles.sort_unstable();
    titles.dedup();
    let mut entities: Vec<NamedEntity> = vec![];
    for entity in names.iter().map(|(row, _)| row).chain(&titles) {
        if !entities.iter().any(|other| other.row == *entity) {
            let key = keys.key(reader, *entity)?;
            let is_title = titles.contains(entity);
            entities.push(NamedEntity { row: *entity, key, is_title });
        }
    }
    let units = units(reader, source, &entities)?;
    Ok(ChunkNames { names, titles, units })
}

/// A chunk with its text, its document and its section.
pub(crate) struct ChunkSource {
    pub(crate) row: Row,
    pub(crate) record: ChunkRecord,
    pub(crate) document: DocumentRecord,
    pub(crate) section: SectionRecord,
    pub(crate) text: String,
}

impl ChunkSource {
    /// `None` when the chunk is gone.
    pub(crate) fn load(reader: &StoreReader<'_>, row: Row) -> heed::Result<Option<Self>> {
        let Some(record) = reader.node::<ChunkRecord>(row)? else { return Ok(None) };
        let document: DocumentRecord = reader.linked(record.document)?;
        let section: SectionRecord = reader.linked(record.section)?;
        let text = reader.chunk_text(&record)?;
        Ok(Some(Self { row, record, document, section, text }))
    }

    /// The text as it is searched, which is what [`StoreReader::searched_text`] reads.
    pub(crate) fn searched_text(&self) -> String {
        under_headings(&self.document.title, self.heading(), &self.text)
    }

    /// The headings above it, where they say something about the content.
    pub(crate) fn heading(&self) -> Option<&str> {
        self.section.name.as_deref().filter(|_| self.section.indexed)
    }

    /// Of its document, where that is known.
    pub(crate) fn language(&self) -> Option<&str> {
        self.document.language.as_deref()
    }
}
