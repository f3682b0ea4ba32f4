//! What was extracted from a document goes with it, and what is left says nothing of it.
use std::collections::{BTreeMap, BTreeSet};

use halma_core::{Edge, Layer};

use super::profile::profile_of;
use super::{CLASSES_KEY, ChunkGraph, Extraction, PairVerdict, StoredMerge, TagVocabulary};
use crate::store::{
    DocumentRecord, EntityRecord, Id, RemovedDocuments, Row, StoreReader, StoreWriter, TagRecord,
    Task, UnitKey,
};

/// An entity that loses a document is described by so many of the chunks that are left.
const DESCRIBED_BY: usize = 200;

/// What the chunks of a document lead to.
#[derive(Default)]
pub(crate) struct ExtractedFrom {
    /// Entities that a model described.
    described: BTreeSet<Row>,
    is_tagged: bool,
}

impl ExtractedFrom {
    /// Of a document that is about to be removed.
    pub(crate) fn load(reader: &StoreReader<'_>, document: &DocumentRecord) -> heed::Result<Self> {
        let mut traces = Self::default();
        for chunk in document.chunks.0..document.chunks.1 {
            let at = (Layer::Chunk, chunk);
            let by_model = reader.entry(UnitKey::of(Task::Graph, at))?.is_some();
            for link in reader.edges_from(at, None)? {
                match link.edge {
                    Edge::Mentions if by_model => drop(traces.described.insert(link.to.1)),
                    Edge::Tagged => traces.is_tagged = true,
                    _ => {}
                }
            }
        }
        Ok(traces)
    }

    /// Forgets what is left of it when the document's nodes have been removed: what is said of
    /// entities that others mention as well. What shares a key follows at the end of the write.
    pub(crate) fn forget(&self, writer: &mut StoreWriter<'_>, document: Id) -> heed::Result<()> {
        describe_again(writer, &self.described)?;
        let removed = writer.removed_documents();
        removed.any = true;
        removed.are_tagged |= self.is_tagged;
        if !self.described.is_empty() {
            removed.described.insert(document);
        }
        Ok(())
    }
}

/// What is said of removed documents elsewhere, once for all that a write removes.
pub(crate) fn forget_quotes(
    writer: &mut StoreWriter<'_>,
    removed: &RemovedDocuments,
) -> heed::Result<()> {
    writer.mark_communities_stale()?;
    if !removed.described.is_empty() {
        forget_evidence(writer, &removed.described)?;
    }
    if removed.are_tagged { forget_unused_classes(writer) } else { Ok(()) }
}

/// Describes entities by what is left of them.
fn describe_again(writer: &mut StoreWriter<'_>, entities: &BTreeSet<Row>) -> heed::Result<()> {
    for row in entities {
        let Some(record) = writer.node::<EntityRecord>(*row)? else { continue };
        let mut mentions = vec![];
        let entity = (Layer::Entity, *row);
        for from in writer.first_edges_to(entity, Edge::Mentions, DESCRIBED_BY)? {
            let key = |task| UnitKey::of(task, from);
            let made = writer.result_of::<ChunkGraph>(key(Task::Graph))?;
            let extract = writer.result_of::<Extraction>(key(Task::Facts))?;
            if let (Some((_, made)), Some((_, extract))) = (made, extract) {
                let of = made.entities.into_iter().zip(extract.mentions);
                mentions.extend(of.filter(|(entity, _)| entity == row).map(|(_, seen)| seen));
            }
        }
        // Entities made of names alone hold nothing but their name.
        if mentions.is_empty() {
            continue;
        }
        let left = profile_of(&mentions);
        let record = EntityRecord {
            name: left.name,
            kind: left.kind,
            description: left.description,
            aliases: left.aliases,
            ..record
        };
        writer.renew_vector(*row, &record)?;
        // Under another key, so that what it said before cannot be read any more.
        writer.forget_owner((Layer::Entity, *row))?;
        writer.put_node(*row, &record)?;
    }
    Ok(())
}

/// Verdicts and merges that quote removed documents.
fn forget_evidence(writer: &mut StoreWriter<'_>, removed: &BTreeSet<Id>) -> heed::Result<()> {
    let quotes = |documents: &[Id]| documents.iter().any(|document| removed.contains(document));
    let mut quoting = vec![];
    for result in writer.results::<PairVerdict>(Task::SameEntity)? {
        let (key, verdict) = result?;
        if quotes(&verdict.documents) {
            quoting.push(key);
        }
    }
    for key in quoting {
        writer.forget_unit(key)?;
    }
    for (id, merge) in writer.all_merges::<StoredMerge>()? {
        let record = &merge.record;
        // A side names some of its documents only; what it quotes is from the first of them.
        if quotes(&record.one.documents) || quotes(&record.two.documents) {
            writer.remove_merge(id)?;
        }
    }
    Ok(())
}

/// Classes of tags that no chunk has any more.
fn forget_unused_classes(writer: &mut StoreWriter<'_>) -> heed::Result<()> {
    let Some((input, mut vocabulary)) = writer.result_of::<TagVocabulary>(CLASSES_KEY)? else {
        return Ok(());
    };
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for tag in writer.nodes::<TagRecord>()? {
        *used.entry(tag?.1.class).or_default() += 1;
    }
    // The version stays: the chunks that are left need no new tags.
    vocabulary.classes.retain(|class| used.contains_key(&class.name));
    if vocabulary.classes.is_empty() {
        return writer.forget_unit(CLASSES_KEY);
    }
    writer.put_done(CLASSES_KEY, input, &vocabulary)
}
