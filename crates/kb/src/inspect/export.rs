//! A whole base as text: nodes and edges, by id. What a base holds decides every byte; in which
//! order it was built, and in which rows it stands, does not.
use std::collections::BTreeMap;
use std::io::Write;

use halma_core::{Edge, Layer, NodeId};
use serde::Serialize;

use super::Inspector;
use crate::KbError;
use crate::store::{At, Details, Id, StoreReader, node_id};

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
