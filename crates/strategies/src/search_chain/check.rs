//! One node of the chain against what is found.
use halma_core::{Cx, Prompt, Question, Result, UnlessFailed as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::{History, SearchChain};
use crate::shared::citing::Solved;
use crate::shared::steps::{Reading, answer_text};

const VERIFY: Prompt<Verdict> = Prompt::json("search_chain/verify");

/// What the passages say to a question that has an answer already.
#[derive(Deserialize)]
struct Verdict {
    #[serde(deserialize_with = "answer_text")]
    answer: String,
    #[serde(default)]
    rationale: String,
    /// The given answer means the same.
    agrees: bool,
    /// A passage says it outright.
    sure: bool,
}

/// The answer that holds, and whether the chain continues with the one it gave.
pub(super) struct NodeCheck {
    pub(super) answer: String,
    pub(super) goes_on: bool,
}

impl SearchChain {
    /// Checks one answer and writes down what holds.
    pub(super) async fn check(
        &self,
        question: &Question,
        given: &str,
        history: &mut History,
        cx: &Cx,
    ) -> Result<NodeCheck> {
        let text = question.text.as_str();
        let hits = self.near().to(text, &[], cx).await?;
        let unchecked = |why: &str| {
            cx.note(match given {
                "" => format!("{why}: unsolved"),
                given => format!("{why}: `{given}` stays unchecked"),
            });
            Solved { question: text.to_owned(), answer: given.to_owned(), citations: vec![] }
        };
        if hits.is_empty() {
            history.solved.push(unchecked("nothing is near"));
            return Ok(NodeCheck { answer: given.to_owned(), goes_on: !given.is_empty() });
        }
        history.has_hits = true;
        let (question, context) = (Serde(question), Serde(&hits));
        let variables = context! { question, answer => given, context };
        let verdict = cx.ask(&VERIFY, variables).await.unless_failed(cx, "the check is skipped")?;
        let Some(Verdict { answer, rationale, agrees, sure }) = verdict else {
            history.solved.push(unchecked("the reply cannot be used"));
            return Ok(NodeCheck { answer: given.to_owned(), goes_on: !given.is_empty() });
        };
        let reading = Reading { answer, rationale };
        let read = Solved::read(text.to_owned(), reading, &hits);
        let (solved, goes_on) = match (given.is_empty(), read.answer.is_empty()) {
            (unsolved, true) => (unchecked("the passages do not say"), !unsolved),
            (true, false) => {
                cx.note(format!("completed: `{}`", read.answer));
                (read, false)
            }
            // What the passages supports stays in the words of the chain that it is a part of.
            (false, false) if agrees => (Solved { answer: given.to_owned(), ..read }, true),
            (false, false) if sure => {
                cx.note(format!("corrected: `{}`, not `{given}`", read.answer));
                (read, false)
            }
            (false, false) => (unchecked("the passages are not sure"), true),
        };
        let answer = solved.answer.clone();
        history.solved.push(solved);
        Ok(NodeCheck { answer, goes_on })
    }
}
