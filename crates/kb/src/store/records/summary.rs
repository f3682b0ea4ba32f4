//! A summary of a section or document, or of a table.
use halma_core::{Edge, Hit, Layer, Span};

use super::details::Details;
use super::hit::{self, joined};
use super::types::{DocumentRecord, SummaryRecord};
use super::{LayerRecord, NodeRecord, Owner};
use crate::store::{At, Id, Row, StoreReader, node_id};

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
