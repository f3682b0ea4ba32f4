//! A summary of a chunk, table, section or document, or of what a document says before a chunk.
use halma_core::{Edge, Hit, Layer, Span};

use super::details::Details;
use super::hit::{self, joined};
use super::types::{DocumentRecord, SummaryRecord};
use super::{LayerRecord, NodeRecord, Owner};
use crate::store::{At, Id, Row, StoreReader, hash, node_id};

/// The id of the summary of a node.
pub(crate) fn summary_id(of: Id) -> Id {
    hash(&[b"summary", &of.to_be_bytes()])
}

/// The id of the summary of what stands before a chunk.
pub(crate) fn forward_id(chunk: Id) -> Id {
    hash(&[b"forward", &chunk.to_be_bytes()])
}

impl LayerRecord for SummaryRecord {
    const LAYER: Layer = Layer::Summary;
}

impl NodeRecord for SummaryRecord {
    fn id(&self) -> Id {
        self.id
    }

    fn owner(&self) -> Owner {
        Owner::Document(self.document)
    }

    fn hit(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Hit> {
        let document: DocumentRecord = reader.linked(self.document)?;
        let parent = Some(node_id(Layer::Document, document.id));
        let hit = hit::in_document(&document, Self::LAYER, self.id, Span::default());
        Ok(Hit { parent, text: self.text.clone(), ..hit })
    }

    fn searched_text(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<String> {
        Ok(joined([hit::title(reader, self.document)?, self.text.clone()]))
    }

    fn details(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Details> {
        Ok(Details::Summary)
    }

    /// What it was made of; the document where that is not known.
    fn sources(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Vec<At>> {
        let made_of = reader.edges_from((Self::LAYER, row), Some(Edge::DerivedFrom))?;
        if made_of.is_empty() {
            return Ok(vec![(Layer::Document, self.document)]);
        }
        Ok(made_of.into_iter().map(|link| link.to).collect())
    }
}

impl StoreReader<'_> {
    /// What the document says before a chunk, where the cutting model said so.
    pub(crate) fn forward_of(&self, chunk: Id) -> heed::Result<Option<String>> {
        let Some(row) = self.find(Layer::Summary, forward_id(chunk))? else { return Ok(None) };
        Ok(self.node::<SummaryRecord>(row)?.map(|forward| forward.text))
    }

    /// The summary of a section or document, where it has one.
    pub(crate) fn summary_of(&self, at: At) -> heed::Result<Option<String>> {
        for link in self.edges_to(at, Some(Edge::DerivedFrom))? {
            if link.from.0 == Layer::Summary {
                return Ok(self.node::<SummaryRecord>(link.from.1)?.map(|summary| summary.text));
            }
        }
        Ok(None)
    }
}
