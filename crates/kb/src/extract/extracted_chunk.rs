//! Chunks with what was extracted from them, as the graph is made of them.
use std::collections::{BTreeMap, HashMap};

use halma_core::Layer;

use crate::store::{ChunkRecord, DocumentRecord, Extraction, Id, Row, StoreReader, Task, UnitKey};

/// A chunk with its facts.
#[derive(Debug, Clone)]
pub(crate) struct ExtractedChunk {
    pub(crate) chunk: Row,
    pub(crate) chunk_id: Id,
    pub(crate) document_id: Id,
    pub(crate) extract: Extraction,
    /// Where some of its mentions stay what they are.
    pub(crate) outside: Option<OutsideMentions>,
}

/// The mentions of a chunk of which only some are resolved.
#[derive(Debug, Clone)]
pub(crate) struct OutsideMentions {
    /// Whether each is resolved.
    pub(crate) resolved: Vec<bool>,
    /// The entity that each is now.
    pub(crate) entities: Vec<Row>,
}

impl ExtractedChunk {
    /// Whether a mention is resolved.
    pub(crate) fn resolves(&self, mention: u32) -> bool {
        let of = |outside: &OutsideMentions| outside.resolved.get(mention as usize).copied();
        self.outside.as_ref().is_none_or(|outside| of(outside).unwrap_or(true))
    }

    /// The entity of a mention that is not resolved.
    pub(crate) fn entity_outside(&self, mention: u32) -> Option<Row> {
        let outside = self.outside.as_ref().filter(|_| !self.resolves(mention))?;
        outside.entities.get(mention as usize).copied()
    }
}

/// Reads chunks, and each of their documents once.
#[derive(Default)]
pub(crate) struct ChunkReading {
    documents: HashMap<Row, Id>,
}

impl ChunkReading {
    /// A chunk with its facts; `None` where it has none.
    pub(crate) fn read(
        &mut self,
        reader: &StoreReader<'_>,
        chunk: Row,
    ) -> heed::Result<Option<ExtractedChunk>> {
        let key = UnitKey::of(Task::Facts, (Layer::Chunk, chunk));
        let Some((_, extract)) = reader.result_of::<Extraction>(key)? else { return Ok(None) };
        self.add_ids(reader, chunk, extract)
    }

    fn add_ids(
        &mut self,
        reader: &StoreReader<'_>,
        chunk: Row,
        extract: Extraction,
    ) -> heed::Result<Option<ExtractedChunk>> {
        let Some(record) = reader.node::<ChunkRecord>(chunk)? else { return Ok(None) };
        let document_id = match self.documents.get(&record.document) {
            Some(id) => *id,
            None => reader.linked::<DocumentRecord>(record.document)?.id,
        };
        self.documents.insert(record.document, document_id);
        let chunk_id = record.id;
        Ok(Some(ExtractedChunk { chunk, chunk_id, document_id, extract, outside: None }))
    }
}

/// All chunks of the base with facts, in the order of their documents' and their own ids, which is
/// the same whatever came in first.
pub(crate) fn extracted_chunks(reader: &StoreReader<'_>) -> heed::Result<Vec<ExtractedChunk>> {
    let (mut reading, mut chunks) = (ChunkReading::default(), vec![]);
    for result in reader.results::<Extraction>(Task::Facts)? {
        let (key, extract) = result?;
        chunks.extend(reading.add_ids(reader, key.row(), extract)?);
    }
    Ok(in_order(chunks))
}

/// Chunks in the order of their documents' and their own ids; of two with the same ids, the later.
pub(crate) fn in_order(chunks: Vec<ExtractedChunk>) -> Vec<ExtractedChunk> {
    let keyed = chunks.into_iter().map(|read| ((read.document_id, read.chunk_id), read));
    keyed.collect::<BTreeMap<_, _>>().into_values().collect()
}
