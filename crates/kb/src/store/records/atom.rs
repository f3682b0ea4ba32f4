//! An atomic piece of a chunk: a question that it answers, or a sentence.
use halma_core::{Edge, Hit, Layer, Span};

use super::details::Details;
use super::hit;
use super::types::{AtomRecord, ChunkRecord};
use super::{LayerRecord, NodeRecord, Owner};
use crate::store::{Id, Link, Row, StoreReader};

impl LayerRecord for AtomRecord {
    const LAYER: Layer = Layer::Atom;
}

impl NodeRecord for AtomRecord {
    fn id(&self) -> Id {
        self.id
    }

    fn owner(&self) -> Owner {
        Owner::Chunk(self.chunk)
    }

    fn hit(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Hit> {
        let span = Span { start: self.start, end: self.end };
        Ok(Hit { text: self.text.clone(), span, ..hit::in_chunk(self, reader, self.chunk)? })
    }

    fn searched_text(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<String> {
        let chunk: ChunkRecord = reader.linked(self.chunk)?;
        Ok(under_title(&hit::title(reader, chunk.document)?, self.text.clone()))
    }

    fn edges(&self, _: &StoreReader<'_>, row: Row) -> heed::Result<Vec<Link>> {
        let chunk = (Layer::Chunk, self.chunk);
        Ok(vec![Link::new((Self::LAYER, row), Edge::DerivedFrom, chunk)])
    }

    fn details(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Details> {
        Ok(Details::Atom)
    }
}

/// An atom as it is searched: under its document's title, unless it names that itself. A sentence
/// alone often leaves open what it is about (measured on `HotpotQA`: docs/results.md).
fn under_title(title: &str, atom: String) -> String {
    if title.is_empty() || atom.to_lowercase().contains(&title.to_lowercase()) {
        return atom;
    }
    format!("{title}: {atom}")
}
