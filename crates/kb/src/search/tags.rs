//! Expanding queries by the tags that they name or stand for.
use std::sync::Arc;

use halma_core::{Filter, Layer, TagMatch};

use super::{Search, Space};
use crate::error::run_blocking;
use crate::memory::{Expansion, NamedTag, Snapshot, expansion, moved};
use crate::settings::{SearchSettings, least_cosine};
use crate::store::{Admitted, TagRecord, node_id};
use crate::vectors::{NearRequest, QueryVector};
use crate::{Base, KbError};

/// Tags that a question is near to, at most.
const NEAR_TAGS: usize = 4;

/// Where tags are read.
pub(super) struct TagSource<'a> {
    pub(super) snapshot: Snapshot<'a>,
    /// Of their vectors; `None` where they have none.
    pub(super) embedder: Option<u8>,
}

/// Adds to each text of a search what its tags say, in a base that has tags.
pub(super) fn expand_by_tags(
    source: &TagSource<'_>,
    search: &mut Search<'_>,
) -> Result<(), KbError> {
    let by = search.settings.tags;
    if by <= 0.0 && search.graph.tags <= 0.0 {
        return Ok(());
    }
    let texts = search.query.texts.iter().map(String::as_str);
    let texts: Vec<(&str, Option<Arc<QueryVector>>)> = texts.zip(search.vectors.clone()).collect();
    let mut expansions = source.expansions(&texts, search.settings.tag_score)?;
    let store = search.store;
    let active = store.read(|reader| reader.active_embedder())?;
    let number = active.map(|(number, _)| number);
    for (expansion, vector) in expansions.iter_mut().zip(&mut search.vectors) {
        expansion.terms.iter_mut().for_each(|(_, weight)| *weight *= by);
        expansion.terms.retain(|(_, weight)| *weight > 0.0);
        let Some((vector, number)) = vector.as_mut().zip(number) else { continue };
        let tags = store.read(|reader| {
            let mut tags = vec![];
            for tag in &expansion.tags {
                let vector = reader.vector(number, Layer::Tag, tag.row)?;
                tags.extend(vector.map(|vector| (tag.weight, vector)));
            }
            Ok(tags)
        })?;
        *vector = Arc::new(QueryVector::new(&moved(vector.vector(), &tags, by)));
    }
    search.expansions = expansions;
    Ok(())
}

impl TagSource<'_> {
    /// The tags of each text with what they add to it; nothing in a base without tags. `score` is
    /// the least cosine of a tag that the text does not name.
    fn expansions(
        &self,
        texts: &[(&str, Option<Arc<QueryVector>>)],
        score: f32,
    ) -> Result<Vec<Expansion>, KbError> {
        let Self { snapshot, embedder } = *self;
        if snapshot.store.read(|reader| reader.count(Layer::Tag))? == 0 {
            return Ok(vec![]);
        }
        let index = snapshot.tags()?;
        let matrix = match embedder {
            Some(embedder) => Some(snapshot.matrix(embedder, Layer::Tag)?),
            None => None,
        };
        let chance = match embedder {
            Some(embedder) => snapshot.store.read(|reader| reader.chance(embedder))?,
            None => 0.0,
        };
        let score = least_cosine(score, SearchSettings::default().tag_score, chance);
        let allowed = snapshot.allowed(&Filter::default(), Layer::Tag)?;
        let admitted = Admitted { allowed, ..Admitted::default() };
        let near = |vector: &Option<Arc<QueryVector>>| {
            let (Some(matrix), Some(vector)) = (&matrix, vector) else { return vec![] };
            let is_cancelled = &|| false;
            let request =
                NearRequest { limit: NEAR_TAGS, admitted: &admitted, ranges: false, is_cancelled };
            let near =
                matrix.near_queries(&[vector], &request).into_iter().flat_map(|near| near.rows);
            let near = near.filter(|(_, cosine)| *cosine >= score);
            let tag = |(row, weight)| NamedTag { row, weight, through: String::new() };
            near.map(tag).collect()
        };
        Ok(texts.iter().map(|(text, vector)| expansion(&index, text, near(vector))).collect())
    }
}

impl Base {
    /// The tags that a text means, for strategies.
    pub(super) async fn tags_of(&self, text: &str, near: f32) -> Result<Vec<TagMatch>, KbError> {
        let (mut vector, mut embedder) = (None, None);
        if let Some(Space { embedder: open, dimensions, number, .. }) = self.space(Layer::Tag)? {
            let texts = [text.to_owned()];
            let cache = &self.query_vectors;
            vector = cache.vectors(open.as_ref(), dimensions, &texts).await?.remove(0);
            embedder = Some(number);
        }
        let (store, caches, text) = (self.store.clone(), Arc::clone(&self.caches), text.to_owned());
        run_blocking("finding tags", move || {
            let source = TagSource { snapshot: caches.refresh(&store)?, embedder };
            let vector = vector.map(|vector| Arc::new(QueryVector::new(&vector)));
            let expansions = source.expansions(&[(&text, vector)], near)?;
            store.read(|reader| {
                let mut tags = vec![];
                for tag in expansions.into_iter().flat_map(|expansion| expansion.tags) {
                    let NamedTag { row, weight, through } = tag;
                    let Some(record) = reader.node::<TagRecord>(row)? else { continue };
                    let id = node_id(Layer::Tag, record.id);
                    tags.push(TagMatch { id, name: record.name, weight, through });
                }
                Ok(tags)
            })
        })
        .await
    }
}
