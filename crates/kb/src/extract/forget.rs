//! What was extracted from a document goes with it, and what is left says nothing of it.
use std::collections::{BTreeMap, BTreeSet};

use halma_core::{Edge, Layer};
use heed::RwTxn;

use super::extraction::Extraction;
use super::graph::{Made, StoredMerge, remove_if_unmentioned, take_back};
use super::resolve::{Verdict, profile_of};
use super::tag_collection::{self, CLASSES_KEY, TagVocabulary};
use super::{community_store, relation_tables};
use crate::stages::forget_summaries;
use crate::store::{DocumentRecord, EntityRecord, Id, Row, Store, TagRecord, Task, UnitKey};

/// An entity that loses a document is described by so many of the chunks that are left.
const DESCRIBED_BY: usize = 200;

/// Takes out everything extracted from a document that is about to be removed: facts, rows, tags,
/// summaries, verdicts; entities and tags that nothing else has; and what others were told by it.
pub(crate) fn forget_document(store: &Store, txn: &mut RwTxn<'_>, row: Row) -> heed::Result<()> {
    let document: DocumentRecord = store.linked(txn, row)?;
    let chunks = document.chunks.0..document.chunks.1;
    relation_tables::forget_rows(store, txn, chunks.clone())?;
    // Names alone say nothing that would have to be taken back.
    let (mut named, mut described) = (BTreeSet::new(), BTreeSet::new());
    let mut tagged = BTreeSet::new();
    for chunk in chunks {
        let at = (Layer::Chunk, chunk);
        let (entities, by_model) = take_back(store, txn, chunk)?;
        if by_model { &mut described } else { &mut named }.extend(entities);
        for link in store.edges_from(txn, at, Some(Edge::Tagged))? {
            store.remove_edge(txn, &link)?;
            tagged.insert(link.to.1);
        }
        for key in store.units_of(txn, at)? {
            store.forget_unit(txn, key)?;
        }
    }
    for section in document.sections.0..document.sections.1 {
        forget_summaries(store, txn, (Layer::Section, section))?;
    }
    forget_summaries(store, txn, (Layer::Document, row))?;
    let entities: BTreeSet<Row> = named.union(&described).copied().collect();
    community_store::forget(store, txn, &entities)?;
    forget_entities(store, txn, &described)?;
    for entity in named.difference(&described) {
        remove_if_unmentioned(store, txn, *entity)?;
    }
    if !described.is_empty() {
        forget_evidence(store, txn, document.id)?;
    }
    forget_tags(store, txn, &tagged)?;
    if entities.is_empty() && tagged.is_empty() { Ok(()) } else { store.reseal_shared(txn) }
}

/// Entities that nothing mentions any more go; the others are described by what is left.
fn forget_entities(
    store: &Store,
    txn: &mut RwTxn<'_>,
    entities: &BTreeSet<Row>,
) -> heed::Result<()> {
    for row in entities {
        if remove_if_unmentioned(store, txn, *row)? {
            continue;
        }
        let Some(record) = store.node::<EntityRecord>(txn, *row)? else { continue };
        let mut sightings = vec![];
        let entity = (Layer::Entity, *row);
        for from in store.first_edges_to(txn, entity, Edge::Mentions, DESCRIBED_BY)? {
            let key = |task| UnitKey::of(task, from);
            let made = store.unit_of::<Made>(txn, key(Task::Graph))?;
            let extract = store.unit_of::<Extraction>(txn, key(Task::Facts))?;
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
        store.remove_vectors(txn, (Layer::Entity, *row))?;
        // Under another key, so that what it said before cannot be read any more.
        store.renew_key(txn, (Layer::Entity, *row))?;
        store.put_node(txn, *row, &record)?;
    }
    Ok(())
}

/// Verdicts and merges that quote a document.
fn forget_evidence(store: &Store, txn: &mut RwTxn<'_>, document: Id) -> heed::Result<()> {
    let mut quoting = vec![];
    store.each_done(txn, (Task::SameEntity, Layer::Entity), |key, _, verdict: Verdict| {
        if verdict.documents.contains(&document) {
            quoting.push(key);
        }
        Ok(())
    })?;
    for key in quoting {
        store.forget_unit(txn, key)?;
    }
    for (id, merge) in store.all_merges::<StoredMerge>(txn)? {
        let record = &merge.record;
        // A side names some of its documents only; what it quotes is from the first of them.
        if record.one.documents.contains(&document) || record.two.documents.contains(&document) {
            store.remove_merge(txn, id)?;
        }
    }
    Ok(())
}

/// Tags and classes that no chunk has any more.
fn forget_tags(store: &Store, txn: &mut RwTxn<'_>, tagged: &BTreeSet<Row>) -> heed::Result<()> {
    for row in tagged {
        tag_collection::remove_if_unused(store, txn, *row)?;
    }
    if tagged.is_empty() {
        return Ok(());
    }
    let Some((input, mut vocabulary)) = store.unit_of::<TagVocabulary>(txn, CLASSES_KEY)? else {
        return Ok(());
    };
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for row in store.rows(txn, Layer::Tag, 0, usize::MAX)? {
        let tag: TagRecord = store.linked(txn, row)?;
        *used.entry(tag.class).or_default() += 1;
    }
    // The version stays: the chunks that are left need no new tags.
    vocabulary.classes.retain(|class| used.contains_key(&class.name));
    if vocabulary.classes.is_empty() {
        return store.forget_unit(txn, CLASSES_KEY);
    }
    store.put_done(txn, CLASSES_KEY, input, &vocabulary)
}
