//! Expanding queries by the tags that they name or stand for.
use halma_core::{Layer, TagMatch, Vector};

use super::filter::Admitted;
use super::{Search, Space};
use crate::store::{TagRecord, node_id};
use crate::tags::{Expansion, NamedTag, expansion, moved};
use crate::{Base, KbError};

/// Tags that a question is near to, at most.
const NEAR_TAGS: usize = 4;

impl Base {
    /// Adds to each text of a search what its tags say, in a base that has tags.
    pub(super) async fn expand_by_tags(&self, search: &mut Search<'_>) -> Result<(), KbError> {
        let by = self.search.tags;
        if by <= 0.0 && self.graph.tags <= 0.0 {
            return Ok(());
        }
        let texts = search.query.texts.iter().zip(search.vectors.clone());
        let texts: Vec<(&str, Option<Vector>)> =
            texts.map(|(text, vector)| (text.as_str(), vector)).collect();
        let mut expansions = self.expansions(&texts, self.search.tag_score).await?;
        let number = self.active()?;
        for (expansion, vector) in expansions.iter_mut().zip(&mut search.vectors) {
            expansion.terms.iter_mut().for_each(|(_, weight)| *weight *= by);
            expansion.terms.retain(|(_, weight)| *weight > 0.0);
            let Some((vector, number)) = vector.as_mut().zip(number) else { continue };
            let tags = self.store.read(|reader| {
                let mut tags = vec![];
                for tag in &expansion.tags {
                    let held = reader.vector(number, Layer::Tag, tag.row)?;
                    tags.extend(held.map(|held| (tag.weight, held)));
                }
                Ok(tags)
            })?;
            *vector = moved(vector, &tags, by);
        }
        search.expansions = expansions;
        Ok(())
    }

    /// The tags that a text means, for strategies.
    pub(super) async fn tags_of(&self, text: &str, near: f32) -> Result<Vec<TagMatch>, KbError> {
        self.refresh()?;
        let vector = match self.space(Layer::Tag)? {
            Some(Space { embedder, dimensions, .. }) => {
                let texts = [text.to_owned()];
                let cache = &self.query_vectors;
                cache.vectors(embedder.as_ref(), dimensions, &texts).await?.remove(0)
            }
            None => None,
        };
        let expansions = self.expansions(&[(text, vector)], near).await?;
        self.store.read(|reader| {
            let mut tags = vec![];
            for NamedTag { row, weight, through } in expansions.into_iter().flat_map(|e| e.tags) {
                let Some(record) = reader.node::<TagRecord>(row)? else { continue };
                let id = node_id(Layer::Tag, record.id);
                tags.push(TagMatch { id, name: record.name, weight, through });
            }
            Ok(tags)
        })
    }

    /// The tags of each text with what they add to it; nothing in a base without tags. `score` is
    /// the least cosine of a tag that the text does not name.
    async fn expansions(
        &self,
        texts: &[(&str, Option<Vector>)],
        score: f32,
    ) -> Result<Vec<Expansion>, KbError> {
        if self.store.read(|reader| reader.count(Layer::Tag))? == 0 {
            return Ok(vec![]);
        }
        let index = self.tag_index().await?;
        let matrix = match self.space(Layer::Tag)? {
            Some(space) => Some(self.matrix(space.number, Layer::Tag).await?),
            None => None,
        };
        let near = |vector: &Option<Vector>| {
            let (Some(matrix), Some(vector)) = (&matrix, vector) else { return vec![] };
            let near = matrix.near(&[vector], NEAR_TAGS, &Admitted::default()).concat();
            let near = near.into_iter().filter(|(_, cosine)| *cosine >= score);
            let tag = |(row, weight)| NamedTag { row, weight, through: String::new() };
            near.map(tag).collect()
        };
        Ok(texts.iter().map(|(text, vector)| expansion(&index, text, near(vector))).collect())
    }
}
