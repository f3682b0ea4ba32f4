//! Break-down reasoning (Section 3.2.2) and the gate behind it (3.2.3).
use halma_core::{Cx, Hit, Prompt, Question, Result};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::{LOW, Prompting, Unirag};
use crate::shared::steps::Reading;

const BREAK_DOWN: Prompt<Reasoned> = Prompt::json("unirag/break_down");
const COT: Prompt<Reasoned> = Prompt::json("unirag/cot");
const GATE: Prompt<Judged> = Prompt::json("unirag/gate");

/// An answer with the constraints it was checked against; none where the model gives none.
#[derive(Deserialize)]
pub(super) struct Reasoned {
    #[serde(default)]
    pub(super) constraints: Vec<Checked>,
    #[serde(flatten)]
    pub(super) reading: Reading,
}

/// One thing that the question asks for, and what the passages say to it.
#[derive(Deserialize, Serialize)]
pub(super) struct Checked {
    pub(super) constraint: String,
    #[serde(default)]
    pub(super) finding: String,
    /// `None` where the passages do not tell.
    #[serde(default)]
    pub(super) holds: Option<bool>,
}

/// What a judge says: the five criteria of `RAGAs` where it can tell them, each between 0 and 1.
#[derive(Deserialize)]
struct Judged {
    supported: bool,
    #[serde(default)]
    score: Option<f32>,
    #[serde(default)]
    faithfulness: Option<f32>,
    #[serde(default)]
    answer_relevancy: Option<f32>,
    #[serde(default)]
    context_precision: Option<f32>,
    #[serde(default)]
    context_recall: Option<f32>,
    #[serde(default)]
    context_relevancy: Option<f32>,
}

/// How an answer was judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Verdict {
    /// Between 0 and 1.
    pub(super) score: f32,
    pub(super) accepted: bool,
}

impl Unirag {
    pub(super) async fn reason(
        &self,
        question: &Question,
        passages: &[Hit],
        cx: &Cx,
    ) -> Result<Reasoned> {
        let prompt = if self.prompt == Prompting::Cot { &COT } else { &BREAK_DOWN };
        let variables = context! { question => Serde(question), context => Serde(passages) };
        cx.ask(prompt, variables).await
    }

    /// The gate.
    pub(super) async fn judge(
        &self,
        question: &Question,
        reasoned: &Reasoned,
        passages: &[Hit],
        cx: &Cx,
    ) -> Result<Verdict> {
        let variables = context! {
            question => Serde(question),
            answer => &reasoned.reading.answer,
            context => Serde(passages),
            constraints => Serde(&reasoned.constraints),
        };
        let judged = cx.ask_checked(&GATE, variables, Judged::checked).await?;
        let (score, rated) = judged.score(&reasoned.constraints);
        // Where the judge gives no criteria, its word counts.
        let accepted = score >= self.accept && (rated || judged.supported);
        let word = if accepted { "accepted" } else { "rejected" };
        cx.note(format!("{word} with {score:.2} ({})", judged.shown(&reasoned.constraints)));
        Ok(Verdict { score, accepted })
    }
}

