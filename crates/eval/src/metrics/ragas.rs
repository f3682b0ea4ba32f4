//! The arithmetic of the RAGAs criteria (Es et al., 2024); the judging that it needs is in
//! `judge/`.
use serde::{Deserialize, Serialize};

use super::share;

/// The five criteria, each between 0 and 1. What could not be computed (no passages, no reference
/// answer, no embedder, a judge that could not be read) is `None`, and not in any mean: it is neither 0
/// nor a number that is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Criteria {
    /// The share of the answer's statements that follow from the passages.
    pub faithfulness: Option<f64>,
    /// How near the questions that the answer answers are to the one that was asked.
    pub answer_relevancy: Option<f64>,
    /// Whether useful passages come before useless ones ([`mean_precision`]).
    pub context_precision: Option<f64>,
    /// The share of the reference's statements that the passages hold.
    pub context_recall: Option<f64>,
    /// The share of the passages' sentences that the question needs.
    pub context_relevancy: Option<f64>,
}

impl Criteria {
    /// With their names, in the order of the paper.
    pub fn named(&self) -> [(&'static str, Option<f64>); 5] {
        [
            ("faithfulness", self.faithfulness),
            ("answer_relevancy", self.answer_relevancy),
            ("context_precision", self.context_precision),
            ("context_recall", self.context_recall),
            ("context_relevancy", self.context_relevancy),
        ]
    }

    /// The mean of those that could be computed; `None` where none could.
    pub fn mean(&self) -> Option<f64> {
        let known: Vec<f64> = self.named().into_iter().filter_map(|(_, value)| value).collect();
        #[expect(clippy::cast_precision_loss, reason = "at most five")]
        let count = known.len() as f64;
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / count)
    }
}

/// The mean of the precisions at the places of the useful passages, best passage first: 1 when
/// all useful ones come first, 0 when none is useful; `None` without passages.
pub fn mean_precision(useful: &[bool]) -> Option<f64> {
    if useful.is_empty() {
        return None;
    }
    let mut found = 0;
    let mut sum = 0.0;
    for (i, useful) in useful.iter().enumerate() {
        if *useful {
            found += 1;
            sum += share(found, i + 1);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a count of passages")]
    let count = found as f64;
    Some(if found == 0 { 0.0 } else { sum / count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn useful_passages_should_come_first() {
        assert_eq!(mean_precision(&[true, true, false]), Some(1.0));
        assert_eq!(mean_precision(&[false, true]), Some(0.5));
        assert_eq!(mean_precision(&[true, false, true]), Some(f64::midpoint(1.0, 2.0 / 3.0)));
        assert_eq!(mean_precision(&[false, false]), Some(0.0));
        assert_eq!(mean_precision(&[]), None);
    }

    #[test]
    fn what_could_not_be_computed_is_in_no_mean() {
        let criteria = Criteria { faithfulness: Some(1.0), ..Criteria::default() };
        assert_eq!(criteria.mean(), Some(1.0));
        let criteria = Criteria { context_recall: Some(0.0), ..criteria };
        assert_eq!(criteria.mean(), Some(0.5));
        assert_eq!(Criteria::default().mean(), None);
    }
}
