//! The middle of a hop: what is near the proposals, and which of it is chosen.
use std::collections::HashSet;

use halma_core::{Cx, Hit, Layer, MinScore, Prompt, Query, Question, Result, UnlessFailed as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::{Kar3, Proposal, Retrieve, SelectBy};
use crate::shared::steps::{chunk_id, chunk_of, unseen};

const SELECT: Prompt<Choice> = Prompt::json("kar3/select");
const SELECT_CHUNK: Prompt<Choice> = Prompt::json("kar3/select_chunk");

/// The most atoms of one chunk that the selector sees. Of 12 recorded choices 10 name the chunk's
/// best atom and 11 one of its best three.
const ATOMS: usize = 3;

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
    async fn into_chunk(self, cx: &Cx) -> Result<Self> {
        Ok(Self { hit: chunk_of(&self.hit, cx).await?, also: vec![], query: self.query })
    }

    /// q^t: the atom, where atoms are questions; where they are sentences, what found it.
    fn sub_question(&self) -> &str {
        let text = self.hit.text.trim();
        let asks = self.hit.layer == Layer::Atom && text.ends_with(['?', '？']);
        if asks { text } else { self.query.trim() }
    }
}

impl Kar3 {
    /// What is near the proposals; failing that, near the question; failing that, chunks near it.
    /// A proposal that nothing new is near was made in vain.
    pub(super) async fn retrieve(
        &self,
        question: &Question,
        proposals: &mut [Proposal],
        context: &[Hit],
        cx: &Cx,
    ) -> Result<Vec<Candidate>> {
        let layer = if self.retrieve == Retrieve::Atoms { Layer::Atom } else { Layer::Chunk };
        let with_question = || vec![question.text.clone()];
        let texts: Vec<String> = proposals.iter().map(|proposal| proposal.text.clone()).collect();
        let asked = texts.contains(&question.text);
        let mut lists = self.near(texts.clone(), layer, context, cx).await?;
        for (proposal, list) in proposals.iter_mut().zip(&lists) {
            proposal.in_vain = list.is_empty();
        }
        let mut found = candidates(&texts, &lists, context);
        if found.is_empty() && self.fall_back_question && !asked {
            cx.note("no result is near the proposals: searching with the question");
            lists = self.near(with_question(), layer, context, cx).await?;
            found = candidates(&with_question(), &lists, context);
        }
        if found.is_empty() && self.fall_back_chunks && layer == Layer::Atom {
            cx.note("no atom is near: searching chunks with the question");
            lists = self.near(with_question(), Layer::Chunk, context, cx).await?;
            found = candidates(&with_question(), &lists, context);
        }
        Ok(found)
    }

    /// One search for all texts, a list for each.
    async fn near(
        &self,
        texts: Vec<String>,
        layer: Layer,
        context: &[Hit],
        cx: &Cx,
    ) -> Result<Vec<Vec<Hit>>> {
        cx.search(&self.query(texts, layer, context)).await
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

    /// The chunk that the selector chooses.
    pub(super) async fn select(
        &self,
        question: &Question,
        context: &[Hit],
        mut candidates: Vec<Candidate>,
        cx: &Cx,
    ) -> Result<Option<Selected>> {
        if self.select_by == SelectBy::Chunk {
            candidates = chunks_of(candidates, cx).await?;
        }
        let mut chosen = choose(question, context, &candidates, cx).await?;
        if matches!(chosen, Chosen::None) && self.second_look && !are_chunks(&candidates) {
            cx.note("none was chosen by its atom: offering the chunks");
            candidates = chunks_of(candidates, cx).await?;
            chosen = choose(question, context, &candidates, cx).await?;
        }
        let i = match chosen {
            Chosen::Candidate(i) => i,
            // The paper's selector picks among the nearest; without one, the nearest is left.
            Chosen::Unreadable => 0,
            Chosen::None => {
                cx.note("none was chosen");
                return Ok(None);
            }
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
fn candidates(texts: &[String], lists: &[Vec<Hit>], context: &[Hit]) -> Vec<Candidate> {
    let best_of = |list: &Vec<Hit>| {
        let mut seen = HashSet::new();
        let best = list.iter().filter(|hit| seen.insert(chunk_id(hit).clone()));
        best.cloned().collect::<Vec<Hit>>()
    };
    let lists: Vec<Vec<Hit>> = lists.iter().map(best_of).collect();
    let mut others: Vec<Hit> = lists.iter().flatten().cloned().collect();
    others.sort_by(|a, b| b.score.total_cmp(&a.score));
    let candidate = |hit: Hit| {
        let mut also: Vec<String> = vec![];
        for other in others.iter().filter(|other| chunk_id(other) == chunk_id(&hit)) {
            if also.len() + 1 < ATOMS && other.text != hit.text && !also.contains(&other.text) {
                also.push(other.text.clone());
            }
        }
        // The text that found the hit itself; two of one score were found by the first.
        let found_by = lists.iter().position(|list| {
            list.iter().any(|other| other.id == hit.id && other.score >= hit.score)
        });
        let query = found_by.and_then(|at| texts.get(at)).cloned().unwrap_or_default();
        Candidate { hit, also, query }
    };
    unseen(lists.clone(), context).into_iter().map(candidate).collect()
}

async fn chunks_of(candidates: Vec<Candidate>, cx: &Cx) -> Result<Vec<Candidate>> {
    let mut chunks = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        chunks.push(candidate.into_chunk(cx).await?);
    }
    Ok(chunks)
}

/// What the selector replies.
enum Chosen {
    /// The index of a candidate.
    Candidate(usize),
    None,
    /// No reply says what is chosen.
    Unreadable,
}

/// The candidate that the selector chooses. A number that was not offered is malformed.
async fn choose(
    question: &Question,
    context: &[Hit],
    candidates: &[Candidate],
    cx: &Cx,
) -> Result<Chosen> {
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
    Ok(match choice.map(|choice| choice.candidate) {
        Some(0) => Chosen::None,
        Some(i) => Chosen::Candidate(i - 1),
        None => Chosen::Unreadable,
    })
}

fn are_chunks(candidates: &[Candidate]) -> bool {
    candidates.iter().all(|candidate| candidate.hit.layer == Layer::Chunk)
}
