//! Proposals, their evidence and what is said against them.
use std::collections::HashSet;

use halma_core::text::content_words;
use serde::{Deserialize, Serialize};

use super::board::BoardItem;

/// An idea as an agent states it; evidence counts from 1.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Stated {
    pub(super) idea: String,
    #[serde(default)]
    pub(super) mechanism: String,
    #[serde(default)]
    pub(super) rests_on: Vec<usize>,
    #[serde(default)]
    pub(super) risks: String,
    #[serde(default)]
    pub(super) unknowns: String,
}

/// An idea of an agent.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Proposal {
    /// As the trace names it; several where near-equal ones are joined.
    #[serde(skip)]
    pub(super) ids: Vec<String>,
    /// Positions of the agents that had it.
    pub(super) agents: Vec<usize>,
    pub(super) by: Vec<String>,
    pub(super) idea: String,
    pub(super) mechanism: String,
    /// Numbers of the evidence, from 1; empty: it rests on none.
    pub(super) rests_on: Vec<usize>,
    pub(super) risks: String,
    pub(super) unknowns: String,
    pub(super) objections: Vec<String>,
    /// From 1 to 5, of each agent that scored it.
    #[serde(skip)]
    pub(super) scores: Vec<f64>,
    /// The mean of the scores; empty before any.
    pub(super) score: String,
}

/// All proposals and the evidence that they rest on.
#[derive(Debug, Default)]
pub(super) struct Proposals {
    pub(super) evidence: Vec<BoardItem>,
    pub(super) all: Vec<Proposal>,
}

impl Proposal {
    pub(super) fn mean(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a handful of scores")]
        let n = self.scores.len().max(1) as f64;
        self.scores.iter().sum::<f64>() / n
    }

    fn is_like(&self, other: &Self, alike: f64) -> bool {
        shared_words(&content_words(&self.idea), &content_words(&other.idea)) >= alike
    }
}

impl Proposals {
    /// The best first; those that say nearly the same are one.
    pub(super) fn joined(&self, alike: f64) -> Vec<Proposal> {
        let mut sorted = self.all.clone();
        sorted.sort_by(|a, b| b.mean().total_cmp(&a.mean()));
        let mut joined: Vec<Proposal> = vec![];
        for proposal in sorted {
            match joined.iter_mut().find(|similar| similar.is_like(&proposal, alike)) {
                Some(similar) => {
                    let new = |number: &usize| !similar.rests_on.contains(number);
                    let rests_on: Vec<usize> =
                        proposal.rests_on.iter().copied().filter(new).collect();
                    similar.rests_on.extend(rests_on);
                    similar.objections.extend(proposal.objections);
                    similar.ids.extend(proposal.ids);
                    similar.agents.extend(proposal.agents);
                    for name in proposal.by {
                        if !similar.by.contains(&name) {
                            similar.by.push(name);
                        }
                    }
                }
                None => joined.push(proposal),
            }
        }
        joined
    }
}

/// The share of words that two texts have in common, of all that they have.
pub(super) fn shared_words(a: &[String], b: &[String]) -> f64 {
    let (a, b): (HashSet<&String>, HashSet<&String>) = (a.iter().collect(), b.iter().collect());
    let all = a.union(&b).count();
    #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
    let share = a.intersection(&b).count() as f64 / all.max(1) as f64;
    share
}
