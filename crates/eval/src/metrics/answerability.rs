//! Distinguishing what can be answered from what cannot (DEC, Appendix C.1).
use serde::{Deserialize, Serialize};

use super::{f1, share};

/// What became of one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The knowledge holds an answer.
    pub answerable: bool,
    /// The strategy gave none.
    pub abstained: bool,
    /// Whether the answer is right; `None` where there is none, or a judge could not decide.
    pub correct: Option<bool>,
}

/// The metrics of Table 4. To be answerable is the positive class. Each is `None` where it has
/// nothing to divide by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Answerability {
    pub accuracy: Option<f64>,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    pub f1: Option<f64>,
    pub specificity: Option<f64>,
    /// Of the answerable questions that were answered, the share answered rightly (Eq. 11).
    pub conditional: Option<f64>,
    /// Of all questions, those abstained from or answered as they should (Eq. 12).
    pub overall: Option<f64>,
    /// Answered answerable questions that no judge could rule right or wrong; they are in neither
    /// of the two above.
    pub unjudged: usize,
}

impl Answerability {
    pub fn measure(attempts: &[Attempt]) -> Self {
        let count =
            |holds: &dyn Fn(&Attempt) -> bool| attempts.iter().filter(|one| holds(one)).count();
        let answered = count(&|one| one.answerable && !one.abstained);
        let false_positive = count(&|one| !one.answerable && !one.abstained);
        let missed = count(&|one| one.answerable && one.abstained);
        let refused = count(&|one| !one.answerable && one.abstained);
        let right = count(&|one| one.answerable && !one.abstained && one.correct == Some(true));
        let unjudged = count(&|one| one.answerable && !one.abstained && one.correct.is_none());
        let part = |part, whole| (whole > 0).then(|| share(part, whole));
        let precision = part(answered, answered + false_positive);
        let recall = part(answered, answered + missed);
        Self {
            accuracy: part(answered + refused, attempts.len()),
            precision,
            recall,
            f1: precision.zip(recall).map(|(precision, recall)| f1(precision, recall)),
            specificity: part(refused, refused + false_positive),
            conditional: part(right, answered - unjudged),
            overall: part(refused + right, attempts.len() - unjudged),
            unjudged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn several(
        count: usize,
        answerable: bool,
        abstained: bool,
        correct: Option<bool>,
    ) -> Vec<Attempt> {
        vec![Attempt { answerable, abstained, correct }; count]
    }

    /// Questions by (right, wrong, answered though unanswerable, missed, rightly abstained from).
    fn table(counts: [usize; 5]) -> String {
        let [right, wrong, strayed, missed, refused] = counts;
        let tried = [
            several(right, true, false, Some(true)),
            several(wrong, true, false, Some(false)),
            several(strayed, false, false, None),
            several(missed, true, true, None),
            several(refused, false, true, None),
        ]
        .concat();
        let measured = Answerability::measure(&tried);
        let values = [
            measured.accuracy,
            measured.precision,
            measured.recall,
            measured.f1,
            measured.specificity,
            measured.conditional,
            measured.overall,
        ];
        values.map(|value| format!("{:.2}", value.unwrap() * 100.0)).join(" ")
    }

    /// The paper prints seven figures a column; these are the counts that give them.
    #[test]
    fn table_4_of_the_paper_follows_from_its_counts() {
        assert_eq!(table([6, 22, 17, 77, 78]), "53.00 62.22 26.67 37.33 82.11 21.43 42.00");
        assert_eq!(table([21, 39, 43, 45, 52]), "56.00 58.25 57.14 57.69 54.74 35.00 36.50");
        assert_eq!(table([27, 19, 15, 58, 79]), "63.13 75.41 44.23 55.76 84.04 58.70 53.54");
    }

    #[test]
    fn what_no_judge_could_tell_is_counted_apart() {
        let mut tried = several(1, true, false, Some(true));
        tried.extend(several(3, true, false, None));
        let measured = Answerability::measure(&tried);
        assert_eq!(
            (measured.conditional, measured.overall, measured.unjudged),
            (Some(1.0), Some(1.0), 3)
        );
        assert_eq!(measured.specificity, None);
        assert_eq!(Answerability::measure(&[]), Answerability::default());
    }
}
