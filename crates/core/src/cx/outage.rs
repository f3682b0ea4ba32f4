//! A model that does not answer: the calls of one question do not each wait for it.
use std::time::Duration;

use tokio::time::Instant;

use super::Cx;
use crate::{Llm, LlmError};

/// A call that takes this long to fail was tried again in vain all the while, or timed out.
const IN_VAIN: Duration = Duration::from_secs(5);

/// How long further calls of the run to the same model then fail at once.
const AT_ONCE: Duration = Duration::from_secs(10);

/// A call that failed after all its retries.
pub(super) struct Outage {
    /// Its address in memory: models of the same name may be on two servers.
    model: usize,
    error: LlmError,
    until: Instant,
}

impl Cx {
    /// Why calls to a model fail at once, while they do.
    pub(super) fn outage(&self, model: &dyn Llm) -> Option<LlmError> {
        let model = address(model);
        let mut record = self.run.record.lock();
        record.outages.retain(|outage| outage.until > Instant::now());
        let outage = record.outages.iter().find(|outage| outage.model == model);
        outage.map(|outage| outage.error.clone())
    }

    /// Remembers a call that was sent at `sent` and has failed, if it failed for long.
    pub(super) fn remember_outage(&self, model: &dyn Llm, error: &LlmError, sent: Instant) {
        if matches!(error, LlmError::Transient { .. }) && sent.elapsed() >= IN_VAIN {
            let (model, error) = (address(model), error.clone());
            let until = Instant::now() + AT_ONCE;
            self.run.record.lock().outages.push(Outage { model, error, until });
        }
    }
}

fn address(model: &dyn Llm) -> usize {
    std::ptr::from_ref(model).cast::<()>().addr()
}
