//! How every server is called: each attempt through its gate, and again after failures that pass.
use std::future::Future;

use halma_core::LlmError;

use crate::gate::Gate;
use crate::retry::{Patience, persist};

/// The gate and the patience of one server.
///
/// Every single attempt passes the gate, so that a call that waits for its retry holds no place, a
/// retry meets the lowered limit, and the minute counts what the server counts.
pub struct CallPolicy {
    gate: Gate,
    patience: Patience,
}

impl CallPolicy {
    pub(crate) fn new(gate: Gate, patience: Patience) -> Self {
        Self { gate, patience }
    }

    /// Calls until it succeeds, fails in a way that will not pass, or the patience is used up.
    pub async fn call<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, LlmError>
    where
        F: Future<Output = Result<T, LlmError>>,
    {
        persist(self.patience, || {
            let attempt = attempt();
            async {
                let pass = self.gate.enter().await;
                let outcome = attempt.await;
                pass.leave(&outcome);
                outcome
            }
        })
        .await
    }
}
