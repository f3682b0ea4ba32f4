//! Whether work succeeds at all: a model server that is gone is not asked a thousand times more.
use halma_core::Trace;

use super::summary::Stopped;
use crate::record::lost_calls;

/// Failures one after the other before no more is begun.
const FAILURES: usize = 5;

#[derive(Debug, Default)]
pub(super) struct Health {
    in_a_row: usize,
    has_succeeded: bool,
    pub(super) failed: usize,
    /// The last one's reason.
    pub(super) failure: Option<String>,
}

impl Health {
    pub(super) fn count_success(&mut self) {
        self.in_a_row = 0;
        self.has_succeeded = true;
    }

    pub(super) fn count_failure(&mut self, reason: String) {
        self.in_a_row += 1;
        self.failed += 1;
        self.failure = Some(reason);
    }

    pub(super) fn is_failing(&self) -> bool {
        self.in_a_row >= FAILURES
    }

    /// Whether the end of the work is a failure: it was stopped, or all that was tried has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.is_failing() || self.failed > 0 && !self.has_succeeded
    }

    pub(super) fn stopped(&self) -> Stopped {
        let reason = self.failure.clone().unwrap_or_default();
        Stopped::Failing { rounds: self.in_a_row, reason }
    }
}

/// Why a call of a round failed permanently.
pub(super) fn failed_call(trace: &Trace) -> Option<String> {
    lost_calls(trace).into_iter().next().map(|call| call.reason)
}
