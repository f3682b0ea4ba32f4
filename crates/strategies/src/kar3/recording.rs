//! The loop whose hops a decomposer is trained on (PIKE-RAG, Algorithm 2): each is recorded with the
//! answer to its sub-question and the chunks that were near but not near enough. With `sample` the
//! proposer sees a chunk of these as well.
use std::collections::{HashMap, HashSet};

use halma_core::{
    ChosenHop, Cx, DecompositionHop, Hit, HopCandidate, NodeId, Prompt, Question, Result,
    UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;

use super::candidates::{Candidate, Selected};
use super::pool::{Draw, Pool};
use super::propose::Proposal;
use super::{Hop, Kar3, State};
use crate::shared::steps::{Reading, chunk_id};

const ANSWER_ONE: Prompt<Reading> = Prompt::json("kar3/answer_one");

impl Kar3 {
    /// The context of [`Kar3::collect`], with a record of every hop in the trace.
    pub(super) async fn collect_recorded(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        let (mut state, mut pool) = (State::default(), Pool::default());
        for t in 1..=self.n {
            let cx = cx.span(format!("hop {t}"));
            let hop = self.recorded_hop(question, (t, &mut pool), &mut state, &cx).await;
            if !self.continues(hop, &mut state)? {
                break;
            }
        }
        Ok(state.context)
    }

    async fn recorded_hop(
        &self,
        question: &Question,
        (t, pool): (usize, &mut Pool),
        state: &mut State,
        cx: &Cx,
    ) -> Result<Hop> {
        let sampled = self.sampled(t, &state.context, pool, cx).await?;
        let sampled_id = sampled.as_ref().map(|chunk| chunk.id.clone());
        let mut record = DecompositionHop { sampled: sampled_id, ..DecompositionHop::default() };
        let mut proposals = self.propose_from(question, sampled, state, cx).await?;
        if proposals.is_empty() {
            cx.note("enough is known");
            cx.note(record.note());
            return Ok(Hop::Enough);
        }
        record.proposals = proposals.iter().map(|proposal| proposal.text.clone()).collect();
        let context = &state.context;
        let candidates = self.retrieve(question, &mut proposals, context, cx).await?;
        if self.sample {
            let below = self.below(&record.proposals, &candidates, context, cx).await?;
            for hit in &below {
                pool.add(chunk_id(hit), similarity(hit));
            }
            record.below = below.iter().map(hop_candidate).collect();
        }
        record.candidates = candidates.iter().map(|c| hop_candidate(&c.hit)).collect();
        let selected = self.select(question, context, candidates, cx).await?;
        if let Some(selected) = &selected {
            pool.choose(&selected.chunk.id);
            let Selected { candidate, chunk, sub_question } = selected;
            let answer = answer_one(question, sub_question, chunk, cx).await?;
            let (candidate, sub_question) = (*candidate, sub_question.clone());
            let chunk = chunk.id.clone();
            record.chosen = Some(ChosenHop { candidate, sub_question, answer, chunk });
        }
        cx.note(record.note());
        Ok(state.read(proposals, selected))
    }

    /// Line 5 of Algorithm 2: a chunk to be shown to the proposer.
    async fn sampled(
        &self,
        t: usize,
        context: &[Hit],
        pool: &mut Pool,
        cx: &Cx,
    ) -> Result<Option<Hit>> {
        if !self.sample {
            return Ok(None);
        }
        let (alpha, noise, seed) = (self.sample_alpha, self.sample_noise, self.sample_seed);
        let context: Vec<&NodeId> = context.iter().map(|chunk| &chunk.id).collect();
        let Some(id) = pool.sample(t, &context, Draw { alpha, noise, seed }) else {
            return Ok(None);
        };
        pool.visit(&id);
        let chunk = cx.get(&id).await?;
        cx.note(format!("shows the proposer “{}” as well", chunk.title));
        Ok(Some(chunk))
    }

    /// Line 6: proposals from the context and the sampled chunk; where that leaves nothing to ask,
    /// from the context alone, as the sampled chunk is not in it.
    async fn propose_from(
        &self,
        question: &Question,
        sampled: Option<Hit>,
        state: &State,
        cx: &Cx,
    ) -> Result<Vec<Proposal>> {
        let State { context, proposed, .. } = state;
        if let Some(sampled) = sampled {
            let shown: Vec<Hit> = context.iter().cloned().chain([sampled]).collect();
            let proposals = self.propose(question, &shown, proposed, cx).await?;
            if !proposals.is_empty() {
                return Ok(proposals);
            }
            cx.note("nothing is proposed with the sampled chunk: proposing without it");
        }
        self.propose(question, context, proposed, cx).await
    }

    /// Lines 7 to 15: what the proposals find among the top K', and above δ', and what is not offered,
    /// nearest first. By the paper's text that is what is not among the top K, and by line 10 what
    /// is below δ: whatever names lead to is above it, so that it alone would leave the pool empty.
    async fn below(
        &self,
        proposals: &[String],
        candidates: &[Candidate],
        context: &[Hit],
        cx: &Cx,
    ) -> Result<Vec<Hit>> {
        let mut query = self.query(proposals.to_vec(), self.layer(), context);
        query.min_score = query.min_score.lowered(self.sample_below);
        query.limit += self.sample_k.saturating_sub(self.k);
        let offered: HashSet<&NodeId> = candidates.iter().map(|c| chunk_id(&c.hit)).collect();
        // Every atom once, with its greatest similarity to any proposal.
        let mut best: HashMap<NodeId, Hit> = HashMap::new();
        for hit in cx.search(&query).await?.into_iter().flatten() {
            let nearer =
                best.get(&hit.id).is_none_or(|earlier| similarity(&hit) > similarity(earlier));
            if nearer && !offered.contains(chunk_id(&hit)) {
                best.insert(hit.id.clone(), hit);
            }
        }
        let mut below: Vec<Hit> = best.into_values().collect();
        below.sort_by(|a, b| similarity(b).total_cmp(&similarity(a)).then(a.id.cmp(&b.id)));
        Ok(below)
    }
}

fn hop_candidate(hit: &Hit) -> HopCandidate {
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

/// a^t, read from the chunk of q^t alone; empty where it does not say.
pub(super) async fn answer_one(
    question: &Question,
    sub_question: &str,
    chunk: &Hit,
    cx: &Cx,
) -> Result<String> {
    let question = question.sub_question(sub_question);
    let variables =
        context! { question => Serde(&question), context => Serde(std::slice::from_ref(chunk)) };
    let reading = cx.ask(&ANSWER_ONE, variables).await;
    let reading = reading.unless_failed(cx, "the sub-question stays without an answer");
    Ok(reading.unless_spent()?.map_or_else(String::new, |read| read.answer.trim().to_owned()))
}