impl Judged {
    fn criteria(&self, constraints: &[Checked]) -> [(&'static str, Option<f32>); 5] {
        // There is no reference answer at run time: the constraints are what is to be found, and
        // those that the passages settle are found (recall).
        let settled = constraints.iter().filter(|constraint| constraint.holds.is_some()).count();
        #[expect(clippy::cast_precision_loss, reason = "a handful of constraints")]
        let share = || settled as f32 / constraints.len() as f32;
        let recall = self.context_recall.or_else(|| (!constraints.is_empty()).then(share));
        [
            ("faithfulness", self.faithfulness),
            ("answer_relevancy", self.answer_relevancy),
            ("context_precision", self.context_precision),
            ("context_recall", recall),
            ("context_relevancy", self.context_relevancy),
        ]
    }

    /// Whether the judge itself gives any criterion.
    fn tells(&self) -> bool {
        self.criteria(&[]).iter().any(|(_, value)| value.is_some())
    }

    /// The mean of the criteria that are there, and that it is one; else what the judge says in
    /// one number, or in a word. The number of an answer that is not supported is a low one.
    fn score(&self, constraints: &[Checked]) -> (f32, bool) {
        if !self.tells() {
            let score = if self.supported {
                self.score.unwrap_or(1.0)
            } else {
                self.score.unwrap_or(0.0).min(LOW)
            };
            return (score, false);
        }
        let known: Vec<f32> =
            self.criteria(constraints).into_iter().filter_map(|(_, value)| value).collect();
        #[expect(clippy::cast_precision_loss, reason = "at most five")]
        let mean = known.iter().sum::<f32>() / known.len() as f32;
        (mean, true)
    }

    fn shown(&self, constraints: &[Checked]) -> String {
        if !self.tells() {
            return format!("supported: {}", self.supported);
        }
        let shown = self.criteria(constraints).map(|(name, value)| match value {
            Some(value) => format!("{name} {value:.2}"),
            None => format!("{name} left out"),
        });
        shown.join(", ")
    }

    fn checked(&self) -> std::result::Result<(), String> {
        let all = self.criteria(&[]).into_iter().chain([("score", self.score)]);
        for (name, value) in all {
            if let Some(value) = value.filter(|value| !(0.0..=1.0).contains(value)) {
                return Err(format!("`{name}` is {value}, but must lie between 0 and 1"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use halma_core::parse_json;

    use super::*;

    fn score(reply: &str, constraints: &str) -> (f32, bool) {
        let judged: Judged = parse_json(reply).unwrap();
        judged.checked().unwrap();
        judged.score(&parse_json::<Vec<Checked>>(constraints).unwrap())
    }

    #[test]
    fn what_cannot_be_told_is_in_no_mean() {
        let two = r#"{"supported": true, "faithfulness": 1, "context_precision": 0.5, "context_recall": null}"#;
        assert_eq!(score(two, "[]"), (0.75, true));
        let none = r#"{"supported": true, "score": 0.6, "reason": "r"}"#;
        assert_eq!(score(none, "[]"), (0.6, false));
        assert_eq!(score(r#"{"supported": false, "score": null}"#, "[]"), (0.0, false));
        assert_eq!(score(r#"{"supported": true}"#, "[]"), (1.0, false));
        assert_eq!(score(r#"{"supported": false, "score": 0.9}"#, "[]"), (LOW, false));
    }

    #[test]
    fn recall_is_the_share_of_the_constraints_that_are_settled() {
        let half = r#"[{"constraint": "a", "holds": false}, {"constraint": "b", "holds": null}]"#;
        assert_eq!(score(r#"{"supported": true, "faithfulness": 1}"#, half), (0.75, true));
        let rated = r#"{"supported": true, "faithfulness": 1, "context_recall": 0}"#;
        assert_eq!(score(rated, half), (0.5, true));
        // Alone it is no judgement of the answer.
        assert_eq!(score(r#"{"supported": true, "score": 0.2}"#, half), (0.2, false));
    }

    #[test]
    fn a_criterion_is_a_share() {
        for reply in
            [r#"{"supported": true, "score": 85}"#, r#"{"supported": true, "faithfulness": -0.1}"#]
        {
            assert!(parse_json::<Judged>(reply).unwrap().checked().is_err(), "{reply}");
        }
        assert!(parse_json::<Judged>(r#"{"score": 1}"#).is_err());
    }

    #[test]
    fn a_reply_of_an_answer_and_its_rationale_is_enough() {
        let read =
            |text: &str| parse_json::<Reasoned>(text).map(|reasoned| reasoned.reading.answer);
        assert_eq!(read(r#"{"rationale": "r", "answer": "Rome"}"#).unwrap(), "Rome");
        assert_eq!(read(r#"{"constraints": [], "answer": 42}"#).unwrap(), "42");
        assert!(read(r#"{"constraints": [{"constraint": "c"}]}"#).is_err());
    }
}
