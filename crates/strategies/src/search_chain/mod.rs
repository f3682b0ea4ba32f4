//! `SearChain`: the model answers a chain of questions, and searching checks each answer.
//!
//! Paper: Xu et al., "Search-in-the-Chain", WWW 2024, as set up in "From Complex to Atomic" (ICML
//! 2025), Appendix A.2, and in DEC: one chunk for each question.
//!
//! ```text
//! H <- []                                the questions and answers that hold
//! repeat at most N times
//!     (q_1, a_1) … (q_n, a_n) <- LLM(q, H)   the rest of the chain  -> search_chain/chain.md
//!     for i = 1 … n
//!         D <- chunks near q_i
//!         g <- LLM(q_i, a_i, D)              the answer as read     -> search_chain/verify.md
//!         a_i is unsolved, g is found        completion: H + (q_i, g), continue from there
//!         g is sure and differs from a_i     correction: H + (q_i, g), continue from there
//!         else                               H + (q_i, a_i)
//!     stop when every node held
//! â <- LLM(q, H)                                                    -> search_chain/answer.md
//! ```
//!
//! Departures from the paper: `docs/developers/departures.md`.
mod check;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::text::words;
use halma_core::{
    Answer, AnswerText, Cx, Entry, Mode, Prompt, Question, Result, Strategy, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use self::check::NodeCheck;
use crate::shared::citing::{Solved, closing};
use crate::shared::closing::close;
use crate::shared::plan::{Step, plan};
use crate::shared::settings;
use crate::shared::sources::Near;
use crate::shared::steps::{Reading, abstain};

pub(crate) const ENTRY: Entry = Entry {
    name: "search_chain",
    paper: "Search-in-the-Chain (WWW 2024), as a baseline of KAR³, AtomR and DEC",
    summary: "writes a chain of questions with answers and checks each answer by searching",
    calls: "1 for each chain, 1 for each node that is checked, and 1 to answer",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<SearchChain>(table)?.checked()?)),
};

const CHAIN: Prompt<Chain> = Prompt::json("search_chain/chain");
const ANSWER: Prompt<Reading> = Prompt::json("search_chain/answer");

#[derive(Deserialize)]
struct Chain {
    nodes: Vec<String>,
}

/// A question with the model's own answer; empty where it knows none.
struct Node {
    question: String,
    answer: String,
}

impl Node {
    /// What a model writes as `question -> answer`.
    fn parse(text: &str) -> Self {
        let after_mark = || text.rfind(['?', '？']).map(|at| text.split_at(at + 1));
        let split = ["->", "=>", "→"].iter().find_map(|arrow| text.rsplit_once(arrow));
        let (question, answer) = split.or_else(after_mark).unwrap_or((text, ""));
        let answer = Some(answer.trim()).filter(|answer| *answer != "?").unwrap_or_default();
        let answer = AnswerText::from(answer).0;
        Self { question: question.trim().to_owned(), answer }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SearchChain {
    /// N, the most chains (the paper's limit of interactions).
    pub(crate) n: usize,
    /// The most nodes of one chain; the paper has no limit.
    pub(crate) max_nodes: usize,
    /// Chunks for each node (DEC, Appendix A).
    pub(crate) chunks: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for SearchChain {
    fn default() -> Self {
        Self { n: 5, max_nodes: 8, chunks: 1, min_score: None, mode: Mode::Dense }
    }
}

/// H, and whether anything was ever found.
#[derive(Default)]
struct History {
    solved: Vec<Solved>,
    has_hits: bool,
}

#[async_trait]
impl Strategy for SearchChain {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let mut history = History::default();
        for round in 1..=self.n {
            let cx = cx.span(format!("chain {round}"));
            let ended = self.chain(question, &mut history, &cx).await.map(Some);
            if ended.unless_spent()?.unwrap_or(true) {
                break;
            }
        }
        let History { solved, has_hits } = history;
        if question.abstain && !has_hits && !solved.is_empty() {
            return Ok(abstain("nothing in the knowledge base is near any question of the chain"));
        }
        let variables = context! { question => Serde(question), history => Serde(&solved) };
        Ok(closing(close(&ANSWER, variables, cx).await?, &solved))
    }
}

impl SearchChain {
    /// One chain, as far as it holds; whether it did to its end.
    async fn chain(&self, question: &Question, history: &mut History, cx: &Cx) -> Result<bool> {
        let variables = context! { question => Serde(question), history => Serde(&history.solved) };
        let chain = cx.ask(&CHAIN, variables).await;
        let Some(Chain { nodes }) = chain.unless_failed(cx, "no further chain is written")? else {
            return Ok(true);
        };
        let nodes: Vec<Node> = nodes.iter().map(|node| Node::parse(node)).collect();
        let texts: Vec<String> = nodes.iter().map(|node| node.question.clone()).collect();
        let steps = plan(&texts, &[], self.max_nodes, cx);
        // What the model says, until it is checked.
        let mut given: Vec<String> = steps.iter().map(|step| claimed(step, &nodes)).collect();
        let mut count = 0;
        for place in 0..steps.len() {
            let answers = |place: usize| match given[place].as_str() {
                "" => vec![],
                answer => vec![answer.to_owned()],
            };
            let text = steps[place].fill(answers, 1).texts.concat();
            let same = |solved: &&Solved| words(&solved.question) == words(&text);
            if let Some(before) = history.solved.iter().find(same) {
                cx.note(format!("`{text}` was checked already"));
                given[place].clone_from(&before.answer);
                continue;
            }
            count += 1;
            let NodeCheck { answer, goes_on } =
                self.check(&question.sub_question(text), &given[place], history, cx).await?;
            given[place] = answer;
            if !goes_on {
                return Ok(false);
            }
        }
        if count == 0 {
            cx.note("the chain is complete");
        }
        Ok(true)
    }

    fn near(&self) -> Near {
        Near { chunks: self.chunks, atoms: 0, min_score: self.min_score, mode: self.mode }
    }

    fn checked(self) -> std::result::Result<Self, String> {
        settings::at_least_one("n", self.n)?;
        settings::at_least_one("max_nodes", self.max_nodes)?;
        settings::at_least_one("chunks", self.chunks)?;
        settings::a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}

/// The answer that the model gives to a step.
fn claimed(step: &Step, nodes: &[Node]) -> String {
    let node = nodes.iter().find(|node| node.question.trim() == step.worded);
    node.map_or_else(String::new, |node| node.answer.clone())
}
