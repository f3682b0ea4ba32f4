//! What was looked up for a node: passages of texts and facts of the graph.
use std::collections::HashSet;

use halma_core::text::words;
use halma_core::{Answer, Citation, Entity, Hit};
use serde::Serialize;

use super::answers::labelled;
use super::graph::GraphResult;
use super::settings::Atomr;
use crate::shared::citing::joined;
use crate::shared::steps::{Reading, answer_from, holds, unseen};

/// The most facts that a prompt lists.
const LINES: usize = 100;

/// Where the released code drops what lies below, once something reaches it.
const HIGH: f32 = 0.85;

/// What a reader is given.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) context: Vec<Hit>,
    /// Which source each of these passages is from.
    origins: Vec<String>,
    /// Facts as a reader sees them.
    pub(super) lines: Vec<String>,
    /// Facts as they are cited.
    pub(super) fact_hits: Vec<Hit>,
    /// The entities of a Filter that are worth a decision.
    pub(super) retained: Vec<String>,
    /// What the graph knows of the things, by label.
    pub(super) entities: Vec<Entity>,
}

/// The passages of one source, for each query a list.
pub(super) struct Lists {
    pub(super) source: String,
    pub(super) lists: Vec<Vec<Hit>>,
}

/// A passage as a reader sees it, with its source.
#[derive(Serialize)]
pub(super) struct Labelled<'a> {
    source: &'a str,
    #[serde(flatten)]
    hit: &'a Hit,
}

impl Evidence {
    pub(super) fn is_empty(&self) -> bool {
        self.context.is_empty() && self.lines.is_empty()
    }

    /// Everything that was found for the queries of a Search or a Relate. The scores of two
    /// sources say nothing about each other, so each source keeps its own order.
    pub(super) fn collect(lists: Vec<Lists>, graph: GraphResult) -> Self {
        let mut evidence = Self::default().with(graph);
        for Lists { source, lists } in lists {
            evidence.add(lists, &source);
        }
        evidence
    }

    fn add(&mut self, lists: Vec<Vec<Hit>>, source: &str) {
        self.context.extend(unseen(lists, &self.context));
        self.origins.resize(self.context.len(), source.to_owned());
    }

    /// The same with what was found before: its passages last.
    pub(super) fn after(mut self, before: Self) -> Self {
        for (hit, origin) in before.context.into_iter().zip(before.origins) {
            self.add(vec![vec![hit]], &origin);
        }
        (self.lines, self.fact_hits) = (before.lines, before.fact_hits);
        self.entities = before.entities;
        self
    }

    /// The passages, each with its source where there are several.
    pub(super) fn passages(&self) -> Vec<Labelled<'_>> {
        let several = self.origins.iter().any(|origin| *origin != self.origins[0]);
        let pairs = self.context.iter().zip(&self.origins);
        pairs
            .map(|(hit, origin)| Labelled { source: if several { origin } else { "" }, hit })
            .collect()
    }

    /// What was found for the entities of a Filter without those whose passages have too little in
    /// common with their query (Section 3.1); `queries` are the entities' own, in their order. Tells
    /// how many were dropped.
    pub(super) fn filtered(
        (names, queries): (&[String], &[String]),
        lists: Vec<Lists>,
        graph: GraphResult,
        limits: &Atomr,
    ) -> (Self, usize) {
        let facts = graph.facts.clone();
        let mut evidence = Self::default().with(graph);
        let scored: Vec<f32> = (names.iter().zip(queries).enumerate())
            .map(|(at, (name, query))| {
                let passages = lists.iter().filter_map(|one| one.lists.get(at)).flatten();
                let mut evidence_words: HashSet<String> = passages
                    .flat_map(|hit| words(&hit.title).into_iter().chain(words(&hit.text)))
                    .collect();
                let of_graph = facts.iter().filter(|fact| words(&fact.head.label) == words(name));
                evidence_words.extend(of_graph.flat_map(|fact| words(&fact.line())));
                overlap(&words(query).into_iter().collect(), &evidence_words)
            })
            .collect();
        let best = scored.iter().copied().fold(0.0, f32::max);
        let least = if limits.drop_below_best && best >= HIGH { HIGH } else { limits.overlap };
        let keeps = |at: usize| scored.get(at).is_some_and(|score| *score >= least);
        for Lists { source, lists } in lists {
            let kept = lists.into_iter().enumerate().filter(|(at, _)| keeps(*at));
            evidence.add(kept.map(|(_, list)| list).collect(), &source);
        }
        let kept = names.iter().enumerate().filter(|(at, _)| keeps(*at));
        evidence.retained = kept.map(|(_, name)| name.clone()).collect();
        let dropped = names.len() - evidence.retained.len();
        (evidence, dropped)
    }

    fn with(mut self, graph: GraphResult) -> Self {
        let GraphResult { lines, evidence, entities, .. } = graph;
        self.lines.extend(lines.into_iter().take(LINES));
        self.fact_hits.extend(evidence.into_iter().take(LINES));
        self.entities.extend(entities);
        self
    }

    /// What answers rest on: the passages and facts that hold one of them, or all where none does,
    /// since then they are a judgement on all.
    pub(super) fn cited(&self, answers: &[String], reply: &str) -> Vec<Citation> {
        let all = self.context.iter().chain(&self.fact_hits);
        let holding = |answer: &String| -> Vec<Citation> {
            let hits: Vec<Hit> = all.clone().filter(|hit| holds(hit, answer)).cloned().collect();
            let reading = Reading { answer: answer.clone(), rationale: reply.to_owned() };
            let Answer { citations, .. } = answer_from(reading, &hits);
            citations
        };
        let cited = joined(answers.iter().flat_map(holding));
        if cited.is_empty() { all.map(Citation::from).collect() } else { cited }
    }

    /// The entities of the graph that answers name.
    pub(super) fn entities(&self, answers: &[String]) -> Vec<Entity> {
        let mut named: Vec<Entity> = vec![];
        for entity in answers.iter().flat_map(|answer| labelled(&self.entities, answer)) {
            if !named.iter().any(|other| other.id == entity.id) {
                named.push(entity.clone());
            }
        }
        named
    }
}

/// |q ∩ p| / min(|q|, |p|); 0 where one is empty.
fn overlap(query: &HashSet<String>, passages: &HashSet<String>) -> f32 {
    let least = query.len().min(passages.len());
    #[expect(clippy::cast_precision_loss, reason = "a few hundred words")]
    let share = query.intersection(passages).count() as f32 / least.max(1) as f32;
    share
}
