//! The records of all layers: what is stored of a node (`types.rs`) and, in one file for each
//! layer, what it says of it.
mod atom;
mod chunk;
mod community;
mod details;
mod document;
mod entity;
mod fact;
mod figure;
mod hit;
mod record;
mod row;
mod section;
mod summary;
mod table;
mod tag;
mod types;

use halma_core::{Hit, Layer};

use super::{At, Link, Reader, Row};

pub(crate) use chunk::under_headings;
pub use details::{ColumnDetails, Details};
pub(crate) use record::{Node, Owner, Record};
pub(crate) use types::{
    AtomRecord, ChunkRecord, Column, ColumnKind, CommunityRecord, DocumentRecord, EntityRecord,
    FactRecord, FigureRecord, RowRecord, SectionRecord, SummaryRecord, TableRecord, TagRecord,
};

impl Reader<'_> {
    /// The record of a node of any layer; `None` when it was removed.
    pub(crate) fn record(&self, (layer, row): At) -> heed::Result<Option<Box<dyn Record>>> {
        match layer {
            Layer::Document => self.boxed::<DocumentRecord>(row),
            Layer::Section => self.boxed::<SectionRecord>(row),
            Layer::Chunk => self.boxed::<ChunkRecord>(row),
            Layer::Atom => self.boxed::<AtomRecord>(row),
            Layer::Table => self.boxed::<TableRecord>(row),
            Layer::Figure => self.boxed::<FigureRecord>(row),
            Layer::Row => self.boxed::<RowRecord>(row),
            Layer::Summary => self.boxed::<SummaryRecord>(row),
            Layer::Tag => self.boxed::<TagRecord>(row),
            Layer::Entity => self.boxed::<EntityRecord>(row),
            Layer::Fact => self.boxed::<FactRecord>(row),
            Layer::Community => self.boxed::<CommunityRecord>(row),
        }
    }

    fn boxed<N: Node>(&self, row: Row) -> heed::Result<Option<Box<dyn Record>>> {
        let boxed = |record: N| -> Box<dyn Record> { Box::new(record) };
        Ok(self.node::<N>(row)?.map(boxed))
    }

    /// A node as a hit, without scores; `None` when it was removed.
    pub(crate) fn hit(&self, at: At) -> heed::Result<Option<Hit>> {
        self.record(at)?.map(|record| record.hit(self, at.1)).transpose()
    }

    /// What of a node is searched; `None` when it was removed.
    pub(crate) fn searched_text(&self, layer: Layer, row: Row) -> heed::Result<Option<String>> {
        self.record((layer, row))?.map(|record| record.searched_text(self, row)).transpose()
    }

    /// Edges that follow from a node's record, in both directions.
    pub(crate) fn implied_edges(&self, at: At) -> heed::Result<Vec<Link>> {
        self.record(at)?.map_or(Ok(vec![]), |record| record.edges(self, at.1))
    }

    /// What a node is beyond its text; `None` when it was removed.
    pub(crate) fn details(&self, at: At) -> heed::Result<Option<Details>> {
        self.record(at)?.map(|record| record.details(self, at.1)).transpose()
    }

    /// The document that a node belongs to; `None` for what belongs to several.
    pub(crate) fn document_of(&self, at: At) -> heed::Result<Option<DocumentRecord>> {
        let Some(record) = self.record(at)? else { return Ok(None) };
        match record.document(self, at.1)? {
            Some(document) => self.node(document),
            None => Ok(None),
        }
    }
}
