//! The middle of a hop: what is near the proposals, and which of it is chosen.
use std::collections::{HashMap, HashSet};

use halma_core::{
    Cx, Hit, Layer, MinScore, NodeId, Prompt, Query, Question, Result, UnlessFailed as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::propose::Proposal;
use super::{Kar3, Retrieve, SelectBy};
use crate::shared::steps::{chunk_id, chunk_of};

const SELECT: Prompt<Choice> = Prompt::json("kar3/select");
const SELECT_CHUNK: Prompt<Choice> = Prompt::json("kar3/select_chunk");

/// The maximum of atoms of one chunk that the selector sees. Of 12 recorded choices 10 name the chunk's
/// best atom and 11 one of its best three.
const MAX_ATOMS: usize = 3;

/// Candidates count from 1; 0 chooses none.
#[derive(Deserialize)]
struct Choice {
    /// Prompts of users may ask for it under its former name.
    #[serde(alias = "question_idx")]
    candidate: usize,
}

/// A chunk that may be read next.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Candidate {
    /// The chunk, or that of its atoms that is nearest to a proposal.
    #[serde(flatten)]
    pub(super) hit: Hit,
    /// Its atoms that are nearest to other proposals: the best one may hide why the chunk matters.
    also: Vec<String>,
    /// The text that found it.
    #[serde(skip)]
    query: String,
}

/// The chunk of a candidate that the selector chose.
pub(super) struct Selected {
    /// Its place among the candidates, from 0.
    pub(super) candidate: usize,
    pub(super) chunk: Hit,
    /// What is asked of it.
    pub(super) sub_question: String,
}

impl Candidate {
    fn add_atom(&mut self, text: String) {
        if self.also.len() + 1 < MAX_ATOMS && self.hit.text != text && !self.also.contains(&text) {
            self.also.push(text);
        }
    }

    /// q^t: the atom, where atoms are questions; where they are sentences, what found it.
    fn sub_question(&self) -> &str {
        let text = self.hit.text.trim();
        let asks = self.hit.layer == Layer::Atom && text.ends_with(['?', '？']);
        if asks { text } else { self.query.trim() }
    }
}

impl Kar3 {
    /// P: what is near the proposals; failing that, near the question; failing that, chunks near it.
    /// A proposal that nothing new is near was made in vain.
    pub(super) async fn retrieve(
        &self,
        question: &Question,
        proposals: &mut [Proposal],
        context: &[Hit],
        cx: &Cx,
    ) -> Result<Vec<Candidate>> {
        let layer = self.layer();
        let texts: Vec<String> = proposals.iter().map(|proposal| proposal.text.clone()).collect();
        let lists = cx.search(&self.query(texts.clone(), layer, context)).await?;
        for (proposal, hits) in proposals.iter_mut().zip(&lists) {
            proposal.in_vain = hits.is_empty();
        }
        let mut candidates = distinct_chunks(&texts, lists);
        let question = std::slice::from_ref(&question.text);
        let by_question = self.fall_back_question && !texts.contains(&question[0]);
        let by_chunk = self.fall_back_chunks && layer == Layer::Atom;
        for (applies, layer, note) in [
            (by_question, layer, "no result is near the proposals: searching with the question"),
            (by_chunk, Layer::Chunk, "no atom is near: searching chunks with the question"),
        ] {
            if applies && candidates.is_empty() {
                cx.note(note);
                let lists = cx.search(&self.query(question.to_vec(), layer, context)).await?;
                candidates = distinct_chunks(question, lists);
            }
        }
        Ok(candidates)
    }

    /// The layer that is searched first.
    pub(super) fn layer(&self) -> Layer {
        if self.retrieve == Retrieve::Atoms { Layer::Atom } else { Layer::Chunk }
    }

    /// A search for what the context does not hold.
    pub(super) fn query(&self, texts: Vec<String>, layer: Layer, context: &[Hit]) -> Query {
        let k = if texts.len() == 1 { self.k.max(self.k_single) } else { self.k };
        Query {
            min_score: MinScore::from_setting(self.min_score),
            exclude: context.iter().map(|chunk| chunk.id.clone()).collect(),
            ..Query::new(texts, layer, self.mode, k)
        }
    }

