//! Nodes of a layer, a page at a time, in an order that stays.
use std::collections::{BTreeMap, BTreeSet};

use halma_core::{Edge, Hit, Layer, NodeId, Span};
use serde::Serialize;

use super::details::Details;
use super::show::name;
use crate::names::fits;
use crate::store::{At, DocumentRecord, Reading, Row, TableRecord, node_id, parse_id};
use crate::{Base, KbError};

/// At most so many bytes of a document's or section's text are in a list.
const SHOWN: usize = 1000;

/// Which nodes to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    pub layer: Layer,
    /// Only what belongs to documents whose name fits; `*` stands for anything. Of entities, tags
    /// and communities, those that the documents name.
    pub document: Option<String>,
    /// Begins behind this node, the last one of the page before.
    pub after: Option<NodeId>,
    pub limit: usize,
}

/// A node in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    pub id: NodeId,
    pub layer: Layer,
    pub title: String,
    /// Of documents and sections the beginning.
    pub text: String,
    /// Empty for what belongs to several.
    pub document: String,
    pub section: Option<String>,
    pub page: Option<u32>,
    pub span: Span,
    /// For documents: its format, what it is made of, and the states of its chunks' units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<ListedDocument>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedDocument {
    pub format: String,
    pub parts: BTreeMap<Layer, u64>,
    /// `done`, `pending`, `failed`.
    pub units: BTreeMap<&'static str, u64>,
}

impl Base {
    /// Nodes of a layer by the name of their document and their place in it; what belongs to no
    /// single document by title and id. [`KbError::NoNode`] when `after` is gone.
    pub fn list(&self, query: &ListQuery) -> Result<Vec<Listed>, KbError> {
        let missing = |id: &NodeId| KbError::NoNode { id: id.0.clone() };
        let after = match &query.after {
            Some(id) => match parse_id(id).filter(|(layer, _)| *layer == query.layer) {
                Some((_, key)) => Some((id, key)),
                None => return Err(missing(id)),
            },
            None => None,
        };
        let listed = self.store.read(|txn| {
            let mut rows = self.in_order(txn, query)?;
            if let Some((id, key)) = after {
                let row = self.store.find(txn, query.layer, key)?;
                let Some(at) = rows.iter().position(|known| Some(*known) == row) else {
                    return Ok(Err(id));
                };
                rows.drain(..=at);
            }
            let mut listed = vec![];
            for row in rows.into_iter().take(query.limit) {
                listed.extend(self.listed(txn, (query.layer, row))?);
            }
            Ok(Ok(listed))
        })?;
        listed.map_err(missing)
    }

    fn in_order(&self, txn: &Reading<'_>, query: &ListQuery) -> heed::Result<Vec<Row>> {
        let mut documents: Vec<(String, Row, DocumentRecord)> = vec![];
        for row in self.store.rows(txn, Layer::Document, 0, usize::MAX)? {
            let record: DocumentRecord = self.store.linked(txn, row)?;
            let fitting = match &query.document {
                Some(pattern) => record.names.iter().find(|name| fits(pattern, name)),
                None => record.names.first(),
            };
            if let Some(name) = fitting {
                documents.push((name.clone(), row, record));
            }
        }
        documents.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        if matches!(query.layer, Layer::Tag | Layer::Entity | Layer::Community) {
            return self.shared(txn, query, &documents);
        }
        let mut rows = vec![];
        for (_, row, record) in &documents {
            self.parts(txn, (query.layer, *row), record, &mut rows)?;
        }
        if query.document.is_none() {
            self.made(txn, query.layer, &mut rows)?;
        }
        Ok(rows)
    }

    /// The parts of a document that are of one layer, in the order of their places.
    fn parts(
        &self,
        txn: &Reading<'_>,
        (layer, document): At,
        record: &DocumentRecord,
        rows: &mut Vec<Row>,
    ) -> heed::Result<()> {
        match layer {
            Layer::Document => rows.push(document),
            Layer::Section => rows.extend(record.sections.0..record.sections.1),
            Layer::Chunk => rows.extend(record.chunks.0..record.chunks.1),
            Layer::Table => rows.extend(record.tables.0..record.tables.1),
            Layer::Figure => rows.extend(record.figures.0..record.figures.1),
            Layer::Atom => {
                for chunk in record.chunks.0..record.chunks.1 {
                    rows.extend(self.store.atoms_of(txn, chunk)?);
                }
            }
            Layer::Summary => rows.extend(self.under(txn, (Layer::Document, document), layer)?),
            _ => {
                for chunk in record.chunks.0..record.chunks.1 {
                    rows.extend(self.under(txn, (Layer::Chunk, chunk), layer)?);
                }
            }
        }
        Ok(())
    }

