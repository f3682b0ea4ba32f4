//! A node's edges, those that are stored and those that its record says.
use halma_core::{Edge, Hit, Layer, NodeId};

use crate::store::{
    At, AtomRecord, ChunkRecord, DocumentRecord, FactRecord, FigureRecord, Link, Reading, Row,
    RowRecord, Rows, SectionRecord, TableRecord, parse_id,
};
use crate::{Base, KbError};

/// An edge as seen from one of its ends.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Seen {
    pub edge: Edge,
    /// Whether it begins at the node that was asked for.
    pub outgoing: bool,
    pub weight: f32,
    /// The other end.
    pub node: Hit,
}

impl Base {
    /// The edges of a node, outgoing first.
    pub fn edges_of(&self, id: &NodeId, edge: Option<Edge>) -> Result<Vec<Seen>, KbError> {
        let missing = || KbError::NoNode { id: id.0.clone() };
        let (layer, key) = parse_id(id).ok_or_else(missing)?;
        self.store
            .read(|txn| {
                let Some(row) = self.store.find(txn, layer, key)? else { return Ok(None) };
                let mut links = self.implied_edges(txn, (layer, row))?;
                links.extend(self.store.edges_from(txn, (layer, row), None)?);
                links.extend(self.store.edges_to(txn, (layer, row), None)?);
                links.retain(|link| edge.is_none_or(|edge| link.edge == edge));
                links.sort_by_key(|link| link.from != (layer, row));
                let mut seen = vec![];
                for link in links {
                    let outgoing = link.from == (layer, row);
                    let (layer, row) = if outgoing { link.to } else { link.from };
                    if let Some(node) = self.resolve(txn, layer, row)? {
                        seen.push(Seen { edge: link.edge, outgoing, weight: link.weight, node });
                    }
                }
                Ok(Some(seen))
            })?
            .ok_or_else(missing)
    }

    /// Edges that a node's own record says (contains, next, derived from), both ways.
    pub(crate) fn implied_edges(&self, txn: &Reading<'_>, node: At) -> heed::Result<Vec<Link>> {
        let store = &self.store;
        let (layer, row) = node;
        let mut links = vec![];
        match layer {
            Layer::Document => {
                let Some(record) = store.node::<DocumentRecord>(txn, row)? else {
                    return Ok(links);
                };
                links.extend(contains(node, Layer::Section, record.sections));
            }
            Layer::Section => {
                let Some(record) = store.node::<SectionRecord>(txn, row)? else { return Ok(links) };
                let document: DocumentRecord = store.linked(txn, record.document)?;
                links.extend(contains(node, Layer::Chunk, record.chunks));
                for table in document.tables.0..document.tables.1 {
                    let of = store.node::<TableRecord>(txn, table)?.and_then(|table| table.section);
                    links.extend(
                        (of == Some(row)).then(|| one(node, Edge::Contains, (Layer::Table, table))),
                    );
                }
                for figure in document.figures.0..document.figures.1 {
                    let of = store.node::<FigureRecord>(txn, figure)?.map(|figure| figure.section);
                    links.extend(
                        (of == Some(row))
                            .then(|| one(node, Edge::Contains, (Layer::Figure, figure))),
                    );
                }
                links.push(one((Layer::Document, record.document), Edge::Contains, node));
            }
            Layer::Chunk => {
                let Some(record) = store.node::<ChunkRecord>(txn, row)? else { return Ok(links) };
                let document: DocumentRecord = store.linked(txn, record.document)?;
                links.push(one((Layer::Section, record.section), Edge::Contains, node));
                if row + 1 < document.chunks.1 {
                    links.push(one(node, Edge::Next, (Layer::Chunk, row + 1)));
                }
                if row > document.chunks.0 {
                    links.push(one((Layer::Chunk, row - 1), Edge::Next, node));
                }
                for atom in store.atoms_of(txn, row)? {
                    links.push(one((Layer::Atom, atom), Edge::DerivedFrom, node));
                }
                for fact in crate::extract::facts_of(store, txn, row)? {
                    links.push(one((Layer::Fact, fact), Edge::DerivedFrom, node));
                }
            }
            Layer::Atom => {
                let Some(record) = store.node::<AtomRecord>(txn, row)? else { return Ok(links) };
                links.push(one(node, Edge::DerivedFrom, (Layer::Chunk, record.chunk)));
            }
            Layer::Table => {
                let Some(record) = store.node::<TableRecord>(txn, row)? else { return Ok(links) };
                links.extend(contains(node, Layer::Row, record.rows));
                links
                    .extend(record.section.map(|s| one((Layer::Section, s), Edge::Contains, node)));
            }
            Layer::Row => {
                let Some(record) = store.node::<RowRecord>(txn, row)? else { return Ok(links) };
                links.push(one(node, Edge::DerivedFrom, (Layer::Chunk, record.chunk)));
                links.push(one((Layer::Table, record.table), Edge::Contains, node));
            }
            Layer::Figure => {
                let Some(record) = store.node::<FigureRecord>(txn, row)? else { return Ok(links) };
                links.push(one((Layer::Section, record.section), Edge::Contains, node));
            }
            Layer::Fact => {
                let Some(record) = store.node::<FactRecord>(txn, row)? else { return Ok(links) };
                links.push(one(node, Edge::DerivedFrom, (Layer::Chunk, record.chunk)));
            }
            Layer::Summary | Layer::Tag | Layer::Entity | Layer::Community => {}
        }
        Ok(links)
    }
}

fn one(from: At, edge: Edge, to: At) -> Link {
    Link { from, edge, to, weight: 1.0 }
}

fn contains(node: At, layer: Layer, rows: Rows) -> impl Iterator<Item = Link> {
    (rows.0..rows.1).map(move |row: Row| one(node, Edge::Contains, (layer, row)))
}
