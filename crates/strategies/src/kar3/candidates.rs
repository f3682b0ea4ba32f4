//! The middle of a hop: what is near the proposals, and which of it is chosen.
use halma_core::{Cx, Filter, Hit, Layer, MinScore, Prompt, Query, Question, Result};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::{Kar3, Retrieve, SelectBy};
use crate::shared::steps::{chunk_of, chunks_of, unseen};

const SELECT: Prompt<Choice> = Prompt::json("kar3/select");
const SELECT_CHUNK: Prompt<Choice> = Prompt::json("kar3/select_chunk");

/// Candidates count from 1; 0 chooses none.
#[derive(Deserialize)]
struct Choice {
    question_idx: usize,
}

impl Kar3 {
    /// What is near the proposals; failing that, near the question; failing that, chunks near it.
    pub(super) async fn retrieve(
        &self,
        question: &Question,
        proposals: Vec<String>,
        context: &[Hit],
        cx: &Cx,
    ) -> Result<Vec<Hit>> {
        let layer = if self.retrieve == Retrieve::Atoms { Layer::Atom } else { Layer::Chunk };
        let with_question = || vec![question.text.clone()];
        let asked = proposals.contains(&question.text);
        let mut found = self.near(proposals, layer, context, cx).await?;
        if found.is_empty() && self.fall_back_question && !asked {
            cx.note("no result is near the proposals: searching with the question");
            found = self.near(with_question(), layer, context, cx).await?;
        }
        if found.is_empty() && self.fall_back_chunks && layer == Layer::Atom {
            cx.note("no atom is near: searching chunks with the question");
            found = self.near(with_question(), Layer::Chunk, context, cx).await?;
        }
        Ok(found)
    }

    /// One search for all texts.
    async fn near(
        &self,
        texts: Vec<String>,
        layer: Layer,
        context: &[Hit],
        cx: &Cx,
    ) -> Result<Vec<Hit>> {
        let query = Query {
            limit: if texts.len() == 1 { self.k.max(self.k_single) } else { self.k },
            texts,
            layer,
            mode: self.mode,
            min_score: MinScore::from_setting(self.min_score),
            exclude: context.iter().map(|chunk| chunk.id.clone()).collect(),
            filter: Filter::default(),
        };
        Ok(unseen(cx.search(&query).await?, context))
    }

    /// The chunk that the selector chooses.
    pub(super) async fn select(
        &self,
        question: &Question,
        context: &[Hit],
        mut candidates: Vec<Hit>,
        cx: &Cx,
    ) -> Result<Option<Hit>> {
        if self.select_by == SelectBy::Chunk {
            candidates = chunks_of(&candidates, cx).await?;
        }
        let mut chosen = choose(question, context, &candidates, cx).await?;
        if chosen.is_none() && self.second_look && !are_chunks(&candidates) {
            cx.note("none was chosen by its atom: offering the chunks");
            candidates = chunks_of(&candidates, cx).await?;
            chosen = choose(question, context, &candidates, cx).await?;
        }
        let Some(i) = chosen else {
            cx.note("none was chosen");
            return Ok(None);
        };
        let chosen = &candidates[i];
        // Choices are indexes in replies; a person wants to see what was chosen.
        cx.note(format!("reads “{}” for: {}", chosen.title, chosen.text.trim()));
        chunk_of(chosen, cx).await.map(Some)
    }
}

/// The index of the candidate the selector chooses. A number that was not offered is malformed.
async fn choose(
    question: &Question,
    context: &[Hit],
    candidates: &[Hit],
    cx: &Cx,
) -> Result<Option<usize>> {
    let prompt = if are_chunks(candidates) { &SELECT_CHUNK } else { &SELECT };
    let offered = |choice: &Choice| match choice.question_idx {
        i if i <= candidates.len() => Ok(()),
        i => Err(format!("`question_idx` is {i}, but 0 to {} are on offer", candidates.len())),
    };
    let variables = context! {
        question => Serde(question),
        context => Serde(context),
        candidates => Serde(candidates),
    };
    let choice = cx.ask_checked(prompt, variables, offered).await?;
    Ok(choice.question_idx.checked_sub(1))
}

fn are_chunks(candidates: &[Hit]) -> bool {
    candidates.iter().all(|candidate| candidate.layer == Layer::Chunk)
}