    fn under(&self, txn: &Reading<'_>, owner: At, layer: Layer) -> heed::Result<Vec<Row>> {
        let listed = self.store.listed_under(txn, owner)?;
        Ok(listed.into_iter().filter(|at| at.0 == layer).map(|at| at.1).collect())
    }

    /// Tables made from facts, behind those of documents.
    fn made(&self, txn: &Reading<'_>, layer: Layer, rows: &mut Vec<Row>) -> heed::Result<()> {
        if layer != Layer::Table {
            return Ok(());
        }
        let mut made = vec![];
        for row in self.store.rows(txn, layer, 0, usize::MAX)? {
            let table: TableRecord = self.store.linked(txn, row)?;
            if table.document.is_none() {
                made.push((table.relation, table.id, row));
            }
        }
        made.sort();
        rows.extend(made.into_iter().map(|(_, _, row)| row));
        Ok(())
    }

    /// Entities, tags and communities by title and id.
    fn shared(
        &self,
        txn: &Reading<'_>,
        query: &ListQuery,
        documents: &[(String, Row, DocumentRecord)],
    ) -> heed::Result<Vec<Row>> {
        let layer = query.layer;
        let rows: BTreeSet<Row> = if query.document.is_some() {
            self.named_by(txn, layer, documents)?
        } else {
            self.store.rows(txn, layer, 0, usize::MAX)?.into_iter().collect()
        };
        let mut order = vec![];
        for row in rows {
            if let Some(hit) = self.resolve(txn, layer, row)? {
                order.push((hit.title, hit.id, row));
            }
        }
        order.sort();
        Ok(order.into_iter().map(|(_, _, row)| row).collect())
    }

    /// What the chunks and atoms of documents lead to; of communities, those of its entities.
    fn named_by(
        &self,
        txn: &Reading<'_>,
        layer: Layer,
        documents: &[(String, Row, DocumentRecord)],
    ) -> heed::Result<BTreeSet<Row>> {
        let mut open: Vec<At> = vec![];
        for (_, _, record) in documents {
            for chunk in record.chunks.0..record.chunks.1 {
                open.push((Layer::Chunk, chunk));
                open.extend(self.store.atoms_of(txn, chunk)?.map(|atom| (Layer::Atom, atom)));
            }
        }
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        while let Some(at) = open.pop() {
            for link in self.store.edges_from(txn, at, None)? {
                if link.to.0 == layer {
                    found.insert(link.to.1);
                }
                let follows = matches!(link.edge, Edge::Mentions | Edge::MemberOf);
                if layer == Layer::Community && follows && seen.insert(link.to) {
                    open.push(link.to);
                }
            }
        }
        Ok(found)
    }

    fn listed(&self, txn: &Reading<'_>, (layer, row): At) -> heed::Result<Option<Listed>> {
        let about = match layer {
            Layer::Document => self.about(txn, row)?,
            _ => None,
        };
        let Some(hit) = self.head(txn, (layer, row))? else { return Ok(None) };
        let Hit { id, title, mut text, document, section, page, span, .. } = hit;
        if matches!(layer, Layer::Document | Layer::Section) {
            text.truncate(text.floor_char_boundary(SHOWN));
        }
        Ok(Some(Listed { id, layer, title, text, document, section, page, span, about }))
    }

    /// A node as a hit; of a document no more than the beginning is read.
    fn head(&self, txn: &Reading<'_>, (layer, row): At) -> heed::Result<Option<Hit>> {
        if layer != Layer::Document {
            return self.resolve(txn, layer, row);
        }
        let Some(record) = self.store.node::<DocumentRecord>(txn, row)? else { return Ok(None) };
        let text = self.store.beginning(txn, row, SHOWN)?;
        let name = record.names.first().cloned().unwrap_or_default();
        Ok(Some(Hit {
            id: node_id(layer, record.id),
            layer,
            parent: None,
            title: if record.title.is_empty() { name.clone() } else { record.title },
            document: name,
            section: None,
            page: None,
            text,
            score: 0.0,
            cosine: None,
            parts: vec![],
            span: Span::default(),
        }))
    }

    fn about(&self, txn: &Reading<'_>, row: Row) -> heed::Result<Option<ListedDocument>> {
        let details = self.details(txn, (Layer::Document, row))?;
        let Some(Details::Document { format, parts, .. }) = details else { return Ok(None) };
        let record: DocumentRecord = self.store.linked(txn, row)?;
        let mut units = BTreeMap::new();
        for chunk in record.chunks.0..record.chunks.1 {
            if let Some(unit) = self.store.unit(txn, chunk)? {
                *units.entry(name(&unit.state)).or_default() += 1;
            }
        }
        Ok(Some(ListedDocument { format, parts, units }))
    }
}
