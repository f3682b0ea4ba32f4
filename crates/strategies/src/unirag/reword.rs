//! Iterative query rewriting (Section 3.3): the next question, from what the last answer lacks.
use halma_core::text::words;
use halma_core::{Cx, Prompt, Question, Result, UnlessFailed as _, UnlessSpent as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::reason::Reasoned;
use super::{Rounds, Unirag};

const REWRITE: Prompt<Rewritten> = Prompt::json("unirag/rewrite");

#[derive(Deserialize)]
struct Rewritten {
    question: String,
}

impl Unirag {
    /// Continues with the next question; whether it is a new one.
    pub(super) async fn reworded(
        &self,
        question: &Question,
        reasoned: &Reasoned,
        rounds: &mut Rounds,
        cx: &Cx,
    ) -> Result<bool> {
        let (history, used) = (Serde(&rounds.asked), Serde(&rounds.used));
        let variables = context! {
            question => Serde(question),
            sub_question => &rounds.query.text,
            history,
            used,
            reasoning => &reasoned.rationale,
            constraints => Serde(&reasoned.constraints),
        };
        let reply = cx.ask(&REWRITE, variables).await;
        let reply = reply.unless_failed(cx, "the question is not reworded").unless_spent()?;
        let Some(Rewritten { question: text }) = reply else { return Ok(false) };
        let worded = words(&text);
        let before = rounds.asked.iter().any(|asked| words(&asked.question) == worded);
        if worded.is_empty() || before {
            cx.note("the question is not reworded");
            return Ok(false);
        }
        text.trim().clone_into(&mut rounds.query.text);
        Ok(true)
    }
}
