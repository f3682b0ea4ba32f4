//! How every server is called: under the load that it may be given, each attempt through its gate,
//! and again after failures that pass.
use std::future::Future;
use std::num::NonZeroU32;
use std::time::Duration;

use halma_core::{ConfigError, LlmError};
use serde::Deserialize;

use crate::gate::Gate;
use crate::retry::{Patience, persist};

/// How much load a server may be given.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Concurrent calls, at most; fewer while the server throttles.
    pub concurrency: usize,
    pub requests_per_minute: Option<u32>,
    /// Retries after a failure that is not throttling.
    pub retries: usize,
    /// Seconds after its first failure when a call is given up.
    pub max_wait_seconds: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { concurrency: 16, requests_per_minute: None, retries: 5, max_wait_seconds: 180.0 }
    }
}

impl Limits {
    /// The error's `file` is left empty for the caller that read the configuration.
    pub fn policy(&self) -> Result<CallPolicy, ConfigError> {
        Ok(CallPolicy { gate: self.gate()?, patience: self.patience()? })
    }

    fn gate(&self) -> Result<Gate, ConfigError> {
        if self.concurrency == 0 {
            return Err(invalid("concurrency", "no call could ever be made with `0`", "16"));
        }
        let per_minute = self.requests_per_minute.map(NonZeroU32::new);
        if per_minute == Some(None) {
            let reason = "no call could ever be made with `0`";
            return Err(invalid("requests_per_minute", reason, "60"));
        }
        Ok(Gate::new(self.concurrency, per_minute.flatten()))
    }

    fn patience(&self) -> Result<Patience, ConfigError> {
        let in_all = Duration::try_from_secs_f64(self.max_wait_seconds).map_err(|e| {
            let reason = format!("`{}` is not a valid duration: {e}", self.max_wait_seconds);
            invalid("max_wait_seconds", &reason, "180")
        })?;
        Ok(Patience::new(self.retries, in_all))
    }
}

/// The gate and the patience of one server.
///
/// Every single attempt passes the gate, so that a call that waits for its retry holds no place, a
/// retry meets the lowered limit, and the minute counts what the server counts.
pub struct CallPolicy {
    gate: Gate,
    patience: Patience,
}

impl CallPolicy {
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

fn invalid(key: &str, reason: &str, example: &str) -> ConfigError {
    ConfigError {
        file: String::new(),
        key: key.to_owned(),
        reason: reason.to_owned(),
        hint: format!("give a number above zero, {example} for instance, or delete the line"),
    }
}
