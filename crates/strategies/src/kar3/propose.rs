//! `Q <- f_p(q, C)`: the sub-questions that a hop searches for.
use halma_core::{Cx, Hit, Prompt, Question, Result, UnlessFailed as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::{Kar3, Proposals};

const PROPOSE: Prompt<SubQuestions> = Prompt::json("kar3/propose");
const PROPOSE_ONE: Prompt<SubQuestions> = Prompt::json("kar3/propose_one");

#[derive(Deserialize)]
struct SubQuestions {
    sub_questions: Vec<String>,
}

/// A sub-question that was searched for.
#[derive(Debug, Serialize)]
pub(super) struct Proposal {
    pub(super) text: String,
    /// Nothing new was near it, or none of the candidates of its hop was chosen.
    pub(super) in_vain: bool,
}

impl Proposal {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), in_vain: false }
    }
}

impl Kar3 {
    /// Q without repeats; none when enough is known.
    pub(super) async fn propose(
        &self,
        question: &Question,
        context: &[Hit],
        proposed: &[Proposal],
        cx: &Cx,
    ) -> Result<Vec<Proposal>> {
        let prompt = if self.proposals == Proposals::One { &PROPOSE_ONE } else { &PROPOSE };
        let worded = |reply: &SubQuestions| {
            let blank = |sub_question: &String| sub_question.trim().is_empty();
            let empty = !reply.sub_questions.is_empty() && reply.sub_questions.iter().all(blank);
            if empty { Err("every one of `sub_questions` is empty".to_owned()) } else { Ok(()) }
        };
        let variables = context! {
            question => Serde(question),
            context => Serde(context),
            proposed => Serde(proposed),
        };
        let reply = cx.ask_checked(prompt, variables, worded).await;
        let Some(reply) = reply.unless_failed(cx, "no sub-question is proposed")? else {
            // The question itself is a proposal for the first hop, and asks nothing new later.
            let first = context.is_empty().then(|| Proposal::new(&question.text));
            return Ok(first.into_iter().collect());
        };
        let mut proposals: Vec<Proposal> = vec![];
        for text in reply.sub_questions.iter().map(|text| text.trim()) {
            if !text.is_empty() && proposals.iter().all(|earlier| earlier.text != text) {
                proposals.push(Proposal::new(text));
            }
        }
        if self.proposals == Proposals::One && proposals.len() > 1 {
            cx.note(format!("of {} sub-questions, the first is used", proposals.len()));
            proposals.truncate(1);
        }
        if proposals.is_empty() && context.is_empty() && proposed.is_empty() {
            cx.note("nothing is proposed and nothing was read: searches with the question");
            proposals.push(Proposal::new(&question.text));
        }
        Ok(proposals)
    }
}
