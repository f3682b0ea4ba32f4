//! Tests of the build that look inside the base.
#[path = "../../../tests/all/common/mod.rs"]
mod common;
// Each says that it is for tests only, which is how `xtask tidy` knows.
#[cfg(test)]
mod crash;
#[cfg(test)]
mod incremental;
#[cfg(test)]
mod metadata;
#[cfg(test)]
mod scale;
#[cfg(test)]
mod shared;
#[cfg(test)]
mod unread;
#[cfg(test)]
mod update;
#[cfg(test)]
mod write_lease;

use halma_core::Layer;

use crate::Base;
use crate::store::{
    At, AtomRecord, ChunkRecord, DocumentRecord, Id, Row, SectionRecord, StoreReader, Task,
    atoms_key,
};

/// Everything a base holds as text, without rows: equal content, equal dump.
fn dump(base: &Base) -> String {
    let store = &base.store;
    let mut lines = store
        .read(|reader| {
            let mut lines = vec![];
            for layer in [Layer::Document, Layer::Section, Layer::Chunk, Layer::Atom] {
                for row in reader.all_rows(layer)? {
                    lines.push(node(reader, (layer, row))?);
                    lines.extend(vector(reader, (layer, row))?);
                }
            }
            let mut edges = vec![];
            reader.each_edge(|link| edges.push(link))?;
            for link in edges {
                let (from, to) = (id(reader, link.from)?, id(reader, link.to)?);
                let (edge, weight) = (link.edge, link.weight);
                lines.push(format!("edge {from:016x} {edge:?} {to:016x} {weight}"));
            }
            let (atoms, vectors) =
                (reader.unit_counts(Task::Atoms)?, reader.unit_counts(Task::Embed)?);
            let waiting = reader.awaiting_vector()?.len();
            lines.push(format!("{atoms:?} {vectors:?} {waiting} texts wait for a vector"));
            Ok(lines)
        })
        .unwrap();
    lines.sort();
    lines.join("\n")
}

fn node(reader: &StoreReader<'_>, (layer, row): At) -> heed::Result<String> {
    Ok(match layer {
        Layer::Document => {
            let DocumentRecord { id, names, title, cut_with, .. } = reader.linked(row)?;
            let text = reader.slice(row, (0, reader.text_bytes(row)?))?;
            assert_eq!(reader.find(layer, id)?, Some(row));
            for name in &names {
                assert_eq!(reader.named(name)?, Some(row));
            }
            format!("document {id:016x} {names:?} {title:?} {cut_with} {text:?}")
        }
        Layer::Section => {
            let section: SectionRecord = reader.linked(row)?;
            let SectionRecord { id, document, name, indexed, place, level, .. } = section;
            let document = self::id(reader, (Layer::Document, document))?;
            assert_eq!(reader.find(layer, id)?, Some(row));
            format!("section {id:016x} of {document:016x} {name:?} {indexed} {level} {place:?}")
        }
        Layer::Chunk => {
            let chunk: ChunkRecord = reader.linked(row)?;
            let text = reader.chunk_text(&chunk)?;
            let ChunkRecord { id, section, place, summary, .. } = chunk;
            let section = self::id(reader, (Layer::Section, section))?;
            let unit = reader.entry(atoms_key(row))?.unwrap();
            let done = format!("{:?} {} {}", unit.state, unit.input, reader.atoms_of(row)?.len());
            assert_eq!(reader.find(layer, id)?, Some(row));
            format!("chunk {id:016x} of {section:016x} {place:?} {done} {summary:?} {text:?}")
        }
        _ => {
            let AtomRecord { id, chunk, start, end, text, .. } = reader.linked(row)?;
            assert_eq!(reader.find(layer, id)?, Some(row));
            assert!(reader.atoms_of(chunk)?.contains(&row), "{text} is of another chunk");
            let chunk = self::id(reader, (Layer::Chunk, chunk))?;
            format!("atom {id:016x} of {chunk:016x} {start}..{end} {text:?}")
        }
    })
}

fn vector(reader: &StoreReader<'_>, (layer, row): (Layer, Row)) -> heed::Result<Vec<String>> {
    let id = id(reader, (layer, row))?;
    let mut lines = vec![];
    for (number, embedder) in (0..).zip(reader.embedders()?) {
        let Some(vector) = reader.vector(number, layer, row)? else { continue };
        let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
        let hash = blake3::hash(&bytes).to_hex();
        lines.push(format!("vector {id:016x} {} {hash}", embedder.model));
    }
    Ok(lines)
}

/// The id of a node; edges of the tests lead between these layers and entities.
fn id(reader: &StoreReader<'_>, (layer, row): At) -> heed::Result<Id> {
    Ok(match layer {
        Layer::Document => reader.linked::<DocumentRecord>(row)?.id,
        Layer::Section => reader.linked::<SectionRecord>(row)?.id,
        Layer::Chunk => reader.linked::<ChunkRecord>(row)?.id,
        Layer::Atom => reader.linked::<AtomRecord>(row)?.id,
        Layer::Entity => reader.linked::<crate::store::EntityRecord>(row)?.id,
        other => unreachable!("no test has edges of {other:?}"),
    })
}
