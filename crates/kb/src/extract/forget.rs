//! What was extracted from a document goes with it, and what is left says nothing of it.
use std::collections::{BTreeMap, BTreeSet};

use halma_core::{Edge, Layer};

use super::extraction::Extraction;
use super::graph::{Made, StoredMerge, remove_if_unmentioned, take_back};
use super::resolve::{PairVerdict, profile_of};
use super::tag_collection::{self, CLASSES_KEY, TagVocabulary};
use super::{community_store, relation_tables};
use crate::stages::forget_summaries;
use crate::store::{DocumentRecord, EntityRecord, Id, Row, StoreWriter, TagRecord, Task, UnitKey};

/// An entity that loses a document is described by so many of the chunks that are left.
const DESCRIBED_BY: usize = 200;

/// Takes out everything extracted from a document that is about to be removed: facts, rows, tags,
/// summaries, verdicts; entities and tags that nothing else has; and what others were told by it.
pub(crate) fn forget_document(writer: &mut StoreWriter<'_>, row: Row) -> heed::Result<()> {
    let document: DocumentRecord = writer.linked(row)?;
    let chunks = document.chunks.0..document.chunks.1;
    relation_tables::forget_rows(writer, chunks.clone())?;
    // Names alone say nothing that would have to be taken back.
    let (mut named, mut described) = (BTreeSet::new(), BTreeSet::new());
    let mut tagged = BTreeSet::new();
    for chunk in chunks {
        let at = (Layer::Chunk, chunk);
        let (entities, by_model) = take_back(writer, chunk)?;
        if by_model { &mut described } else { &mut named }.extend(entities);
        for link in writer.edges_from(at, Some(Edge::Tagged))? {
            writer.remove_edge(&link)?;
            tagged.insert(link.to.1);
        }
        for key in writer.units_of(at)? {
            writer.forget_unit(key)?;
        }
    }
    for section in document.sections.0..document.sections.1 {
        forget_summaries(writer, (Layer::Section, section))?;
    }
    forget_summaries(writer, (Layer::Document, row))?;
    let entities: BTreeSet<Row> = named.union(&described).copied().collect();
    community_store::forget(writer, &entities)?;
    forget_entities(writer, &described)?;
    for entity in named.difference(&described) {
        remove_if_unmentioned(writer, *entity)?;
    }
    if !described.is_empty() {
        forget_evidence(writer, document.id)?;
    }
    forget_tags(writer, &tagged)?;
    if entities.is_empty() && tagged.is_empty() { Ok(()) } else { writer.reseal_shared() }
}

/// Entities that nothing mentions any more go; the others are described by what is left.
fn forget_entities(writer: &mut StoreWriter<'_>, entities: &BTreeSet<Row>) -> heed::Result<()> {
    for row in entities {
        if remove_if_unmentioned(writer, *row)? {
            continue;
        }
        let Some(record) = writer.node::<EntityRecord>(*row)? else { continue };
        let mut sightings = vec![];
        let entity = (Layer::Entity, *row);
        for from in writer.first_edges_to(entity, Edge::Mentions, DESCRIBED_BY)? {
            let key = |task| UnitKey::of(task, from);
            let made = writer.unit_of::<Made>(key(Task::Graph))?;
            let extract = writer.unit_of::<Extraction>(key(Task::Facts))?;
            if let (Some((_, made)), Some((_, extract))) = (made, extract) {
                let of = made.entities.into_iter().zip(extract.sightings);
                sightings.extend(of.filter(|(entity, _)| entity == row).map(|(_, seen)| seen));
            }
        }
        // Entities made of names alone hold nothing but their name.
        if sightings.is_empty() {
            continue;
        }
        let left = profile_of(&sightings);
        let record = EntityRecord {
            name: left.name,
            kind: left.kind,
            description: left.description,
            aliases: left.aliases,
            ..record
        };
        writer.remove_vectors((Layer::Entity, *row))?;
        // Under another key, so that what it said before cannot be read any more.
        writer.renew_key((Layer::Entity, *row))?;
        writer.put_node(*row, &record)?;
    }
    Ok(())
}

/// Verdicts and merges that quote a document.
fn forget_evidence(writer: &mut StoreWriter<'_>, document: Id) -> heed::Result<()> {
    let mut quoting = vec![];
    writer.each_done((Task::SameEntity, Layer::Entity), |key, _, verdict: PairVerdict| {
        if verdict.documents.contains(&document) {
            quoting.push(key);
        }
        Ok(())
    })?;
    for key in quoting {
        writer.forget_unit(key)?;
    }
    for (id, merge) in writer.all_merges::<StoredMerge>()? {
        let record = &merge.record;
        // A side names some of its documents only; what it quotes is from the first of them.
        if record.one.documents.contains(&document) || record.two.documents.contains(&document) {
            writer.remove_merge(id)?;
        }
    }
    Ok(())
}

/// Tags and classes that no chunk has any more.
fn forget_tags(writer: &mut StoreWriter<'_>, tagged: &BTreeSet<Row>) -> heed::Result<()> {
    for row in tagged {
        tag_collection::remove_if_unused(writer, *row)?;
    }
    if tagged.is_empty() {
        return Ok(());
    }
    let Some((input, mut vocabulary)) = writer.unit_of::<TagVocabulary>(CLASSES_KEY)? else {
        return Ok(());
    };
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for row in writer.rows(Layer::Tag, 0, usize::MAX)? {
        let tag: TagRecord = writer.linked(row)?;
        *used.entry(tag.class).or_default() += 1;
    }
    // The version stays: the chunks that are left need no new tags.
    vocabulary.classes.retain(|class| used.contains_key(&class.name));
    if vocabulary.classes.is_empty() {
        return writer.forget_unit(CLASSES_KEY);
    }
    writer.put_done(CLASSES_KEY, input, &vocabulary)
}
