//! Break-down reasoning (Section 3.2.2).
use halma_core::text::words;
use halma_core::{Cx, Error, Hit, Prompt, Question, Result, UnlessFailed as _, UnlessSpent as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{Prompting, Rounds, Unirag};
use crate::shared::closing::read_plainly;
use crate::shared::steps::{Reading, answer_text};

const BREAK_DOWN: Prompt<Reasoned> = Prompt::json("unirag/break_down");
const COT: Prompt<Reasoned> = Prompt::json("unirag/cot");

/// An answer with the constraints it was checked against; none where the model gives none.
#[derive(Deserialize)]
pub(super) struct Reasoned {
    #[serde(default)]
    pub(super) constraints: Vec<Checked>,
    #[serde(default)]
    pub(super) rationale: String,
    #[serde(deserialize_with = "answer_text")]
    pub(super) answer: String,
}

/// One thing that the question asks for, and what the passages say to it.
#[derive(Deserialize, Serialize)]
pub(super) struct Checked {
    pub(super) constraint: String,
    #[serde(default)]
    pub(super) finding: String,
    /// `None` where the passages do not tell.
    #[serde(default, deserialize_with = "decided")]
    pub(super) holds: Option<bool>,
}

/// `true` or `false` in a few spellings; everything else is undecided.
fn decided<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<bool>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Bool(holds) => Some(holds),
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    })
}

impl Reasoned {
    pub(super) fn reading(&self) -> Reading {
        Reading { answer: self.answer.clone(), rationale: self.rationale.clone() }
    }
}

impl Unirag {
    /// The answer to q from the passages or, without a search, by way of the sub-queries.
    pub(super) async fn reason(
        &self,
        question: &Question,
        passages: &[Hit],
        steps: &[String],
        cx: &Cx,
    ) -> Result<Reasoned> {
        let variables = || {
            context! {
                question => Serde(question),
                context => Serde(passages),
                sub_queries => Serde(steps),
            }
        };
        if self.prompt == Prompting::BreakDown {
            let reply = cx.ask(&BREAK_DOWN, variables()).await;
            let instead = "not checked by constraints: reasoning step by step";
            if let Some(reasoned) = reply.unless_failed(cx, instead)? {
                return Ok(reasoned);
            }
        }
        match cx.ask(&COT, variables()).await {
            Err(error @ Error::BadReply { .. }) => {
                let Reading { answer, rationale } = read_plainly(&error, &variables(), cx).await?;
                Ok(Reasoned { constraints: vec![], rationale, answer })
            }
            reasoned => reasoned,
        }
    }
}

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
        let (history, used) = (Serde(&rounds.history), Serde(&rounds.used));
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
        let before = rounds.history.iter().any(|earlier| words(&earlier.question) == worded);
        if worded.is_empty() || before {
            cx.note("the question is not reworded");
            return Ok(false);
        }
        text.trim().clone_into(&mut rounds.query.text);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use halma_core::parse_json;

    use super::*;

    #[test]
    fn a_reply_of_an_answer_and_its_rationale_is_enough() {
        let read = |text: &str| parse_json::<Reasoned>(text).map(|reasoned| reasoned.answer);
        assert_eq!(read(r#"{"rationale": "r", "answer": "Rome"}"#).unwrap(), "Rome");
        assert_eq!(read(r#"{"constraints": [], "answer": 42}"#).unwrap(), "42");
        assert!(read(r#"{"constraints": [{"constraint": "c"}]}"#).is_err());
    }

    #[test]
    fn a_constraint_is_decided_only_where_it_is_said() {
        let reply = r#"{"answer": "", "constraints": [{"constraint": "a", "holds": "Yes"},
            {"constraint": "b", "holds": false}, {"constraint": "c", "holds": "unclear"},
            {"constraint": "d", "holds": null}, {"constraint": "e"}]}"#;
        let reasoned: Reasoned = parse_json(reply).unwrap();
        let decided: Vec<Option<bool>> = reasoned.constraints.iter().map(|c| c.holds).collect();
        assert_eq!(decided, [Some(true), Some(false), None, None, None]);
    }
}
