//! Nodes of a layer, a page at a time, in an order that stays.
use std::collections::{BTreeMap, BTreeSet};

use halma_core::{Edge, Hit, Layer, Metadata, NodeId, Span};
use serde::Serialize;

use super::Inspector;
use crate::KbError;
use crate::names::fits;
use crate::store::{At, DocumentRecord, Row, StoreReader, TableRecord, parse_id};

/// At most this many bytes of a document's or section's text are in a list.
const SHOWN: usize = 1000;

/// Which nodes to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    pub layer: Layer,
    /// Only what belongs to documents whose name fits; `*` stands for anything. Of entities, tags
    /// and communities, those that the documents name.
    pub document: Option<String>,
    /// Starts after this node, the last one of the page before.
    pub after: Option<NodeId>,
    pub limit: usize,
}

/// A node in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedNode {
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
    /// The fields that a user gave to it.
    pub metadata: Metadata,
    pub parts: BTreeMap<Layer, u64>,
    /// `done`, `pending`, `failed`.
    pub units: BTreeMap<&'static str, u64>,
}

/// A document under the name by which it is listed.
struct NamedDocument {
    name: String,
    row: Row,
    record: DocumentRecord,
}

impl Inspector<'_> {
    /// Nodes of a layer by the name of their document and their place in it; what belongs to no
    /// single document by title and id. [`KbError::NoNode`] when `after` is gone.
    pub fn list(&self, query: &ListQuery) -> Result<Vec<ListedNode>, KbError> {
        let missing = |id: &NodeId| KbError::NoNode { id: id.0.clone() };
        let after = match &query.after {
            Some(id) => match parse_id(id).filter(|(layer, _)| *layer == query.layer) {
                Some((_, key)) => Some((id, key)),
                None => return Err(missing(id)),
            },
            None => None,
        };
        let listed = self.base.store.read(|reader| {
            let mut rows = Self::in_order(reader, query)?;
            if let Some((id, key)) = after {
                let row = reader.find(query.layer, key)?;
                let Some(at) = rows.iter().position(|other| Some(*other) == row) else {
                    return Ok(Err(id));
                };
                rows.drain(..=at);
            }
            let mut listed = vec![];
            for row in rows.into_iter().take(query.limit) {
                listed.extend(Self::listed(reader, (query.layer, row))?);
            }
            Ok(Ok(listed))
        })?;
        listed.map_err(missing)
    }

    /// Documents in the order of their names, from the first one after a name on, until `visit`
    /// returns false. The name need not be that of a document any more, and every document is
    /// looked at once, however many are visited.
    pub fn visit_documents(
        &self,
        pattern: Option<&str>,
        after: Option<&str>,
        visit: &mut dyn FnMut(ListedNode) -> bool,
    ) -> Result<(), KbError> {
        self.base.store.read(|reader| {
            for NamedDocument { name, row, .. } in Self::documents(reader, pattern)? {
                if after.is_some_and(|after| name.as_str() <= after) {
                    continue;
                }
                let listed = Self::listed(reader, (Layer::Document, row))?;
                // Listed under the name that it was found by.
                let named = listed.map(|listed| ListedNode { document: name, ..listed });
                if !named.is_none_or(&mut *visit) {
                    break;
                }
            }
            Ok(())
        })
    }

    /// The documents that have a fitting name, by name.
    fn documents(
        reader: &StoreReader<'_>,
        pattern: Option<&str>,
    ) -> heed::Result<Vec<NamedDocument>> {
        let mut documents: Vec<NamedDocument> = vec![];
        for node in reader.nodes::<DocumentRecord>()? {
            let (row, record) = node?;
            let fitting = match pattern {
                Some(pattern) => record.names.iter().find(|name| fits(pattern, name)),
                None => record.names.first(),
            };
            if let Some(name) = fitting {
                documents.push(NamedDocument { name: name.clone(), row, record });
            }
        }
        documents.sort_by(|a, b| (&a.name, a.row).cmp(&(&b.name, b.row)));
        Ok(documents)
    }

    fn in_order(reader: &StoreReader<'_>, query: &ListQuery) -> heed::Result<Vec<Row>> {
        let documents = Self::documents(reader, query.document.as_deref())?;
        if matches!(query.layer, Layer::Tag | Layer::Entity | Layer::Community) {
            return Self::shared_rows(reader, query, &documents);
        }
        let mut rows = vec![];
        for NamedDocument { row, record, .. } in &documents {
            rows.extend(record.parts(reader, *row, query.layer)?);
        }
        if query.document.is_none() {
            Self::fact_tables(reader, query.layer, &mut rows)?;
        }
        Ok(rows)
    }

    /// Tables made from facts, after those of documents.
    fn fact_tables(
        reader: &StoreReader<'_>,
        layer: Layer,
        rows: &mut Vec<Row>,
    ) -> heed::Result<()> {
        if layer != Layer::Table {
            return Ok(());
        }
        let mut made = vec![];
        for node in reader.nodes::<TableRecord>()? {
            let (row, table) = node?;
            if table.document.is_none() {
                made.push((table.relation, table.id, row));
            }
        }
        made.sort();
        rows.extend(made.into_iter().map(|(_, _, row)| row));
        Ok(())
    }

    /// Entities, tags and communities by title and id.
    fn shared_rows(
        reader: &StoreReader<'_>,
        query: &ListQuery,
        documents: &[NamedDocument],
    ) -> heed::Result<Vec<Row>> {
        let layer = query.layer;
        let rows: BTreeSet<Row> = if query.document.is_some() {
            Self::named_by(reader, layer, documents)?
        } else {
            reader.all_rows(layer)?.into_iter().collect()
        };
        let mut order = vec![];
        for row in rows {
            if let Some(hit) = reader.hit((layer, row))? {
                order.push((hit.title, hit.id, row));
            }
        }
        order.sort();
        Ok(order.into_iter().map(|(_, _, row)| row).collect())
    }

    /// What the chunks and atoms of documents lead to; of communities, those of its entities.
    fn named_by(
        reader: &StoreReader<'_>,
        layer: Layer,
        documents: &[NamedDocument],
    ) -> heed::Result<BTreeSet<Row>> {
        let mut open: Vec<At> = vec![];
        for NamedDocument { record, .. } in documents {
            for chunk in record.chunks.0..record.chunks.1 {
                open.push((Layer::Chunk, chunk));
                open.extend(reader.atoms_of(chunk)?.map(|atom| (Layer::Atom, atom)));
            }
        }
        let mut rows = BTreeSet::new();
        let mut seen = BTreeSet::new();
        while let Some(at) = open.pop() {
            for link in reader.edges_from(at, None)? {
                if link.to.0 == layer {
                    rows.insert(link.to.1);
                }
                let follows = matches!(link.edge, Edge::Mentions | Edge::MemberOf);
                if layer == Layer::Community && follows && seen.insert(link.to) {
                    open.push(link.to);
                }
            }
        }
        Ok(rows)
    }

    fn listed(reader: &StoreReader<'_>, (layer, row): At) -> heed::Result<Option<ListedNode>> {
        let document = match layer {
            Layer::Document => reader.node::<DocumentRecord>(row)?,
            _ => None,
        };
        // Of a document no more than the beginning is read.
        let hit = match &document {
            Some(record) => Some(record.head(reader, row, SHOWN)?),
            None => reader.hit((layer, row))?,
        };
        let about = match &document {
            Some(record) => Some(about(reader, row, record)?),
            None => None,
        };
        let Some(hit) = hit else { return Ok(None) };
        let Hit { id, title, mut text, document, section, page, span, .. } = hit;
        if layer == Layer::Section {
            text.truncate(text.floor_char_boundary(SHOWN));
        }
        Ok(Some(ListedNode { id, layer, title, text, document, section, page, span, about }))
    }
}

fn about(
    reader: &StoreReader<'_>,
    row: Row,
    record: &DocumentRecord,
) -> heed::Result<ListedDocument> {
    let mut units = BTreeMap::new();
    for chunk in record.chunks.0..record.chunks.1 {
        for entry in reader.entries_of((Layer::Chunk, chunk))? {
            if entry.is_reported() {
                *units.entry(entry.state.name()).or_default() += 1;
            }
        }
    }
    let (format, parts) = (record.format.clone(), record.part_counts(reader, row)?);
    let metadata = record.metadata_of(0);
    Ok(ListedDocument { format, metadata, parts, units })
}
