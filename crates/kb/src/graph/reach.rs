//! Propagate: from the entities that a question names through their best sentences to others.
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Ground;
use crate::store::{At, Row};
use crate::vectors::Probe;

/// An entity in more chunks than this is looked for in the chunks near the question only, so that
/// a step costs the same however large the base is.
const HUB: usize = 500;

/// How near sentences are to one question.
pub(crate) struct Sight<'a> {
    pub(crate) atoms: Option<Probe<'a>>,
    pub(crate) chunks: Option<Probe<'a>>,
    /// Atoms by words, as a share of the best, where there are no vectors.
    pub(crate) words: &'a HashMap<Row, f32>,
    /// Chunks near the question by words or vectors.
    pub(crate) near: HashSet<Row>,
}

impl Sight<'_> {
    pub(crate) fn of(&self, (layer, row): At) -> f32 {
        let probe = if layer == halma_core::Layer::Chunk { &self.chunks } else { &self.atoms };
        match probe {
            Some(probe) => probe.of(row).unwrap_or(0.0),
            None => self.words.get(&row).copied().unwrap_or(0.0),
        }
    }
}

impl Ground<'_> {
    /// Every entity reached with its activation, those it started with included.
    pub(super) fn reach(
        &self,
        start: BTreeMap<Row, f32>,
        sight: &Sight<'_>,
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
                for (near, others) in self.best_sentences(*entity, sight)? {
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
    fn best_sentences(&self, entity: Row, sight: &Sight<'_>) -> heed::Result<Vec<(f32, Vec<Row>)>> {
        let from = self.reader;
        let known = self.memory.entity(from, entity)?;
        let hub = known.chunks.len() + known.titles.len() > HUB;
        let mut best: Vec<(f32, Vec<Row>)> = vec![];
        let named = known.chunks.iter().map(|(row, _)| *row);
        let titled = known.titles.iter().copied();
        let titled = titled.filter(|row| known.chunks.binary_search_by_key(row, |c| c.0).is_err());
        for row in named.chain(titled).filter(|row| !hub || sight.near.contains(row)) {
            let chunk = self.memory.chunk(from, row)?;
            for unit in chunk.units.iter().filter(|unit| unit.entities.contains(&entity)) {
                let near = sight.of(unit.at);
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
