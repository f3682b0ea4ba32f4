//! Document structure: what stands next to a good chunk, and what links to or from its document.
use std::collections::HashMap;

use halma_core::{Edge, Layer};

use super::GraphContext;
use super::score::{ChunkScore, LINKS, NEXT};
use crate::store::{ChunkRecord, DocumentRecord, Row};

/// The best chunks, whose neighbours rise.
pub(super) const SOURCES: usize = 10;

/// Documents that are followed from one, and chunks of one that rise.
const DOCUMENTS: usize = 8;
const CHUNKS: usize = 16;

impl GraphContext<'_> {
    /// Raises the neighbours of the best chunks, which are the first in order. Chunks that were not
    /// scored come in with nothing else. Returns whether all are to be put in order again.
    pub(super) fn add_links(
        &self,
        scored: &mut Vec<ChunkScore>,
        admits: &dyn Fn(Row) -> bool,
    ) -> heed::Result<bool> {
        if self.settings.links <= 0.0 && self.settings.next <= 0.0 {
            return Ok(false);
        }
        let mut gained: HashMap<Row, [f32; 2]> = HashMap::new();
        let mut gain = |row: Row, kind: usize, score: f32| {
            let highest = &mut gained.entry(row).or_default()[kind];
            *highest = highest.max(score);
        };
        for best in scored.iter().take(SOURCES) {
            let Some(chunk) = self.reader.node::<ChunkRecord>(best.row)? else { continue };
            let document: DocumentRecord = self.reader.linked(chunk.document)?;
            let next = self.settings.next * best.score;
            let chunks = document.chunks.0..document.chunks.1;
            for row in [best.row.checked_sub(1), best.row.checked_add(1)].into_iter().flatten() {
                if next > 0.0 && chunks.contains(&row) {
                    gain(row, 1, next);
                }
            }
            let links = self.settings.links * best.score;
            if links > 0.0 {
                for row in self.linked_chunks(chunk.document)? {
                    gain(row, 0, links);
                }
            }
        }
        for chunk in scored.iter_mut() {
            if let Some([links, next]) = gained.remove(&chunk.row) {
                (chunk.parts[LINKS], chunk.parts[NEXT]) = (links, next);
                chunk.score += links + next;
            }
        }
        for (row, [links, next]) in gained.into_iter().filter(|(row, _)| admits(*row)) {
            let mut chunk = ChunkScore { row, score: links + next, parts: Default::default() };
            (chunk.parts[LINKS], chunk.parts[NEXT]) = (links, next);
            scored.push(chunk);
        }
        Ok(true)
    }

    /// The first chunks of the documents that a document links to or that link to it.
    fn linked_chunks(&self, document: Row) -> heed::Result<Vec<Row>> {
        let start = (Layer::Document, document);
        let mut documents = vec![];
        for link in self.reader.edges_from(start, Some(Edge::LinksTo))? {
            documents.push(link.to.1);
        }
        let back = self.reader.first_edges_to(start, Edge::LinksTo, DOCUMENTS)?;
        documents.extend(back.into_iter().map(|(_, row)| row));
        let mut chunks = vec![];
        for row in documents.into_iter().take(DOCUMENTS) {
            let linked: DocumentRecord = self.reader.linked(row)?;
            chunks.extend((linked.chunks.0..linked.chunks.1).take(CHUNKS));
        }
        Ok(chunks)
    }
}
