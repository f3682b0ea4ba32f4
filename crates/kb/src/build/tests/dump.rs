//! Everything a base holds as text, without rows: equal content, equal dump.
use halma_core::Layer;

use crate::Base;
use crate::store::{
    At, AtomRecord, ChunkRecord, DocumentRecord, Id, Reading, Row, SectionRecord, Store,
};

pub(super) fn dump(base: &Base) -> String {
    let store = &base.store;
    let mut lines = store
        .read(|txn| {
            let mut lines = vec![];
            for layer in [Layer::Document, Layer::Section, Layer::Chunk, Layer::Atom] {
                for row in store.rows(txn, layer, 0, usize::MAX)? {
                    lines.push(node((store, txn), (layer, row))?);
                    lines.extend(vector((store, txn), (layer, row))?);
                }
            }
            let mut edges = vec![];
            store.each_edge(txn, |link| edges.push(link))?;
            for link in edges {
                let (from, to) = (id(store, txn, link.from)?, id(store, txn, link.to)?);
                let (edge, weight) = (link.edge, link.weight);
                lines.push(format!("edge {from:016x} {edge:?} {to:016x} {weight}"));
            }
            let ledger = store.ledger_counts(txn)?;
            let waiting = store.awaiting_vector(txn)?.len();
            lines.push(format!("{ledger:?} {waiting} texts wait for a vector"));
            Ok(lines)
        })
        .unwrap();
    lines.sort();
    lines.join("\n")
}

fn node((store, txn): (&Store, &Reading<'_>), (layer, row): At) -> heed::Result<String> {
    Ok(match layer {
        Layer::Document => {
            let DocumentRecord { id, names, title, cut_with, .. } = store.linked(txn, row)?;
            let text = txn.slice(row, (0, txn.text_bytes(row)?))?;
            assert_eq!(store.find(txn, layer, id)?, Some(row));
            for name in &names {
                assert_eq!(store.named(txn, name)?, Some(row));
            }
            format!("document {id:016x} {names:?} {title:?} {cut_with} {text:?}")
        }
        Layer::Section => {
            let section: SectionRecord = store.linked(txn, row)?;
            let SectionRecord { id, document, name, indexed, place, level, .. } = section;
            let document = self::id(store, txn, (Layer::Document, document))?;
            assert_eq!(store.find(txn, layer, id)?, Some(row));
            format!("section {id:016x} of {document:016x} {name:?} {indexed} {level} {place:?}")
        }
        Layer::Chunk => {
            let chunk: ChunkRecord = store.linked(txn, row)?;
            let text = store.chunk_text(txn, &chunk)?;
            let ChunkRecord { id, section, place, summary, .. } = chunk;
            let section = self::id(store, txn, (Layer::Section, section))?;
            let unit = store.unit(txn, row)?.map(|unit| (unit.atoms, unit.state));
            let done = match unit {
                Some((atoms, crate::store::State::Done((first, end)))) => {
                    format!("{atoms:?} {}", end - first)
                }
                other => format!("{other:?}"),
            };
            assert_eq!(store.find(txn, layer, id)?, Some(row));
            format!("chunk {id:016x} of {section:016x} {place:?} {done} {summary:?} {text:?}")
        }
        _ => {
            let AtomRecord { id, chunk, start, end, text } = store.linked(txn, row)?;
            assert_eq!(store.find(txn, layer, id)?, Some(row));
            assert!(store.atoms_of(txn, chunk)?.contains(&row), "{text} is of another chunk");
            let chunk = self::id(store, txn, (Layer::Chunk, chunk))?;
            format!("atom {id:016x} of {chunk:016x} {start}..{end} {text:?}")
        }
    })
}

fn vector(
    (store, txn): (&Store, &Reading<'_>),
    (layer, row): (Layer, Row),
) -> heed::Result<Vec<String>> {
    let id = id(store, txn, (layer, row))?;
    let mut lines = vec![];
    for (number, embedder) in (0..).zip(txn.embedders()?) {
        let Some(vector) = txn.vector(number, layer, row)? else { continue };
        let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
        let hash = blake3::hash(&bytes).to_hex();
        lines.push(format!("vector {id:016x} {} {hash}", embedder.model));
    }
    Ok(lines)
}

/// The id of a node; edges of the tests lead between these layers and entities.
fn id(store: &Store, txn: &Reading<'_>, (layer, row): At) -> heed::Result<Id> {
    Ok(match layer {
        Layer::Document => store.linked::<DocumentRecord>(txn, row)?.id,
        Layer::Section => store.linked::<SectionRecord>(txn, row)?.id,
        Layer::Chunk => store.linked::<ChunkRecord>(txn, row)?.id,
        Layer::Atom => store.linked::<AtomRecord>(txn, row)?.id,
        Layer::Entity => store.linked::<crate::store::EntityRecord>(txn, row)?.id,
        other => unreachable!("no test has edges of {other:?}"),
    })
}
