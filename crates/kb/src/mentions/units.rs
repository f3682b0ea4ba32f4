//! What activation is passed through: the sentences of a chunk, whatever its atoms are. A question
//! leaves out the very name that it asks for, so it cannot stand for its sentence.
use halma_core::Layer;
use halma_core::text::{count_name, normalise_name};

use super::record::ChunkSource;
use crate::Atoms;
use crate::cut::AtomSource;
use crate::store::{At, AtomRecord, Row, StoreReader, Unit, UnitNode, atoms_input, atoms_key};

/// Sentences of one chunk beyond which no name is passed on.
const MAX_SENTENCES: usize = 64;

/// An entity that a chunk names or stands under.
pub(super) struct NamedEntity {
    pub(super) row: Row,
    /// Its normalised name.
    pub(super) key: String,
    /// Whether the chunk stands under it, so that every sentence is about it.
    pub(super) is_title: bool,
}

/// A unit of these nodes, with the entities that its text names.
fn unit(nodes: Vec<At>, text: &str, entities: &[NamedEntity]) -> Unit {
    let text = normalise_name(text);
    let occurs = |entity: &&NamedEntity| entity.is_title || count_name(&entity.key, &text) > 0;
    let named = entities.iter().filter(occurs);
    let nodes = nodes.into_iter().map(UnitNode::new).collect();
    Unit { nodes, entities: named.map(|entity| entity.row).collect() }
}

/// The atoms of a chunk with their rows.
fn atoms_of(reader: &StoreReader<'_>, chunk: Row) -> heed::Result<Vec<(Row, AtomRecord)>> {
    let mut atoms = vec![];
    for atom in reader.atoms_of(chunk)? {
        atoms.extend(reader.node::<AtomRecord>(atom)?.map(|record| (atom, record)));
    }
    Ok(atoms)
}

/// The sentences of a chunk with those of its entities that each names.
pub(super) fn units(
    reader: &StoreReader<'_>,
    source: &ChunkSource,
    entities: &[NamedEntity],
) -> heed::Result<Vec<Unit>> {
    let (row, chunk) = (source.row, &source.record);
    let atoms = atoms_of(reader, row)?;
    let unit = |nodes: Vec<At>, text: &str| unit(nodes, text, entities);
    let are_sentences = reader.is_done(atoms_key(row), atoms_input(Atoms::Sentences))?;
    let mut units = vec![];
    // Where the last atom that is a sentence ends.
    let mut last = None;
    if are_sentences && !atoms.is_empty() {
        let atom = |(at, atom): &(Row, AtomRecord)| unit(vec![(Layer::Atom, *at)], &atom.text);
        units.extend(atoms.iter().map(atom));
        last = atoms.iter().map(|(_, atom)| atom.end).max();
        // A chunk may have more sentences than atoms.
        if last.is_none_or(|end| end >= chunk.place.chars.1) {
            return Ok(units);
        }
    }
    let (title, text) = (source.document.title.clone(), source.text.clone());
    let (place, verbatim) = (chunk.place, chunk.text.is_none());
    let source = AtomSource { title, text, place, verbatim };
    for sentence in source.sentence_atoms(MAX_SENTENCES) {
        if last.is_some_and(|end| sentence.span.0 < end) {
            continue;
        }
        // A question about no sentence in particular points at the whole chunk.
        let is_about = |atom: &AtomRecord| {
            let whole = (atom.start, atom.end) == place.chars && sentence.span != place.chars;
            !whole && atom.start < sentence.span.1 && sentence.span.0 < atom.end
        };
        let about = atoms.iter().filter(|(_, atom)| is_about(atom));
        let mut nodes: Vec<At> = about.map(|(at, _)| (Layer::Atom, *at)).collect();
        if nodes.is_empty() {
            nodes.push((Layer::Chunk, row));
        }
        units.push(unit(nodes, &sentence.text));
    }
    if units.is_empty() {
        units.push(unit(vec![(Layer::Chunk, row)], &source.text));
    }
    Ok(units)
}