    /// s: the chunk that the selector chooses.
    pub(super) async fn select(
        &self,
        question: &Question,
        context: &[Hit],
        mut candidates: Vec<Candidate>,
        cx: &Cx,
    ) -> Result<Option<Selected>> {
        if candidates.is_empty() {
            cx.note("nothing new is near");
            return Ok(None);
        }
        if self.select_by == SelectBy::Chunk {
            candidates = chunks_of(candidates, cx).await?;
        }
        let mut choice = choose(question, context, &candidates, cx).await?;
        if choice == Some(0) && self.second_look && !are_chunks(&candidates) {
            cx.note("none was chosen by its atom: offering the chunks");
            candidates = chunks_of(candidates, cx).await?;
            choice = choose(question, context, &candidates, cx).await?;
        }
        // The paper's selector picks among the nearest; without a readable choice, the nearest is left.
        let Some(i) = choice.unwrap_or(1).checked_sub(1) else {
            cx.note("none was chosen");
            return Ok(None);
        };
        let sub_question = candidates[i].sub_question().to_owned();
        let chosen = &candidates[i].hit;
        // Choices are indexes in replies; a person wants to see what was chosen.
        cx.note(format!("reads “{}” for: {}", chosen.title, chosen.text.trim()));
        let chunk = chunk_of(chosen, cx).await?;
        Ok(Some(Selected { candidate: i, chunk, sub_question }))
    }
}

/// The chunks that the lists lead to, best first, each once, with its best atom of each list.
fn distinct_chunks(texts: &[String], lists: Vec<Vec<Hit>>) -> Vec<Candidate> {
    let mut hits: Vec<(Hit, &String)> = vec![];
    for (text, list) in texts.iter().zip(lists) {
        let mut chunks = HashSet::new();
        let best = list.into_iter().filter(|hit| chunks.insert(chunk_id(hit).clone()));
        hits.extend(best.map(|hit| (hit, text)));
    }
    // Stable, so that of equal scores the first text's hit leads.
    hits.sort_by(|(a, _), (b, _)| b.score.total_cmp(&a.score));
    let mut candidates: Vec<Candidate> = vec![];
    let mut positions: HashMap<NodeId, usize> = HashMap::new();
    for (hit, query) in hits {
        let position = *positions.entry(chunk_id(&hit).clone()).or_insert(candidates.len());
        match candidates.get_mut(position) {
            Some(candidate) => candidate.add_atom(hit.text),
            None => candidates.push(Candidate { hit, also: vec![], query: query.clone() }),
        }
    }
    candidates
}

async fn chunks_of(mut candidates: Vec<Candidate>, cx: &Cx) -> Result<Vec<Candidate>> {
    for candidate in &mut candidates {
        candidate.hit = chunk_of(&candidate.hit, cx).await?;
        candidate.also.clear();
    }
    Ok(candidates)
}

/// The number of the candidate that the selector chooses, 0 for none; `None` where no reply says it.
/// A number that was not offered is malformed.
async fn choose(
    question: &Question,
    context: &[Hit],
    candidates: &[Candidate],
    cx: &Cx,
) -> Result<Option<usize>> {
    let prompt = if are_chunks(candidates) { &SELECT_CHUNK } else { &SELECT };
    let offered = |choice: &Choice| match choice.candidate {
        i if i <= candidates.len() => Ok(()),
        i => Err(format!("`candidate` is {i}, but 0 to {} are on offer", candidates.len())),
    };
    let variables = context! {
        question => Serde(question),
        context => Serde(context),
        candidates => Serde(candidates),
    };
    let choice = cx.ask_checked(prompt, variables, offered).await;
    let choice = choice.unless_failed(cx, "the nearest candidate is read")?;
    Ok(choice.map(|choice| choice.candidate))
}

fn are_chunks(candidates: &[Candidate]) -> bool {
    candidates.iter().all(|candidate| candidate.hit.layer == Layer::Chunk)
}
