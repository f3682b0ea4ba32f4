//! Documents and sections of one chunk have no vector of their own: each is as near as its chunk.
use std::sync::Arc;

use halma_core::{Layer, Vector};

use super::ranker::Search;
use crate::KbError;
use crate::store::{At, ChunkRecord, Row, StoreReader};
use crate::vectors::{Matrix, NearRequest, QueryVector};

/// The nearest chunks that may be all of a document or section: this many times the limit, and at
/// least so many.
const DEPTH: usize = 8;
const LEAST_DEPTH: usize = 400;

/// Whether nodes of this layer may go without a vector because they are one chunk.
pub(super) fn may_be_chunks(layer: Layer) -> bool {
    matches!(layer, Layer::Document | Layer::Section)
}

/// The only chunk of a document or section.
fn only_chunk(reader: &StoreReader<'_>, at: At) -> heed::Result<Option<Row>> {
    if !may_be_chunks(at.0) {
        return Ok(None);
    }
    let chunks = reader.record(at)?.map_or(0..0, |record| record.chunks(at.1));
    Ok((chunks.len() == 1).then_some(chunks.start))
}

/// The vector that a node is compared by.
pub(super) fn vector(
    reader: &StoreReader<'_>,
    embedder: u8,
    at: At,
) -> heed::Result<Option<Vector>> {
    if let Some(vector) = reader.vector(embedder, at.0, at.1)? {
        return Ok(Some(vector));
    }
    let chunk = only_chunk(reader, at)?;
    chunk.map_or(Ok(None), |chunk| reader.vector(embedder, Layer::Chunk, chunk))
}

impl Search<'_> {
    /// For each query the documents or sections of one chunk that are nearest by it.
    pub(super) fn nearest_lone(
        &self,
        chunks: &Matrix,
        limit: usize,
    ) -> Result<Vec<Vec<(Row, f32)>>, KbError> {
        let layer = self.query.layer;
        let deep = limit.saturating_mul(DEPTH).max(LEAST_DEPTH);
        let admitted = self.admitted(layer);
        let vectors: Vec<&QueryVector> = self.vectors.iter().flatten().map(Arc::as_ref).collect();
        let (of_chunks, is_cancelled) = (&self.admitted(Layer::Chunk), &|| self.is_cancelled());
        let request = NearRequest { limit: deep, admitted: of_chunks, ranges: false, is_cancelled };
        let near = chunks.near_queries(&vectors, &request);
        self.store.read(|reader| {
            let mut lists = vec![];
            for chunks in near {
                let mut lone = vec![];
                for (row, cosine) in chunks.rows {
                    let Some(chunk) = reader.node::<ChunkRecord>(row)? else { continue };
                    let section = layer == Layer::Section;
                    let whole = if section { chunk.section } else { chunk.document };
                    let is_lone = only_chunk(reader, (layer, whole))?.is_some();
                    if is_lone && admitted.admits(whole) {
                        lone.push((whole, cosine));
                    }
                }
                lists.push(lone);
            }
            Ok(lists)
        })
    }
}
