//! Ties chunks, documents and sections to the entities that they name.
use std::collections::HashMap;

use halma_core::text::normalise_name;
use halma_core::{Edge, Layer};

use super::chunk_names::{ChunkLinks, Named};
use crate::store::{At, EntityRecord, Id, Link, Row, StoreReader, StoreWriter, hash};

/// An entity that was met before.
#[derive(Clone, Copy)]
struct KnownEntity {
    row: Row,
    /// Whether the name it is shown by is the one it was found by.
    is_called_so: bool,
}

/// Writes what chunks are tied to; entities that are new are put in.
#[derive(Default)]
pub(super) struct LinkWriter {
    entities: HashMap<Id, KnownEntity>,
}

impl LinkWriter {
    pub(super) fn write(
        &mut self,
        writer: &mut StoreWriter<'_>,
        mut chunk: ChunkLinks,
    ) -> heed::Result<()> {
        for (from, named) in chunk.ties() {
            self.tie(writer, from, named)?;
        }
        let Some(draft) = chunk.draft.take() else { return Ok(()) };
        let rows = draft.names.iter().map(|name| self.called(&name.key));
        let Some(rows) = rows.collect::<Option<Vec<Row>>>() else { return Ok(()) };
        let Some(mentioned) = mentioned_only_by_rule(writer, &chunk)? else { return Ok(()) };
        let (names, terms) = draft.complete(&rows, mentioned);
        writer.put_names(chunk.row, &names, &terms)
    }

    fn tie(&mut self, writer: &mut StoreWriter<'_>, from: At, named: &Named) -> heed::Result<()> {
        // In order, so that the same input hands out the same rows.
        let mut sorted: Vec<_> = named.iter().collect();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        for (key, (written, weight)) in sorted {
            let id = hash(&[key.as_bytes()]);
            let entity = match self.entities.get(&id) {
                Some(entity) => *entity,
                None => entity(writer, (id, key, written))?,
            };
            self.entities.insert(id, entity);
            let to = (Layer::Entity, entity.row);
            writer.put_edge(Link { from, edge: Edge::Mentions, to, weight: *weight })?;
        }
        Ok(())
    }

    /// The entity of this name, if it was met and is called so.
    fn called(&self, key: &str) -> Option<Row> {
        let entity = self.entities.get(&hash(&[key.as_bytes()]))?;
        entity.is_called_so.then_some(entity.row)
    }
}

/// The entities that a chunk names, with how often, ascending; `None` where it, its document or its
/// section is tied to others than those that were found by rule, which the draft does not know.
fn mentioned_only_by_rule(
    reader: &StoreReader<'_>,
    chunk: &ChunkLinks,
) -> heed::Result<Option<Vec<(Row, f32)>>> {
    let mentions = |at: At| reader.edges_from(at, Some(Edge::Mentions));
    let titles = mentions((Layer::Document, chunk.document))?.len()
        + mentions((Layer::Section, chunk.section))?.len();
    let names = mentions((Layer::Chunk, chunk.row))?;
    let as_found =
        titles == chunk.title.len() + chunk.heading.len() && names.len() == chunk.named.len();
    Ok(as_found.then(|| names.iter().map(|link| (link.to.1, link.weight)).collect()))
}

fn entity(
    writer: &mut StoreWriter<'_>,
    (id, key, written): (Id, &str, &str),
) -> heed::Result<KnownEntity> {
    if let Some(row) = writer.find(Layer::Entity, id)? {
        let record: Option<EntityRecord> = writer.node(row)?;
        let is_called_so = record.is_some_and(|record| normalise_name(&record.name) == key);
        return Ok(KnownEntity { row, is_called_so });
    }
    let row = writer.take_rows(Layer::Entity, 1)?;
    let name = written.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_called_so = normalise_name(&name) == key;
    let record = EntityRecord {
        id,
        key: key.to_owned(),
        name,
        kind: String::new(),
        description: String::new(),
        aliases: vec![],
    };
    writer.put_node(row, &record)?;
    Ok(KnownEntity { row, is_called_so })
}
