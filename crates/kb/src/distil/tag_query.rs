//! The tags of a query, and what they add to a search.
use std::collections::{BTreeMap, BTreeSet};

use halma_core::{Edge, EmbedRole, Layer, NodeId};
use serde::Serialize;

use super::tags::{CLASSES_KEY, Classes, tag_id};
use crate::lexical::query_terms;
use crate::store::{Reading, Row, TagRecord, node_id};
use crate::{Base, KbError};

/// A tag has at most so many words.
const LONGEST: usize = 4;

/// A tag whose name is so near the query is one of its tags.
const NEAR: f32 = 0.6;
/// So many of those, at most.
const NEAREST: usize = 4;

/// Of the tags that samples map a tag to, those with at least this share of its samples.
const SHARE: f32 = 0.2;

/// A tag that a query has, or that stands for one it has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryTag {
    pub id: NodeId,
    pub class: String,
    pub name: String,
    /// In `(0, 1]`.
    pub weight: f32,
    pub how: TagOrigin,
}

/// How a query came by a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TagOrigin {
    /// Its words stand in the query.
    Words,
    /// Its name is near the query.
    Near,
    /// Samples say that it stands for another tag of the query.
    Mapped,
}

/// What tags add to a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Expansion {
    /// Terms of the corpus that the query does not use, with weights in `(0, 1]`.
    pub words: Vec<(String, f32)>,
    /// Tags whose chunks are more likely to answer, with weights in `(0, 1]`.
    pub tags: Vec<(NodeId, f32)>,
}

impl Base {
    /// The tags of a query: those whose words it has, those whose names are near it, and those
    /// that samples map one of these to. Best first.
    pub async fn tags_of_query(&self, text: &str) -> Result<Vec<QueryTag>, KbError> {
        let near = self.near_tags(text).await?;
        let store = &self.store;
        store.read(|txn| {
            let mut found: BTreeMap<Row, (f32, TagOrigin)> = BTreeMap::new();
            let mut put = |row, weight, how| {
                let held = found.entry(row).or_insert((weight, how));
                if weight > held.0 {
                    *held = (weight, how);
                }
            };
            for (row, cosine) in near {
                put(row, cosine, TagOrigin::Near);
            }
            for row in self.worded_tags(txn, text)? {
                put(row, 1.0, TagOrigin::Words);
            }
            let own: Vec<(Row, f32)> =
                found.iter().map(|(row, (weight, _))| (*row, *weight)).collect();
            for (row, weight) in own {
                let links = store.edges_from(txn, (Layer::Tag, row), Some(Edge::MapsTo))?;
                let all: f32 = links.iter().map(|link| link.weight).sum();
                for link in links.iter().filter(|link| link.weight >= all * SHARE) {
                    let mapped = weight * link.weight / all;
                    let held = found.entry(link.to.1).or_insert((mapped, TagOrigin::Mapped));
                    held.0 = held.0.max(mapped);
                }
            }
            let mut tags = vec![];
            for (row, (weight, how)) in found {
                let Some(tag) = store.node::<TagRecord>(txn, row)? else { continue };
                let (id, TagRecord { class, name, .. }) = (node_id(Layer::Tag, tag.id), tag);
                tags.push(QueryTag { id, class, name, weight, how });
            }
            tags.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.id.cmp(&b.id)));
            Ok(tags)
        })
    }

    /// What the tags of a query add to a search for it. Nothing where the base has no tags.
    pub async fn expand(&self, text: &str) -> Result<Expansion, KbError> {
        let tags = self.tags_of_query(text).await?;
        let said: BTreeSet<String> = query_terms(text).into_iter().collect();
        let mut expansion = Expansion::default();
        for tag in tags {
            if query_terms(&tag.name).iter().any(|stem| !said.contains(stem)) {
                expansion.words.push((tag.name, tag.weight));
            }
            expansion.tags.push((tag.id, tag.weight));
        }
        Ok(expansion)
    }

    /// Tags whose words stand side by side in a text, in any order: looked up by their ids.
    fn worded_tags(&self, txn: &Reading<'_>, text: &str) -> heed::Result<BTreeSet<Row>> {
        let store = &self.store;
        let mut rows = BTreeSet::new();
        let Some((_, classes)) = store.unit_of::<Classes>(txn, CLASSES_KEY)? else {
            return Ok(rows);
        };
        let stems = query_terms(text);
        for length in 1..=LONGEST.min(stems.len()) {
            for run in stems.windows(length) {
                let mut run = run.to_vec();
                run.sort();
                let key = run.join(" ");
                for class in &classes.list {
                    rows.extend(store.find(txn, Layer::Tag, tag_id(&class.name, &key))?);
                }
            }
        }
        Ok(rows)
    }

    /// Tags whose names are near a text.
    async fn near_tags(&self, text: &str) -> Result<Vec<(Row, f32)>, KbError> {
        let Some(embedder) = &self.embedder else { return Ok(vec![]) };
        let store = &self.store;
        let number = store.read(|txn| {
            let number = store.embedder(txn, embedder.model())?.map(|(number, _)| number);
            let held = number.map(|number| store.has_vectors(txn, number, Layer::Tag));
            Ok(number.filter(|_| matches!(held, Some(Ok(true)))))
        })?;
        let Some(number) = number else { return Ok(vec![]) };
        let failed = |source| KbError::Embed { model: embedder.model().to_owned(), source };
        let vectors = embedder.embed(&[text], EmbedRole::Query).await.map_err(failed)?;
        let Some(query) = vectors.first() else { return Ok(vec![]) };
        let mut near = store.read(|txn| {
            let mut near = vec![];
            store.each_vector(txn, number, Layer::Tag, |row, vector| {
                let cosine: f32 = query.iter().zip(vector).map(|(a, b)| a * b).sum();
                if cosine >= NEAR {
                    near.push((row, cosine));
                }
            })?;
            Ok(near)
        })?;
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        near.truncate(NEAREST);
        Ok(near)
    }
}
