//! The gate behind an answer (Section 3.2.3): the criteria of `RAGAs`, computed from what a judge
//! counts.
use halma_core::{Cx, Hit, Prompt, Question, Result};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::Unirag;
use super::reason::{Checked, Reasoned};

const GATE: Prompt<Counts> = Prompt::json("unirag/gate");

/// What a judge counts. Models count more reliably than they estimate shares.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Counts {
    /// The statements of the answer one by one, so that each is judged and not only counted.
    checks: Vec<Check>,
    /// Statements of the answer, and those that the passages support; of a judge that only counts.
    statements: Option<usize>,
    supported: Option<usize>,
    /// Things that the question asks for, and those that the answer gives.
    #[serde(rename = "asked")]
    requested: Option<usize>,
    given: Option<usize>,
    /// Numbers of the passages that help to answer; `None` where there are no passages.
    useful: Option<Vec<usize>>,
}

/// The passage that states a statement; 0 where none does. What speaks against it is asked for so
/// that the model looks for it first; small models also write there what speaks for it.
#[derive(Deserialize)]
struct Check {
    #[serde(default)]
    passage: usize,
}

/// How an answer was judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Verdict {
    /// The mean of the criteria, between 0 and 1.
    pub(super) score: f32,
    pub(super) accepted: bool,
}

