//! What calls may use of a budget, and what is kept back for the closing answer.
use std::time::Duration;

/// The share of tokens, money and time that only the closing answer may use; of the calls it is
/// exactly one.
const RESERVE: f64 = 0.2;

/// The share of the time that is kept back at most, so that the work goes on after one slow call.
const LONGEST_RESERVE: f64 = 0.5;

/// What a call may use of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// What is not kept back for the closing answer, which will take this long, as far as is known.
    Open { closing: Duration },
    /// All of it: this is the closing answer.
    Whole,
}

impl Share {
    /// The calls out of a limit.
    pub(super) fn calls(self, limit: u64) -> u64 {
        limit.saturating_sub(u64::from(self != Self::Whole))
    }

    /// The tokens or millionths of a dollar out of a limit.
    pub(super) fn amount(self, limit: u64) -> u64 {
        match self {
            Self::Open { .. } => part(limit, 1.0 - RESERVE),
            Self::Whole => limit,
        }
    }

    /// The time out of a limit. The closing answer is given a quarter more than was said, since its
    /// prompt is the longest as a rule.
    pub(super) fn time(self, limit: Duration) -> Duration {
        let Self::Open { closing } = self else { return limit };
        let longest = limit.mul_f64(LONGEST_RESERVE);
        let reserve = closing.saturating_add(closing / 4).min(longest).max(limit.mul_f64(RESERVE));
        limit.saturating_sub(reserve)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part of a budget is wanted to the nearest unit only"
)]
fn part(limit: u64, open: f64) -> u64 {
    (limit as f64 * open) as u64
}
