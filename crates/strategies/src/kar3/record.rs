//! Hops as a decomposer is trained on them (PIKE-RAG, Algorithm 2): each with the answer to its
//! sub-question, and the chunks that were near but not near enough.
use std::collections::{HashMap, HashSet};

use halma_core::{
    ChosenHop, Cx, DecompositionHop, Hit, HopCandidate, Layer, NodeId, Prompt, Question, Result,
    UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;

use super::candidates::{Candidate, Selected};
use super::{Kar3, Retrieve, State};
use crate::shared::steps::{Reading, chunk_id};

const ANSWER_ONE: Prompt<Reading> = Prompt::json("kar3/answer_one");

/// The record of a hop that begins.
pub(super) fn recorded(sampled: Option<&Hit>) -> DecompositionHop {
    let sampled = sampled.map(|chunk| chunk.id.clone());
    DecompositionHop { sampled, ..DecompositionHop::default() }
}

pub(super) fn candidate(candidate: &Candidate) -> HopCandidate {
    line(&candidate.hit)
}

fn line(hit: &Hit) -> HopCandidate {
    HopCandidate {
        chunk: chunk_id(hit).clone(),
        title: hit.title.clone(),
        text: hit.text.clone(),
        sim: similarity(hit),
    }
}

fn similarity(hit: &Hit) -> f32 {
    hit.cosine.unwrap_or(hit.score)
}

impl Kar3 {
    pub(super) fn record(&self, hop: &DecompositionHop, cx: &Cx) {
        if self.sub_answers || self.sample {
            cx.note(hop.note());
        }
    }

    /// Lines 7 to 15: what the proposals find among the top K', and above δ', and what is not offered,
    /// gets into the pool. By the paper's text that is what is not among the top K, and by line 10 what
    /// is below δ: whatever names lead to is above it, so that it alone would leave the pool empty.
    pub(super) async fn pool_others(
        &self,
        hop: &mut DecompositionHop,
        candidates: &[Candidate],
        state: &mut State,
        cx: &Cx,
    ) -> Result<()> {
        let layer = if self.retrieve == Retrieve::Atoms { Layer::Atom } else { Layer::Chunk };
        let mut query = self.query(hop.proposals.clone(), layer, &state.context);
        query.min_score = query.min_score.lowered(self.sample_below);
        query.limit += self.sample_k.saturating_sub(self.k);
        let offered: HashSet<&NodeId> = candidates.iter().map(|c| chunk_id(&c.hit)).collect();
        // Every atom once, with its greatest similarity to any proposal.
        let mut best: HashMap<NodeId, Hit> = HashMap::new();
        for hit in cx.search(&query).await?.into_iter().flatten() {
            if offered.contains(chunk_id(&hit)) {
                continue;
            }
            let known = best.get(&hit.id).map(similarity);
            if known.is_none_or(|known| similarity(&hit) > known) {
                best.insert(hit.id.clone(), hit);
            }
        }
        let mut others: Vec<Hit> = best.into_values().collect();
        others.sort_by(|a, b| similarity(b).total_cmp(&similarity(a)).then(a.id.cmp(&b.id)));
        for hit in &others {
            state.pool.add(chunk_id(hit), similarity(hit));
        }
        hop.below = others.iter().map(line).collect();
        Ok(())
    }

    /// Records the hop with the answer to its sub-question.
    pub(super) async fn record_choice(
        &self,
        hop: DecompositionHop,
        selected: &Selected,
        question: &Question,
        cx: &Cx,
    ) -> Result<()> {
        if !self.sub_answers && !self.sample {
            return Ok(());
        }
        let Selected { candidate, chunk, sub_question } = selected;
        let answer = answer_one(question, sub_question, chunk, cx).await?;
        let (candidate, sub_question) = (*candidate, sub_question.clone());
        let chosen = ChosenHop { candidate, sub_question, answer, chunk: chunk.id.clone() };
        cx.note(DecompositionHop { chosen: Some(chosen), ..hop }.note());
        Ok(())
    }
}

/// a^t, read from the chunk of q^t alone; empty where it does not say.
pub(super) async fn answer_one(
    question: &Question,
    sub_question: &str,
    chunk: &Hit,
    cx: &Cx,
) -> Result<String> {
    let asked = question.sub_question(sub_question);
    let variables =
        context! { question => Serde(&asked), context => Serde(std::slice::from_ref(chunk)) };
    let reading = cx.ask(&ANSWER_ONE, variables).await;
    let reading = reading.unless_failed(cx, "the sub-question stays without an answer");
    Ok(reading.unless_spent()?.map_or_else(String::new, |read| read.answer.trim().to_owned()))
}
