//! What every record says of its node. A layer is one file in this folder.
use std::ops::Range;

use halma_core::{Hit, Layer};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::details::Details;
use crate::store::{At, Id, Link, Reader, Row};

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
pub(crate) trait Record {
    fn id(&self) -> Id;

    /// With what it is deleted, and under whose key it is sealed.
    fn owner(&self) -> Owner;

    /// The document it belongs to; `None` for what belongs to several.
    fn document(&self, _: &Reader<'_>, _: Row) -> heed::Result<Option<Row>> {
        Ok(None)
    }

    /// The chunks that it is or holds.
    fn chunks(&self, _: Row) -> Range<Row> {
        0..0
    }

    /// The node as a hit, without scores: title, text, place.
    fn hit(&self, reader: &Reader<'_>, row: Row) -> heed::Result<Hit>;

    /// What of it is searched: by BM25 in every layer, by vectors in chunks and atoms.
    fn searched_text(&self, reader: &Reader<'_>, row: Row) -> heed::Result<String>;

    /// Edges that follow from the record (contains, next, derived from), in both directions.
    fn edges(&self, _: &Reader<'_>, _: Row) -> heed::Result<Vec<Link>> {
        Ok(vec![])
    }

    /// What it is beyond its text.
    fn details(&self, reader: &Reader<'_>, row: Row) -> heed::Result<Details>;

    /// The documents, sections or chunks that it rests on: a filter that admits one of them admits
    /// it.
    fn sources(&self, reader: &Reader<'_>, row: Row) -> heed::Result<Vec<At>>;
}

/// A record of the layer that its type stands for.
pub(crate) trait Node: Record + Serialize + DeserializeOwned + 'static {
    const LAYER: Layer;
}
