//! Propagate: from the entities that a question names through their best sentences to others.
use std::collections::{BTreeMap, HashMap};

use super::GraphContext;
use crate::search::matrix::Probe;
use crate::store::{At, Row};
use crate::walk::{ChunkPlace, EntityPlaces, UnitPlace};

/// An entity in more chunks than this is looked for in the chunks near the question only, so that
/// a step costs the same however large the base is.
pub(super) const HUB: usize = 500;

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
}

impl GraphContext<'_> {
    /// Propagates activation: every entity reached with its activation, those it started with included.
    pub(super) fn propagate(
        &self,
        start: BTreeMap<Row, f32>,
        similarity: &Similarity<'_>,
    ) -> BTreeMap<Row, f32> {
        let mut active = start;
        let mut spread: HashMap<Row, f32> = HashMap::new();
        for _ in 0..self.settings.rounds {
            let mut reached: BTreeMap<Row, f32> = BTreeMap::new();
            for (entity, a) in &active {
                let known = spread.insert(*entity, *a);
                if *a <= self.settings.least || known.is_some_and(|known| known >= *a) {
                    continue;
                }
                for (near, unit) in self.best_sentences(*entity, similarity) {
                    for other in self.walk().unit_entities(unit) {
                        let most = reached.entry(other).or_default();
                        *most = most.max(a * near.max(0.0));
                    }
                }
            }
            if reached.is_empty() {
                break;
            }
            for (entity, a) in reached {
                let most = active.entry(entity).or_default();
                *most = most.max(a);
            }
        }
        active
    }

    /// The sentences of an entity nearest to the question.
    fn best_sentences(&self, entity: Row, similarity: &Similarity<'_>) -> Vec<(f32, UnitPlace)> {
        let entity = self.walk().entity(entity);
        let mut best: Vec<(f32, UnitPlace)> = vec![];
        let mut look = |unit: UnitPlace| {
            let nodes = self.walk().unit_nodes(unit);
            let cosines = nodes.map(|node| similarity.cosine(node.at()));
            let near = cosines.fold(f32::NEG_INFINITY, f32::max);
            let full = best.len() >= self.settings.sentences;
            if full && best.last().is_none_or(|(least, _)| near <= *least) {
                return;
            }
            let at = best.partition_point(|(known, _)| *known >= near);
            best.insert(at, (near, unit));
            best.truncate(self.settings.sentences);
        };
        if entity.frequency > HUB {
            for place in &similarity.near {
                self.walk().units_of(*place, &entity).for_each(&mut look);
            }
        } else {
            self.walk().units_with(&entity).for_each(look);
        }
        best
    }

    /// An entity in more chunks than a step may look at.
    pub(super) fn is_hub(entity: &EntityPlaces) -> bool {
        entity.frequency > HUB
    }
}
