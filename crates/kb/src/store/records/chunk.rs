//! A passage that can be retrieved.
use std::ops::Range;

use halma_core::{Edge, Hit, Layer};

use super::details::Details;
use super::types::{ChunkRecord, DocumentRecord, SectionRecord};
use super::{LayerRecord, NodeRecord, Owner, hit};
use crate::store::{At, Id, Link, Row, StoreReader};

impl LayerRecord for ChunkRecord {
    const LAYER: Layer = Layer::Chunk;
}

impl NodeRecord for ChunkRecord {
    fn id(&self) -> Id {
        self.id
    }

    fn owner(&self) -> Owner {
        Owner::Document(self.document)
    }

    fn chunks(&self, row: Row) -> Range<Row> {
        row..row + 1
    }

    fn hit(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Hit> {
        let text = reader.chunk_text(self)?;
        Ok(Hit { text, ..hit::in_section(self, reader, self.section, self.place)? })
    }

    fn searched_text(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<String> {
        let document: DocumentRecord = reader.linked(self.document)?;
        let section: SectionRecord = reader.linked(self.section)?;
        let heading = section.name.as_deref().filter(|_| section.indexed);
        Ok(under_headings(&document.title, heading, &reader.chunk_text(self)?))
    }

    fn edges(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Vec<Link>> {
        let node = (Self::LAYER, row);
        let document: DocumentRecord = reader.linked(self.document)?;
        let mut links = vec![Link::new((Layer::Section, self.section), Edge::Contains, node)];
        if row + 1 < document.chunks.1 {
            links.push(Link::new(node, Edge::Next, (Self::LAYER, row + 1)));
        }
        if row > document.chunks.0 {
            links.push(Link::new((Self::LAYER, row - 1), Edge::Next, node));
        }
        let atoms = reader.atoms_of(row)?.map(|atom| (Layer::Atom, atom));
        let facts = reader.listed_under(node)?.into_iter().filter(|at| at.0 == Layer::Fact);
        links.extend(atoms.chain(facts).map(|part| Link::new(part, Edge::DerivedFrom, node)));
        Ok(links)
    }

    fn details(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Details> {
        Ok(Details::Chunk { summary: self.summary.clone(), verbatim: self.text.is_none() })
    }

    fn sources(&self, _: &StoreReader<'_>, row: Row) -> heed::Result<Vec<At>> {
        Ok(vec![(Self::LAYER, row)])
    }
}

/// A chunk as it is searched: under its document's title and its headings.
pub(crate) fn under_headings(title: &str, heading: Option<&str>, chunk: &str) -> String {
    let mut text = title.to_owned();
    if let Some(heading) = heading {
        if !text.is_empty() {
            text.push_str(" > ");
        }
        text.push_str(heading);
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(chunk.trim());
    text
}