/// The criteria by name, each between 0 and 1; `None` where it cannot be computed.
type Criteria = [(&'static str, Option<f32>); 5];

impl Unirag {
    pub(super) async fn judge(
        &self,
        question: &Question,
        reasoned: &Reasoned,
        passages: &[Hit],
        cx: &Cx,
    ) -> Result<Verdict> {
        let variables = context! {
            question => Serde(question),
            answer => &reasoned.answer,
            context => Serde(passages),
            constraints => Serde(&reasoned.constraints),
        };
        let check = |counts: &Counts| counts.check(passages.len());
        let counts = cx.ask_checked(&GATE, variables, check).await?.counted();
        let criteria = counts.criteria(passages.len(), &reasoned.constraints);
        let verdict = self.verdict(&criteria);
        let word = if verdict.accepted { "accepted" } else { "rejected" };
        cx.note(format!("{word} with {:.2} ({})", verdict.score, shown(&criteria)));
        Ok(verdict)
    }

    /// An answer that is not faithful enough is never accepted, whatever the mean.
    fn verdict(&self, criteria: &Criteria) -> Verdict {
        let values: Vec<f32> = criteria.iter().filter_map(|(_, value)| *value).collect();
        #[expect(clippy::cast_precision_loss, reason = "at most five")]
        let score = values.iter().sum::<f32>() / values.len().max(1) as f32;
        let faithful = criteria[0].1.is_some_and(|faithfulness| faithfulness >= self.faithful);
        Verdict { score, accepted: faithful && score >= self.accept }
    }
}

impl Counts {
    fn counted(mut self) -> Self {
        if !self.checks.is_empty() {
            self.statements = Some(self.checks.len());
            self.supported = Some(self.checks.iter().filter(|check| check.passage > 0).count());
        }
        self
    }

    fn criteria(&self, passages: usize, constraints: &[Checked]) -> Criteria {
        // There is no reference answer at run time: the constraints are what is to be found, and
        // those that the passages settle are found (recall).
        let settled = constraints.iter().filter(|constraint| constraint.holds.is_some()).count();
        let useful = self.useful.as_ref().filter(|_| passages > 0);
        [
            ("faithfulness", share(self.supported, self.statements)),
            ("answer_relevancy", share(self.given, self.requested)),
            ("context_precision", useful.map(|useful| precision(useful))),
            ("context_recall", share(Some(settled), Some(constraints.len()))),
            ("context_relevancy", share(useful.map(Vec::len), Some(passages))),
        ]
    }

    fn check(&self, passages: usize) -> std::result::Result<(), String> {
        let is_part =
            |part: Option<usize>, of: Option<usize>| part.zip(of).is_none_or(|(a, b)| a <= b);
        if self.checks.is_empty() && (self.statements.is_none() || self.supported.is_none()) {
            return Err("`checks` is empty".into());
        }
        if !is_part(self.supported, self.statements) {
            return Err("`supported` is more than `statements`".into());
        }
        if !is_part(self.given, self.requested) {
            return Err("`given` is more than `asked`".into());
        }
        let named = self.checks.iter().map(|check| check.passage).filter(|passage| *passage > 0);
        let named = named.filter(|_| passages > 0);
        let mut named = self.useful.iter().flatten().copied().chain(named);
        match named.find(|number| !(1..=passages).contains(number)) {
            Some(number) => Err(format!("there is no passage {number}")),
            None => Ok(()),
        }
    }
}

/// A part of a whole; `None` where the whole is nothing.
fn share(part: Option<usize>, whole: Option<usize>) -> Option<f32> {
    let (part, whole) = (part?, whole.filter(|whole| *whole > 0)?);
    #[expect(clippy::cast_precision_loss, reason = "a handful of statements or passages")]
    Some(part as f32 / whole as f32)
}

/// How far the useful passages come first: the mean, over them, of the share of useful ones down to
/// each (`RAGAs`, context precision).
fn precision(useful: &[usize]) -> f32 {
    let mut ranks = useful.to_vec();
    ranks.sort_unstable();
    ranks.dedup();
    let down_to = ranks.iter().enumerate().map(|(i, rank)| share(Some(i + 1), Some(*rank)));
    let sum: f32 = down_to.flatten().sum();
    #[expect(clippy::cast_precision_loss, reason = "a handful of passages")]
    let mean = sum / ranks.len().max(1) as f32;
    mean
}

fn shown(criteria: &Criteria) -> String {
    let shown = criteria.map(|(name, value)| match value {
        Some(value) => format!("{name} {value:.2}"),
        None => format!("{name} left out"),
    });
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use halma_core::parse_json;

    use super::*;

    fn judged(
        reply: &str,
        passages: usize,
        constraints: &str,
    ) -> std::result::Result<Verdict, String> {
        let counts: Counts = parse_json(reply)?;
        counts.check(passages)?;
        let constraints: Vec<Checked> = parse_json(constraints)?;
        Ok(Unirag::default().verdict(&counts.counted().criteria(passages, &constraints)))
    }

    #[test]
    fn the_criteria_are_computed_from_counts() {
        let reply =
            r#"{"statements": 4, "supported": 4, "asked": 2, "given": 1, "useful": [3, 1]}"#;
        let half = r#"[{"constraint": "a", "holds": false}, {"constraint": "b", "holds": null}]"#;
        // 1, 1/2, (1 + 2/3) / 2, 1/2, 2/4
        let verdict = judged(reply, 4, half).unwrap();
        assert!((verdict.score - 2.0 / 3.0).abs() < 1e-3, "{verdict:?}");
        assert!(!verdict.accepted);
        // Without passages and constraints what is about them is left out.
        let verdict = judged(reply, 0, "[]");
        assert_eq!(verdict.unwrap_err(), "there is no passage 3");
        let alone = r#"{"statements": 1, "supported": 1, "asked": 1, "given": 1, "useful": null}"#;
        assert_eq!(judged(alone, 0, "[]"), Ok(Verdict { score: 1.0, accepted: true }));
    }

    #[test]
    fn an_unfaithful_answer_is_never_accepted() {
        let high = r#"[{"constraint": "a", "holds": true}]"#;
        let none = r#"{"statements": 1, "supported": 0, "asked": 1, "given": 1, "useful": [1]}"#;
        assert_eq!(judged(none, 1, high), Ok(Verdict { score: 0.8, accepted: false }));
        let uncounted =
            r#"{"statements": 0, "supported": 0, "asked": 1, "given": 1, "useful": [1]}"#;
        assert_eq!(judged(uncounted, 1, high), Ok(Verdict { score: 1.0, accepted: false }));
    }

    #[test]
    fn a_statement_that_no_passage_states_is_not_supported() {
        let high = r#"[{"constraint": "a", "holds": true}]"#;
        let checked = |passage: usize| {
            let checks = format!(r#"[{{"statement": "It is of 1911.", "passage": {passage}}}]"#);
            let rest = r#""asked": 1, "given": 1, "useful": [1]"#;
            judged(&format!(r#"{{"checks": {checks}, {rest}}}"#), 1, high)
        };
        assert_eq!(checked(1), Ok(Verdict { score: 1.0, accepted: true }));
        assert_eq!(checked(0), Ok(Verdict { score: 0.8, accepted: false }));
        assert_eq!(checked(2).unwrap_err(), "there is no passage 2");
    }

    #[test]
    fn counts_that_cannot_be_are_malformed() {
        for reply in [
            r#"{"statements": 1, "supported": 2}"#,
            r#"{"statements": 1}"#,
            r#"{"statements": 1, "supported": 1, "asked": 1, "given": 3}"#,
            r#"{"statements": 1, "supported": 1, "useful": [0]}"#,
        ] {
            assert!(judged(reply, 1, "[]").is_err(), "{reply}");
        }
    }
}
