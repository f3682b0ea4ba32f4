//! Propagate: from the entities that a question names through their best sentences to others.
use std::collections::HashMap;

use super::GraphContext;
use super::activation::{Activation, Activations, Reach, activate};
use crate::mentions::{ChunkPlace, EntityPlaces, UnitPlace};
use crate::store::{At, Row, RowMap};
use crate::vectors::Probe;

/// An entity in more chunks than this is looked for in the chunks near the question only, so that
/// a step costs the same however large the base is.
pub(super) const HUB: usize = 500;

/// Sentences that are compared by vectors, for each that activation passes through: as many as
/// codes need to hold nearly all of the nearest (`search/matrix/scan.rs`).
const ROUGH_EACH: usize = 24;

/// How similar sentences are to one question.
pub(super) struct Similarity<'a> {
    pub(super) atoms: Option<Probe<'a>>,
    pub(super) chunks: Option<Probe<'a>>,
    /// Atoms and chunks by BM25, as a share of the best, where there are no vectors.
    pub(super) lexical: &'a HashMap<At, f32>,
    /// Chunks near the question by BM25 or vectors.
    pub(super) near: Vec<ChunkPlace>,
}

impl Similarity<'_> {
    pub(super) fn cosine(&self, (layer, row): At) -> f32 {
        let probe = if layer == halma_core::Layer::Chunk { &self.chunks } else { &self.atoms };
        match probe {
            Some(probe) => probe.cosine(row).unwrap_or(0.0),
            None => self.lexical.get(&(layer, row)).copied().unwrap_or(0.0),
        }
    }

    /// Whether atoms and chunks are both compared by vectors.
    fn is_by_codes(&self) -> bool {
        self.atoms.is_some() && self.chunks.is_some()
    }

    /// What orders nodes of a layer about as their cosines do.
    fn rough(&self, (layer, row): At) -> f32 {
        let probe = if layer == halma_core::Layer::Chunk { &self.chunks } else { &self.atoms };
        probe.as_ref().map_or(0.0, |probe| probe.rough(row))
    }
}

/// The best of these, best first, the first of equals before the others.
fn best_of(
    units: Vec<UnitPlace>,
    limit: usize,
    score: impl Fn(UnitPlace) -> f32,
) -> Vec<(f32, UnitPlace)> {
    let mut scored: Vec<(f32, UnitPlace)> =
        units.into_iter().map(|unit| (score(unit), unit)).collect();
    let order =
        |a: &(f32, UnitPlace), b: &(f32, UnitPlace)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if scored.len() > limit && limit > 0 {
        scored.select_nth_unstable_by(limit - 1, order);
    }
    scored.truncate(limit);
    scored.sort_unstable_by(order);
    scored
}

impl GraphContext<'_> {
    /// Propagates activation: every entity reached with its activation, those it started with included.
    pub(super) fn propagate(
        &self,
        start: Activations,
        similarity: &Similarity<'_>,
    ) -> heed::Result<Activations> {
        let mut active = start;
        let mut spread: RowMap<f32> = RowMap::default();
        for _ in 0..self.settings.rounds {
            let mut reached = Activations::new();
            for (entity, Activation { weight: a, .. }) in &active {
                let former = spread.insert(*entity, *a);
                if *a <= self.settings.least || former.is_some_and(|former| former >= *a) {
                    continue;
                }
                if self.settings.facts > 0.0 {
                    let by_fact = Activation { weight: a * self.settings.facts, by: Reach::Fact };
                    for (other, _) in self.cache.related(self.reader, *entity)?.iter() {
                        activate(&mut reached, *other, by_fact);
                    }
                }
                for (near, unit) in self.best_sentences(*entity, similarity) {
                    let by = Reach::Sentence;
                    let by_sentence = Activation { weight: a * near.max(0.0), by };
                    for other in self.walk().unit_entities(unit) {
                        activate(&mut reached, other, by_sentence);
                    }
                }
            }
            if reached.is_empty() {
                break;
            }
            for (entity, activation) in reached {
                activate(&mut active, entity, activation);
            }
        }
        Ok(active)
    }

    /// The sentences of an entity nearest to the question: the best by codes are compared.
    fn best_sentences(&self, entity: Row, similarity: &Similarity<'_>) -> Vec<(f32, UnitPlace)> {
        let entity = self.walk().entity(entity);
        let units: Vec<UnitPlace> = if Self::is_hub(&entity) {
            let near = similarity.near.iter();
            near.flat_map(|place| self.walk().units_of(*place, &entity)).collect()
        } else {
            self.walk().units_with(&entity).collect()
        };
        let limit = self.settings.sentences.saturating_mul(ROUGH_EACH);
        let units = if units.len() > limit && similarity.is_by_codes() {
            best_of(units, limit, |unit| {
                let nodes = self.walk().unit_nodes(unit);
                nodes.map(|node| similarity.rough(node.at())).fold(f32::NEG_INFINITY, f32::max)
            })
        } else {
            units.into_iter().map(|unit| (0.0, unit)).collect()
        };
        let units = units.into_iter().map(|(_, unit)| unit).collect();
        best_of(units, self.settings.sentences, |unit| {
            let nodes = self.walk().unit_nodes(unit);
            nodes.map(|node| similarity.cosine(node.at())).fold(f32::NEG_INFINITY, f32::max)
        })
    }

    /// An entity in more chunks than a step may look at.
    pub(super) fn is_hub(entity: &EntityPlaces) -> bool {
        entity.frequency > HUB
    }
}
