//! A whole base as text: nodes and edges, by id. What a base holds decides every byte; in which
//! order it was built, and in which rows it stands, does not.
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use halma_core::{Edge, ExtractedEntity, ExtractedFact, ExtractedGraph, Layer, NodeId};
use serde::Serialize;

use super::Inspector;
use crate::KbError;
use crate::store::{At, Details, EntityRecord, FactRecord, Id, Row, StoreReader, node_id};

#[derive(Debug, Serialize)]
struct NodeLine {
    node: NodeId,
    layer: Layer,
    title: String,
    document: String,
    section: Option<String>,
    page: Option<u32>,
    span: (usize, usize),
    text: String,
    details: Details,
    /// Embedder → hash of its vector.
    vectors: BTreeMap<String, String>,
}

#[derive(Debug, Serialize)]
struct EdgeLine {
    edge: &'static str,
    from: NodeId,
    to: NodeId,
    weight: f32,
}

impl Inspector<'_> {
    /// Writes all nodes and all edges, those included that follow from the records (contains, next,
    /// derived from), sorted by id: a JSON object on each line, `{"node": …}` for every node, then
    /// `{"edge": …}` for every edge.
    pub fn export(&self, into: &mut dyn Write) -> Result<(), KbError> {
        let written = self.base.store.read(|reader| Ok(Self::export_lines(reader, into)))?;
        written.map_err(|failed| match failed {
            ExportFailure::Store(source) => KbError::of_store(&self.base.dir, source),
            ExportFailure::Output(source) => KbError::io("the export", "write", source),
        })
    }

    fn export_lines(reader: &StoreReader<'_>, into: &mut dyn Write) -> Result<(), ExportFailure> {
        Self::each_node(reader, &mut |node| write_line(into, &node))?;
        Self::each_edge_line(reader, &mut |edge| write_line(into, &edge))
    }

    fn each_node(
        reader: &StoreReader<'_>,
        each: &mut dyn FnMut(NodeLine) -> Result<(), ExportFailure>,
    ) -> Result<(), ExportFailure> {
        for (id, at) in Self::nodes_by_id(reader)? {
            let (layer, row) = at;
            let (Some(hit), Some(details)) = (reader.hit((layer, row))?, reader.details(at)?)
            else {
                continue;
            };
            let mut vectors = BTreeMap::new();
            for (number, record) in (0u8..).zip(reader.embedders()?) {
                if let Some(vector) = reader.vector(number, layer, row)? {
                    let mut hasher = blake3::Hasher::new();
                    for x in vector {
                        hasher.update(&x.to_le_bytes());
                    }
                    vectors.insert(record.model, hasher.finalize().to_hex()[..16].to_owned());
                }
            }
            each(NodeLine {
                node: node_id(layer, id),
                layer,
                title: hit.title,
                document: hit.document,
                section: hit.section,
                page: hit.page,
                span: (hit.span.start, hit.span.end),
                text: hit.text,
                details,
                vectors,
            })?;
        }
        Ok(())
    }

    fn nodes_by_id(reader: &StoreReader<'_>) -> heed::Result<Vec<(Id, At)>> {
        let mut nodes = vec![];
        reader.each_id(|id, at| {
            nodes.push((id, at));
            Ok(())
        })?;
        Ok(nodes)
    }

    /// Edges by where they begin, then by kind and by where they lead.
    fn each_edge_line(
        reader: &StoreReader<'_>,
        each: &mut dyn FnMut(EdgeLine) -> Result<(), ExportFailure>,
    ) -> Result<(), ExportFailure> {
        for (id, at) in Self::nodes_by_id(reader)? {
            let mut links = reader.implied_edges(at)?;
            links.retain(|link| link.from == at);
            links.extend(reader.edges_from(at, None)?);
            let mut out: Vec<(Edge, Layer, Id, f32)> = vec![];
            for link in links {
                if let Some(to) = reader.id_of(link.to)? {
                    out.push((link.edge, link.to.0, to, link.weight));
                }
            }
            out.sort_by_key(|link| (link.0, link.1, link.2));
            for (edge, layer, to, weight) in out {
                let (from, to) = (node_id(at.0, id), node_id(layer, to));
                each(EdgeLine { edge: edge.name(), from, to, weight })?;
            }
        }
        Ok(())
    }
}

fn write_line(into: &mut dyn Write, line: &impl Serialize) -> Result<(), ExportFailure> {
    serde_json::to_writer(&mut *into, line).map_err(std::io::Error::from)?;
    Ok(into.write_all(b"\n")?)
}

/// Why an export ended.
enum ExportFailure {
    Store(heed::Error),
    Output(std::io::Error),
}

impl From<heed::Error> for ExportFailure {
    fn from(e: heed::Error) -> Self {
        Self::Store(e)
    }
}

impl From<std::io::Error> for ExportFailure {
    fn from(e: std::io::Error) -> Self {
        Self::Output(e)
    }
}

impl Inspector<'_> {
    /// How many facts were extracted from the documents.
    pub fn count_facts(&self) -> Result<u64, KbError> {
        self.base.store.read(|reader| reader.count(Layer::Fact))
    }

    /// All facts and their entities, each by id; `None` when the base still is what it was at the
    /// generation `seen`.
    pub fn facts(&self, seen: Option<u64>) -> Result<Option<ExtractedGraph>, KbError> {
        self.base.store.read(|reader| {
            let generation = reader.generation()?;
            if seen == Some(generation) {
                return Ok(None);
            }
            let records = reader.all_facts()?;
            let rows: BTreeSet<Row> =
                records.iter().flat_map(|(_, fact)| [fact.head, fact.tail]).collect();
            let mut entities = vec![];
            for row in rows {
                let record: EntityRecord = reader.linked(row)?;
                let EntityRecord { id, name, aliases, kind, description, .. } = record;
                let id = node_id(Layer::Entity, id);
                entities.push((row, ExtractedEntity { id, name, aliases, kind, description }));
            }
            let named = |row: Row| {
                let at = entities.binary_search_by_key(&row, |(row, _)| *row);
                at.map(|at| entities[at].1.id.clone()).expect("its row was read above")
            };
            let fact = |(_, fact): (Row, FactRecord)| {
                let (head, tail) = (named(fact.head), named(fact.tail));
                ExtractedFact {
                    id: node_id(Layer::Fact, fact.id),
                    head,
                    relation: fact.relation,
                    tail,
                }
            };
            let facts = records.into_iter().map(fact).collect();
            let entities = entities.into_iter().map(|(_, entity)| entity).collect();
            Ok(Some(ExtractedGraph { generation, entities, facts }))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::base::sample_base;

    #[test]
    fn facts_come_with_their_ends_unless_nothing_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let base = sample_base::create(dir.path(), "mark");
        let graph = base.inspector().facts(None).unwrap().unwrap();
        assert_eq!((graph.facts.len(), graph.entities.len()), (3, 3));
        let has = |id| graph.entities.iter().any(|entity| entity.id == id);
        assert!(graph.facts.iter().all(|fact| has(fact.head.clone()) && has(fact.tail.clone())));
        assert!(graph.facts.windows(2).all(|pair| pair[0].id < pair[1].id));
        assert_eq!(base.inspector().facts(Some(graph.generation)).unwrap(), None);
        base.delete(&["one*".to_owned()]).unwrap();
        let left = base.inspector().facts(Some(graph.generation)).unwrap().unwrap();
        assert_eq!(left.facts.len(), 1);
    }
}
