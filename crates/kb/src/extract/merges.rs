//! Merges of entities: listed with their evidence, and undone permanently.
use halma_core::{Layer, NodeId};
use serde::Serialize;

use super::resolution;
use super::resolve::Undone;
use crate::base::WriterLock;
use crate::store::{
    ClusterSnapshot, DocumentRecord, EntityRecord, MergeRule, StoreReader, StoredMerge, Urgency,
    node_id,
};
use crate::{Base, KbError};

/// Two entries that are one entity now, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Merge {
    /// What [`Base::undo_merge`] takes.
    pub id: String,
    pub entity: Option<NodeId>,
    /// The entity's name.
    pub name: String,
    pub rule: MergeRule,
    pub one: MergeSide,
    pub two: MergeSide,
    /// How much the descriptions agree, in `[0, 1]`.
    pub score: f32,
    /// The model's words, where it decided.
    pub reason: String,
}

/// What was merged, as its documents speak of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MergeSide {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub description: String,
    /// Names of documents, some of them.
    pub documents: Vec<String>,
}

impl Base {
    /// Every merge of entities, with what it rests on, in the order of their ids.
    pub fn merges(&self) -> Result<Vec<Merge>, KbError> {
        let store = &self.store;
        store.read(|reader| {
            let mut merges = vec![];
            for (id, merge) in reader.all_merges::<StoredMerge>()? {
                let StoredMerge { record, entity } = merge;
                let row = reader.find(Layer::Entity, entity)?;
                let named = row.map_or(Ok(None), |row| reader.node::<EntityRecord>(row))?;
                merges.push(Merge {
                    id: format!("{id:016x}"),
                    entity: named.as_ref().map(|_| node_id(Layer::Entity, entity)),
                    name: named.map_or_else(|| record.one.name.clone(), |entity| entity.name),
                    rule: record.rule,
                    one: merge_side(reader, &record.one)?,
                    two: merge_side(reader, &record.two)?,
                    score: record.score,
                    reason: record.reason,
                });
            }
            Ok(merges)
        })
    }

    /// Takes a merge back: its two sides are entities of their own from now on, whatever later
    /// builds find. Waits for a build that runs. The communities are those of the next build.
    pub fn undo_merge(&self, id: &str) -> Result<(), KbError> {
        let _lock = WriterLock::take(&self.dir)?.leading(&self.store, Urgency::Normal)?;
        let number = u64::from_str_radix(id, 16).ok();
        let merges = self.store.read(|reader| reader.all_merges::<StoredMerge>())?;
        let merge = merges.into_iter().find(|(key, _)| Some(*key) == number);
        let Some((number, merge)) = merge else {
            return Err(KbError::NoMerge { id: id.to_owned() });
        };
        let record = merge.record;
        resolution::undo(self, number, Undone { one: record.one.prints, two: record.two.prints })?;
        self.store.publish()
    }
}

fn merge_side(reader: &StoreReader<'_>, side: &ClusterSnapshot) -> heed::Result<MergeSide> {
    let mut documents = vec![];
    for id in &side.documents {
        if let Some(row) = reader.find(Layer::Document, *id)? {
            let record: DocumentRecord = reader.linked(row)?;
            documents.extend(record.names.into_iter().next());
        }
    }
    documents.sort();
    let ClusterSnapshot { name, kind, description, .. } = side.clone();
    Ok(MergeSide { name, kind, description, documents })
}
