//! The records of all layers: what is stored of a node (`types.rs`) and, layer by layer, what it
//! says of it.
mod atom;
mod chunk;
mod details;
mod document;
mod extracted;
mod figure;
mod hit;
mod section;
mod summary;
mod table;
mod types;

use std::collections::BTreeSet;
use std::ops::Range;

use halma_core::{Hit, Layer};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::restriction::Scope;
use super::{At, Id, Link, Row, StoreReader};

pub(crate) use chunk::under_headings;
pub use details::{AcceptedDetails, ColumnDetails, Details};
pub(crate) use summary::{forward_id, summary_id};
pub(crate) use types::{
    AcceptedAtom, AtomRecord, ChunkRecord, Column, CommunityRecord, DocumentRecord, EntityRecord,
    FactRecord, FigureRecord, RowRecord, SectionRecord, SummaryRecord, TableRecord, TagRecord,
};

/// With what a node is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// With nothing else; it has a key of its own.
    Itself,
    Document(Row),
    /// With the document of the chunk.
    Chunk(Row),
}

/// A record of any layer. `row` is the row that it was read from.
pub(crate) trait NodeRecord {
    fn id(&self) -> Id;

    /// With what it is deleted, and under whose key it is sealed.
    fn owner(&self) -> Owner;

    /// Nodes in addition to its owner that its words may come from: a reader who may not see all of
    /// them may not see it.
    fn depends_on(&self) -> Vec<At> {
        vec![]
    }

    /// The document it belongs to; `None` for what belongs to several.
    fn document(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Option<Row>> {
        Ok(match self.owner() {
            Owner::Itself => None,
            Owner::Document(document) => Some(document),
            Owner::Chunk(chunk) => reader.node::<ChunkRecord>(chunk)?.map(|chunk| chunk.document),
        })
    }

    /// The chunks that it is or holds.
    fn chunks(&self, _: Row) -> Range<Row> {
        0..0
    }

    /// The node as a hit, without scores: title, text, place.
    fn hit(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Hit>;

    /// What of it is searched by BM25.
    fn searched_text(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<String>;

    /// What its vector is made of.
    fn embedded_text(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<String> {
        self.searched_text(reader, row)
    }

    /// Whether it has a vector of its own, if its layer has vectors: not where that of another node
    /// says the same.
    fn has_vector(&self) -> bool {
        true
    }

    /// Edges that follow from the record (contains, next, derived from), in both directions.
    fn edges(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Vec<Link>> {
        Ok(vec![])
    }

    /// What it is beyond its text.
    fn details(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Details>;

    /// The documents, sections or chunks that it rests on: a filter that admits one of them admits
    /// it.
    fn sources(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Vec<At>> {
        Ok(match self.owner() {
            Owner::Itself => vec![],
            Owner::Document(document) => vec![(Layer::Document, document)],
            Owner::Chunk(chunk) => vec![(Layer::Chunk, chunk)],
        })
    }
}

/// A record of the layer that its type stands for.
pub(crate) trait LayerRecord: NodeRecord + Serialize + DeserializeOwned + 'static {
    const LAYER: Layer;

    /// What of it a reader of this scope sees, once it is known that the node is visible.
    fn narrow(self, _: &Scope) -> Option<Self> {
        Some(self)
    }
}

impl StoreReader<'_> {
    /// The record of a node of any layer; `None` when it was removed.
    pub(crate) fn record(&self, at: At) -> heed::Result<Option<Box<dyn NodeRecord>>> {
        self.record_if(at, true)
    }

    /// The record of a node, whether or not this reader may see it: to find out whether it may.
    pub(super) fn any_record(&self, at: At) -> heed::Result<Option<Box<dyn NodeRecord>>> {
        self.record_if(at, false)
    }

    fn record_if(
        &self,
        (layer, row): At,
        is_visible: bool,
    ) -> heed::Result<Option<Box<dyn NodeRecord>>> {
        match layer {
            Layer::Document => self.boxed::<DocumentRecord>(row, is_visible),
            Layer::Section => self.boxed::<SectionRecord>(row, is_visible),
            Layer::Chunk => self.boxed::<ChunkRecord>(row, is_visible),
            Layer::Atom => self.boxed::<AtomRecord>(row, is_visible),
            Layer::Table => self.boxed::<TableRecord>(row, is_visible),
            Layer::Figure => self.boxed::<FigureRecord>(row, is_visible),
            Layer::Row => self.boxed::<RowRecord>(row, is_visible),
            Layer::Summary => self.boxed::<SummaryRecord>(row, is_visible),
            Layer::Tag => self.boxed::<TagRecord>(row, is_visible),
            Layer::Entity => self.boxed::<EntityRecord>(row, is_visible),
            Layer::Fact => self.boxed::<FactRecord>(row, is_visible),
            Layer::Community => self.boxed::<CommunityRecord>(row, is_visible),
        }
    }

    fn boxed<N: LayerRecord>(
        &self,
        row: Row,
        is_visible: bool,
    ) -> heed::Result<Option<Box<dyn NodeRecord>>> {
        let record = if is_visible { self.node::<N>(row)? } else { self.any_node(row)? };
        Ok(record.map(|record| -> Box<dyn NodeRecord> { Box::new(record) }))
    }

    /// A node as a hit, without scores; `None` when it was removed.
    pub(crate) fn hit(&self, at: At) -> heed::Result<Option<Hit>> {
        self.record(at)?.map(|record| record.hit(self, at.1)).transpose()
    }

    /// What of a node is searched; `None` when it was removed.
    pub(crate) fn searched_text(&self, layer: Layer, row: Row) -> heed::Result<Option<String>> {
        self.record((layer, row))?.map(|record| record.searched_text(self, row)).transpose()
    }

    /// What a node's vector is made of; `None` when it was removed.
    pub(crate) fn embedded_text(&self, layer: Layer, row: Row) -> heed::Result<Option<String>> {
        self.record((layer, row))?.map(|record| record.embedded_text(self, row)).transpose()
    }

    /// Edges that follow from a node's record, in both directions.
    pub(crate) fn implied_edges(&self, at: At) -> heed::Result<Vec<Link>> {
        self.record(at)?.map_or(Ok(vec![]), |record| record.edges(self, at.1))
    }

    /// What a node is beyond its text; `None` when it was removed.
    pub(crate) fn details(&self, at: At) -> heed::Result<Option<Details>> {
        self.record(at)?.map(|record| record.details(self, at.1)).transpose()
    }

    /// The names of the documents that nodes belong to; none if one of them belongs to several, or was
    /// removed.
    pub(crate) fn names_of_documents(
        &self,
        nodes: impl Iterator<Item = At>,
    ) -> heed::Result<Vec<String>> {
        let mut documents = BTreeSet::new();
        for (layer, row) in nodes {
            let Some(record) = self.record((layer, row))? else { return Ok(vec![]) };
            let Some(document) = record.document(self, row)? else { return Ok(vec![]) };
            documents.insert(document);
        }
        let mut names = vec![];
        for document in documents {
            let Some(document) = self.node::<DocumentRecord>(document)? else { return Ok(vec![]) };
            names.extend(document.names);
        }
        Ok(names)
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
