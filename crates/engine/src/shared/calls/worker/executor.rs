//! Doing calls of one kind, several at a time.
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use halma_core::{Llm, LlmError};
use halma_store::pg::{Done, Failure, PgError, Retry, TakenCall};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::limit::SpendingLimit;
use super::offer::{How, Offer};
use super::taken::TakenCalls;
use crate::shared::calls::ledger::{Ledger, OTHER_KEY};
use crate::shared::calls::message::{Call, ChatCall, EmbedCall, Output};

/// Between two attempts to take calls while there are none: at first, and at most.
const SHORTEST_WAIT: Duration = Duration::from_millis(10);
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// How long calls in progress may take after the worker was told to stop.
const GRACE: Duration = Duration::from_secs(20);

/// What passes is tried again, by any worker, so often and so much later.
const TRANSIENT: Retry = Retry { after: Duration::from_secs(2), max_attempts: 3 };
/// A call of another model of the same number is left to a worker that has it.
const NOT_OURS: Retry = Retry { after: Duration::from_secs(5), max_attempts: 100_000 };

/// What is said of a call that was taken.
#[derive(Debug)]
pub(super) enum CallResult {
    Done(Done),
    Failed(Failure),
    /// It was not done, and is another worker's.
    PutDown(TakenCall),
}

/// What the executors of a worker share.
pub(super) struct Common {
    pub(super) ledger: Ledger,
    pub(super) name: String,
    pub(super) taken: TakenCalls,
    pub(super) limit: SpendingLimit,
    /// Told when the limit is reached.
    pub(super) stop: watch::Sender<bool>,
}

pub(super) struct Executor {
    pub(super) common: Arc<Common>,
    pub(super) offer: Offer,
    pub(super) results: mpsc::UnboundedSender<CallResult>,
}

impl Executor {
    /// Takes and does calls until the worker stops.
    pub(super) async fn run(self) {
        let mut stop = self.common.stop.subscribe();
        let mut running = JoinSet::new();
        let mut queue = VecDeque::new();
        let mut wait = SHORTEST_WAIT;
        let mut next = Instant::now();
        while !*stop.borrow() {
            self.begin_next(&mut running, &mut queue);
            let room = self.room(queue.len() + running.len());
            if room > 0 && next <= Instant::now() {
                wait = match self.take(room).await {
                    Ok(taken) if taken.is_empty() => (wait * 2).min(LONGEST_WAIT),
                    Ok(taken) => {
                        queue.extend(taken);
                        SHORTEST_WAIT
                    }
                    Err(error) => {
                        tracing::warn!("no calls can be taken at the moment: {error}");
                        LONGEST_WAIT
                    }
                };
                next = Instant::now() + wait;
                self.begin_next(&mut running, &mut queue);
            }
            tokio::select! {
                _ = stop.changed() => {}
                Some(_) = running.join_next() => {}
                () = tokio::time::sleep_until(next), if room > 0 => {}
            }
            // What has ended since then has made room as well.
            while running.try_join_next().is_some() {}
        }
        for call in queue {
            self.send(CallResult::PutDown(call));
        }
        // Dropped after that, a call puts itself down.
        let ended = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, ended).await.is_err() {
            tracing::warn!("calls that took too long are left to other workers");
        }
        running.shutdown().await;
    }

    /// How many calls are to be taken: those that can be done now, and some that are next. None
    /// while there are enough, so that few statements take many.
    fn room(&self, pending: usize) -> usize {
        let capacity = self.offer.places + self.offer.places.div_ceil(2);
        let enough = self.offer.places.max(capacity - capacity / 4);
        if pending < enough { capacity - pending } else { 0 }
    }

    async fn take(&self, room: usize) -> Result<Vec<TakenCall>, PgError> {
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let calls = self.common.ledger.calls();
        let taken = calls.take(&self.common.name, &[self.offer.kind.0], room).await?;
        self.common.taken.add(&taken);
        Ok(taken)
    }

    /// Begins as many calls as may be in progress.
    fn begin_next(&self, running: &mut JoinSet<()>, queue: &mut VecDeque<TakenCall>) {
        while running.len() < self.offer.places
            && let Some(call) = queue.pop_front()
        {
            self.begin(running, call);
        }
    }

    fn begin(&self, running: &mut JoinSet<()>, call: TakenCall) {
        let (common, offer) = (Arc::clone(&self.common), self.offer.clone());
        let mut in_progress = InProgress { call: Some(call), results: self.results.clone() };
        running.spawn(async move {
            let Some(call) = in_progress.call.clone() else { return };
            if let Some(result) = common.work(&offer, &call).await {
                in_progress.call = None;
                // Without a receiver the worker was killed.
                let _ = in_progress.results.send(result);
            }
        });
    }

    fn send(&self, result: CallResult) {
        let _ = self.results.send(result);
    }
}

/// A call that is put down when its work is given up.
struct InProgress {
    call: Option<TakenCall>,
    results: mpsc::UnboundedSender<CallResult>,
}

impl Drop for InProgress {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            let _ = self.results.send(CallResult::PutDown(call));
        }
    }
}

impl Common {
    /// What there is to say of a call after it was tried; `None` if it was not tried.
    async fn work(&self, offer: &Offer, taken: &TakenCall) -> Option<CallResult> {
        let (id, fence, about) = (taken.id, taken.fence, taken.about.as_slice());
        let failed = |error, retry| Some(CallResult::Failed(Failure { id, fence, error, retry }));
        let opened = match self.ledger.open_sealed(about, &taken.input) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return failed(OTHER_KEY.to_owned(), None),
            Err(error) => {
                tracing::warn!("a call cannot be read: {error}");
                return failed(self.ledger.seal_error(about, transient(&error)), Some(TRANSIENT));
            }
        };
        let done = match (Call::read(&opened), &offer.how) {
            (Some(Call::Chat(call)), How::Chat(llm)) if call.model == offer.name => {
                self.chat(llm.as_ref(), call).await?
            }
            (Some(Call::Embed(call)), How::Embed(embedder)) if call.model == offer.name => {
                let EmbedCall { texts, .. } = &call;
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                embedder.embed(&texts, call.role()).await.map(Output::Vectors)
            }
            _ => {
                let error = LlmError::transient("a worker has taken a call that it cannot do");
                return failed(self.ledger.seal_error(about, error), Some(NOT_OURS));
            }
        };
        match done {
            Ok(output) => {
                let output = self.ledger.seal_output(about, &output);
                Some(CallResult::Done(Done { id, fence, output }))
            }
            Err(error) => {
                let retry = matches!(error, LlmError::Transient { .. }).then_some(TRANSIENT);
                failed(self.ledger.seal_error(about, error), retry)
            }
        }
    }

    /// `None` when the worker may not spend more.
    async fn chat(&self, llm: &dyn Llm, call: ChatCall) -> Option<Result<Output, LlmError>> {
        let request = call.into_request();
        let Some(reserved) = self.limit.reserve(llm, &request) else {
            self.stop.send_replace(true);
            return None;
        };
        let reply = llm.chat(&request).await;
        self.limit.settle(reserved, llm, reply.as_ref().ok());
        Some(reply.map(Output::Chat))
    }
}

fn transient(error: &halma_store::seal::SealError) -> LlmError {
    LlmError::transient(error.to_string())
}
