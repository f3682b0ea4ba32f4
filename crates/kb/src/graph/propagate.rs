//! Propagate: from the entities that a question names through their best sentences to others.
use std::collections::{BTreeMap, HashMap, HashSet};

use super::GraphContext;
use crate::search::matrix::Probe;
use crate::store::{At, Row};

/// An entity in more chunks than this is looked for in the chunks near the question only, so that
/// a step costs the same however large the base is.
const HUB: usize = 500;

/// How similar sentences are to one question.
pub(super) struct Similarity<'a> {
    pub(super) atoms: Option<Probe<'a>>,
    pub(super) chunks: Option<Probe<'a>>,
    /// Atoms and chunks by BM25, as a share of the best, where there are no vectors.
    pub(super) lexical: &'a HashMap<At, f32>,
    /// Chunks near the question by BM25 or vectors.
    pub(super) near: HashSet<Row>,
}

impl Similarity<'_> {
    pub(super) fn cosine(&self, (layer, row): At) -> f32 {
        let probe = if layer == halma_core::Layer::Chunk { &self.chunks } else { &self.atoms };
        match probe {
            Some(probe) => probe.cosine(row).unwrap_or(0.0),
            None => self.lexical.get(&(layer, row)).copied().unwrap_or(0.0),
        }
    }

    /// Of the nearest of these nodes.
    fn of_nearest(&self, nodes: &[At]) -> f32 {
        nodes.iter().map(|node| self.cosine(*node)).fold(f32::NEG_INFINITY, f32::max)
    }
}

impl GraphContext<'_> {
    /// Propagates activation: every entity reached with its activation, those it started with included.
    pub(super) fn propagate(
        &self,
        start: BTreeMap<Row, f32>,
        similarity: &Similarity<'_>,
    ) -> heed::Result<BTreeMap<Row, f32>> {
        let mut active = start;
        let mut spread: HashMap<Row, f32> = HashMap::new();
        for _ in 0..self.settings.rounds {
            let mut reached: BTreeMap<Row, f32> = BTreeMap::new();
            for (entity, a) in &active {
                let known = spread.insert(*entity, *a);
                if *a <= self.settings.least || known.is_some_and(|known| known >= *a) {
                    continue;
                }
                if self.settings.facts > 0.0 {
                    for (other, _) in self.cache.related(self.reader, *entity)?.iter() {
                        let most = reached.entry(*other).or_default();
                        *most = most.max(a * self.settings.facts);
                    }
                }
                for (near, others) in self.best_sentences(*entity, similarity)? {
                    for other in others {
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
        Ok(active)
    }

    /// The sentences of an entity nearest to the question, with the entities in them.
    fn best_sentences(
        &self,
        entity: Row,
        similarity: &Similarity<'_>,
    ) -> heed::Result<Vec<(f32, Vec<Row>)>> {
        let from = self.reader;
        let known = self.cache.entity(from, entity)?;
        let hub = known.chunks.len() + known.titles.len() > HUB;
        let mut best: Vec<(f32, Vec<Row>)> = vec![];
        let named = known.chunks.iter().map(|(row, _)| *row);
        let titled = known.titles.iter().copied();
        let titled = titled.filter(|row| known.chunks.binary_search_by_key(row, |c| c.0).is_err());
        for row in named.chain(titled).filter(|row| !hub || similarity.near.contains(row)) {
            let chunk = self.cache.chunk(from, row)?;
            for unit in chunk.units.iter().filter(|unit| unit.entities.contains(&entity)) {
                let near = similarity.of_nearest(&unit.nodes);
                let full = best.len() >= self.settings.sentences;
                if full && best.last().is_some_and(|(least, _)| near <= *least) {
                    continue;
                }
                let at = best.partition_point(|(known, _)| *known >= near);
                best.insert(at, (near, unit.entities.clone()));
                best.truncate(self.settings.sentences);
            }
        }
        Ok(best)
    }
}
