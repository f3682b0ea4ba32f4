//! How good one answer and its passages are: pure functions, values between 0 and 1 unless their
//! name says otherwise. Each says where it comes from.
mod answer;
mod answerability;
mod cost;
mod dec;
mod law;
mod metric;
mod normalise;
mod number;
mod option;
mod passage;
mod rouge;

use crate::figures::ratio;

pub use answer::{Cover, Score, cover_em, score};
pub use answerability::{Answerability, Attempt};
pub use cost::{sub_questions, tokens_per_correct};
pub use dec::{keyword_match, plan_fidelity};
pub use law::{article_f1, articles, law_option};
pub use metric::{Gold, Metric};
pub use normalise::{Profile, normalise};
pub use number::{number_in, same_number};
pub use option::{chosen, option_accuracy, yes_no};
pub use passage::{GoldPassage, support_recall};
pub(crate) use passage::{ranks, recall_of_ranks, without_space};
pub use rouge::rouge_l;

/// 0 of 0 is 0.
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    ratio(part as u64, whole as u64)
}

/// The harmonic mean of precision and recall; 0 where both are.
pub(crate) fn f1(precision: f64, recall: f64) -> f64 {
    let sum = precision + recall;
    if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 }
}
