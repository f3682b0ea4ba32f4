//! One node with everything that is known about it.
use halma_core::text::composed;
use halma_core::{Edge, Hit, Layer, NodeId};
use serde::Serialize;

use super::Inspector;
use crate::names::near;
use crate::store::{At, Details, DocumentRecord, Entry, StoreReader, parse_id};
use crate::{KbError, UnknownNames};

/// A node, what it is, what was made of it, and what it is connected with.
#[derive(Debug, Clone, Serialize)]
pub struct Shown {
    #[serde(flatten)]
    pub node: Hit,
    pub details: Details,
    /// Work on it, done or not.
    pub units: Vec<Unit>,
    /// Embedders whose vector of it is held.
    pub vectors: Vec<String>,
    /// Outgoing first.
    pub edges: Vec<EdgeEnd>,
}

/// A unit of work in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unit {
    /// `atoms`, `embed`, `facts`, `tag` …
    pub task: &'static str,
    /// `done`, `pending` or `failed`.
    pub state: &'static str,
    /// Why it failed, and how often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<(String, u32)>,
}

impl Inspector<'_> {
    /// The document of a name; `None` when there is none.
    pub fn find_document(&self, name: &str) -> Result<Option<NodeId>, KbError> {
        self.base.store.read(|reader| {
            let row = match reader.named(name)? {
                None => reader.named(&composed(name))?,
                row => row,
            };
            let Some(row) = row else { return Ok(None) };
            let id = reader.id_of((Layer::Document, row))?;
            Ok(id.map(|id| crate::store::node_id(Layer::Document, id)))
        })
    }

    /// The name under which the document of a name is shown: another one for a file with the text of
    /// another; `None` when there is no document.
    pub fn shown_name(&self, name: &str) -> Result<Option<String>, KbError> {
        self.base.store.read(|reader| {
            let Some(row) = reader.named(name)? else { return Ok(None) };
            let record = reader.node::<DocumentRecord>(row)?;
            Ok(record.and_then(|record| record.names.into_iter().next()))
        })
    }

    /// The id of the document of a name, or what is an id itself, whether there is such a node or not.
    /// [`KbError::NoDocument`], with names that are near, when it is neither.
    pub fn find(&self, name: &str) -> Result<NodeId, KbError> {
        if let Some(document) = self.find_document(name)? {
            return Ok(document);
        }
        let id = NodeId(name.to_owned());
        if parse_id(&id).is_some() {
            return Ok(id);
        }
        let names = self.base.store.read(|reader| reader.document_names())?;
        let near = near(name, names.iter().map(|(name, _)| name.as_str()));
        Err(KbError::NoDocument { unknown: UnknownNames(vec![(name.to_owned(), near)]) })
    }

    /// A node with what is known about it.
    pub fn show(&self, id: &NodeId) -> Result<Shown, KbError> {
        let missing = || KbError::NoNode { id: id.0.clone() };
        let (layer, key) = parse_id(id).ok_or_else(missing)?;
        let edges = self.edges_of(id, None)?;
        let shown = self.base.store.read(|reader| {
            let Some(row) = reader.find(layer, key)? else { return Ok(None) };
            let (Some(node), Some(details)) =
                (reader.hit((layer, row))?, reader.details((layer, row))?)
            else {
                return Ok(None);
            };
            let units = Self::units(reader, (layer, row))?;
            let vectors = Self::vector_of(reader, (layer, row))?;
            Ok(Some(Shown { node, details, units, vectors, edges }))
        })?;
        shown.ok_or_else(missing)
    }

    fn units(reader: &StoreReader<'_>, at: At) -> heed::Result<Vec<Unit>> {
        let mut units = vec![];
        for entry in reader.entries_of(at)?.into_iter().filter(Entry::is_reported) {
            let failure = reader.failure(&entry)?.map(|failed| (failed.reason, failed.attempts));
            let (task, state) = (entry.key.task.name(), entry.state.name());
            units.push(Unit { task, state, failure });
        }
        Ok(units)
    }

    fn vector_of(reader: &StoreReader<'_>, (layer, row): At) -> heed::Result<Vec<String>> {
        let mut models = vec![];
        for (number, record) in (0u8..).zip(reader.embedders()?) {
            if reader.vector(number, layer, row)?.is_some() {
                models.push(record.model);
            }
        }
        Ok(models)
    }
}

/// An edge as seen from one of its ends.
#[derive(Debug, Clone, serde::Serialize)]
pub struct EdgeEnd {
    pub edge: Edge,
    /// Whether it begins at the node that was asked for.
    pub outgoing: bool,
    pub weight: f32,
    /// The other end.
    pub node: Hit,
}

impl Inspector<'_> {
    /// The edges of a node, outgoing first.
    pub fn edges_of(&self, id: &NodeId, edge: Option<Edge>) -> Result<Vec<EdgeEnd>, KbError> {
        let missing = || KbError::NoNode { id: id.0.clone() };
        let (layer, key) = parse_id(id).ok_or_else(missing)?;
        self.base
            .store
            .read(|reader| {
                let Some(row) = reader.find(layer, key)? else { return Ok(None) };
                let mut links = reader.implied_edges((layer, row))?;
                links.extend(reader.edges_from((layer, row), None)?);
                links.extend(reader.edges_to((layer, row), None)?);
                links.retain(|link| edge.is_none_or(|edge| link.edge == edge));
                links.sort_by_key(|link| link.from != (layer, row));
                let mut ends = vec![];
                for link in links {
                    let outgoing = link.from == (layer, row);
                    let (layer, row) = if outgoing { link.to } else { link.from };
                    if let Some(node) = reader.hit((layer, row))? {
                        ends.push(EdgeEnd { edge: link.edge, outgoing, weight: link.weight, node });
                    }
                }
                Ok(Some(ends))
            })?
            .ok_or_else(missing)
    }
}
