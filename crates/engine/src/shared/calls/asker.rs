//! Asking through the ledger: one task of a process submits the calls of all its callers and looks
//! for their outcomes, so that many calls in progress are a few statements.
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use halma_core::LlmError;
use halma_store::pg::{CallId, Outcome, PgError};
use halma_store::seal::{CallKeys, Key};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tokio::time::MissedTickBehavior;

use super::ledger::{Ledger, OTHER_KEY};
use super::message::{Call, CallKind, Output};

/// Between two looks for outcomes.
const TICK: Duration = Duration::from_millis(50);

/// How long calls wait for a database that is not reached.
const PATIENCE: Duration = Duration::from_mins(2);

/// How often a call is sealed again because its key was renewed meanwhile.
const MAX_KEYS: u32 = 5;

/// An answer to a call.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) output: Output,
    /// It was in the ledger before it was asked for: a build that was interrupted has paid for it.
    pub(super) was_there: bool,
}

type Receiver = oneshot::Sender<Result<Answer, LlmError>>;

struct Request {
    kind: CallKind,
    call: Vec<u8>,
    /// Documents that it quotes.
    about: Vec<String>,
    receiver: Receiver,
}

/// What the task is told.
enum Command {
    Ask(Request),
    /// The reply to a call could not be used.
    Discard {
        kind: CallKind,
        call: Vec<u8>,
        about: Vec<String>,
    },
    /// To be answered when everything that was discarded before is gone.
    Flush(oneshot::Sender<()>),
}

/// Where calls are handed in. The task ends when all copies of this are gone.
#[derive(Clone)]
pub(crate) struct Asker {
    commands: mpsc::UnboundedSender<Command>,
    counts: Arc<Counts>,
    ledger: Ledger,
    snapshot: KeySnapshot,
}

/// The keys as they were when the build last began to read the base: what it asks about a document that
/// was deleted since quotes what is to be forgotten.
type KeySnapshot = Arc<Mutex<Arc<CallKeys>>>;

#[derive(Default)]
struct Counts {
    waiting: AtomicUsize,
    answered: AtomicU64,
}

impl Asker {
    pub(crate) fn start(ledger: &Ledger) -> Self {
        let (commands, arriving) = mpsc::unbounded_channel();
        let counts = Arc::<Counts>::default();
        let snapshot: KeySnapshot = Arc::new(Mutex::new(ledger.call_keys()));
        let poller = Poller {
            ledger: ledger.clone(),
            pending: HashMap::new(),
            counts: Arc::clone(&counts),
            snapshot: Arc::clone(&snapshot),
        };
        ledger.space().start(poller.run(arriving));
        Self { commands, counts, ledger: ledger.clone(), snapshot }
    }

    /// The build reads the base from now on, without what was deleted before. Blocks the thread.
    pub(super) fn renew_snapshot(&self) {
        if let Err(error) = self.ledger.read_keys(&[]) {
            tracing::warn!("{error}");
        }
        *self.snapshot.lock() = self.ledger.call_keys();
    }

    /// `about` are the documents that the call quotes; where there are none, it is not known.
    pub(super) async fn ask(&self, call: &Call, about: &[String]) -> Result<Answer, LlmError> {
        let (receiver, answer) = oneshot::channel();
        let (kind, call, about) = (call.kind(), call.write(), about.to_vec());
        let request = Request { kind, call, about, receiver };
        let ended = || LlmError::transient("the connection to the shared calls has ended");
        self.commands.send(Command::Ask(request)).map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }

    /// Removes the reply to a call, so that it is done again when it is asked for again. Returns at
    /// once.
    pub(super) fn discard(&self, call: &Call, about: &[String]) {
        let (kind, call, about) = (call.kind(), call.write(), about.to_vec());
        // Without the task nothing is asked for any more.
        let _ = self.commands.send(Command::Discard { kind, call, about });
    }

    /// Waits until what was discarded is gone.
    pub(super) async fn flush(&self) {
        let (done, is_done) = oneshot::channel();
        if self.commands.send(Command::Flush(done)).is_ok() {
            // When the task has ended, nothing is left to wait for.
            let _ = is_done.await;
        }
    }

    /// Calls that have no answer yet.
    pub(super) fn waiting(&self) -> usize {
        self.counts.waiting.load(Ordering::Relaxed)
    }

    /// Calls that were answered.
    pub(super) fn answered(&self) -> u64 {
        self.counts.answered.load(Ordering::Relaxed)
    }
}

/// A call in the ledger, and who waits for it.
struct Pending {
    kind: CallKind,
    call: Vec<u8>,
    /// What it quotes, as numbers of keys.
    about: Vec<i32>,
    /// Changes when what it quotes is deleted, if that is known.
    documents: Option<Key>,
    receivers: Vec<Receiver>,
    is_submitted: bool,
    keys: u32,
}

struct Poller {
    ledger: Ledger,
    pending: HashMap<CallId, Pending>,
    counts: Arc<Counts>,
    snapshot: KeySnapshot,
}

const DELETED: &str = "what it quotes was deleted before it was done";

impl Poller {
    async fn run(mut self, mut arriving: mpsc::UnboundedReceiver<Command>) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut broken = None;
        loop {
            if self.pending.is_empty() {
                let Some(first) = arriving.recv().await else { return };
                self.handle(first).await;
            } else {
                ticks.tick().await;
            }
            while let Ok(next) = arriving.try_recv() {
                self.handle(next).await;
            }
            self.drop_unwanted().await;
            match self.step().await {
                Ok(()) => broken = None,
                Err(error)
                    if error.is_transient()
                        && broken.get_or_insert_with(Instant::now).elapsed() < PATIENCE =>
                {
                    tracing::warn!("calls wait for the database: {error}");
                }
                Err(error) => self.fail_all(&LlmError::transient(error.to_string())),
            }
            self.counts.waiting.store(self.pending.len(), Ordering::Relaxed);
        }
    }

    async fn handle(&mut self, command: Command) {
        match command {
            Command::Ask(request) => self.enter(request),
            Command::Discard { kind, call, about } => {
                let about = self.ledger.numbers(&about);
                let id = self.ledger.seal_call(kind, &call, &about).id;
                if let Err(error) = self.discard(id).await {
                    tracing::warn!("a reply that cannot be used stays in the ledger: {error}");
                }
            }
            // Who waits no longer needs no answer.
            Command::Flush(done) => drop(done.send(())),
        }
    }

    /// Removes a call that is done. One that is asked for again, here or elsewhere, may be under way.
    async fn discard(&self, id: CallId) -> Result<(), PgError> {
        let calls = self.ledger.calls();
        if let [Outcome::Done(_)] = calls.outcomes(&[id]).await?[..] {
            calls.forget(&[id]).await?;
        }
        Ok(())
    }

    fn enter(&mut self, request: Request) {
        let Request { kind, call, about, receiver } = request;
        let about = self.ledger.numbers(&about);
        let id = self.ledger.seal_call(kind, &call, &about).id;
        let documents = self.ledger.documents_key(&about);
        // A reply that was not as it should be is asked for once more, in words that are new.
        if documents.is_some() && documents != self.snapshot_key(&about) {
            // Who waits no longer needs no answer.
            let _ = receiver.send(Err(LlmError::transient(DELETED)));
            return;
        }
        let (receivers, is_submitted, keys) = (vec![], false, 0);
        let new = || Pending { kind, call, about, documents, receivers, is_submitted, keys };
        self.pending.entry(id).or_insert_with(new).receivers.push(receiver);
    }

    fn snapshot_key(&self, about: &[i32]) -> Option<Key> {
        self.snapshot.lock().documents_key(about)
    }

    /// Takes calls back that no one waits for any more, such as those of a build that has ended.
    async fn drop_unwanted(&mut self) {
        let unwanted = |(_, call): &(&CallId, &mut Pending)| {
            call.receivers.iter().all(oneshot::Sender::is_closed)
        };
        let gone: Vec<(CallId, Pending)> =
            self.pending.extract_if(|id, call| unwanted(&(id, call))).collect();
        let submitted = gone.iter().filter(|(_, call)| call.is_submitted);
        let ids: Vec<CallId> = submitted.map(|(id, _)| *id).collect();
        if let Err(error) = self.ledger.calls().forget(&ids).await {
            tracing::debug!(%error, "calls that are not needed stay in the ledger");
        }
    }

    /// Looks for outcomes, and submits what has none and is not there.
    async fn step(&mut self) -> Result<(), PgError> {
        let ids: Vec<CallId> = self.pending.keys().copied().collect();
        let outcomes = self.ledger.calls().outcomes(&ids).await?;
        let (mut to_submit, mut to_forget, mut lost) = (vec![], vec![], vec![]);
        for (id, outcome) in ids.into_iter().zip(outcomes) {
            let Some(call) = self.pending.get_mut(&id) else { continue };
            match outcome {
                Outcome::Done(output) => match self.ledger.open_sealed(&call.about, &output) {
                    Ok(Some(bytes)) => self.answer(id, &bytes),
                    Ok(None) => to_forget.push(id),
                    Err(error) => self.finish(id, &Err(LlmError::transient(error.to_string()))),
                },
                Outcome::Failed(reason) if !call.is_submitted || reason == OTHER_KEY => {
                    // It is opened again, or, after a new key, sealed again.
                    let queue = if reason == OTHER_KEY { &mut to_forget } else { &mut to_submit };
                    queue.push(id);
                }
                Outcome::Failed(reason) => {
                    let error = self.ledger.open_error(&call.about, &reason);
                    self.finish(id, &Err(error));
                }
                Outcome::Unknown if call.is_submitted => lost.push(id),
                Outcome::Unknown => to_submit.push(id),
                Outcome::Open | Outcome::Taken => call.is_submitted = true,
            }
        }
        self.ledger.calls().forget(&to_forget).await?;
        to_submit.extend(self.seal_again(to_forget));
        to_submit.extend(self.read_keys_for(lost));
        self.submit(to_submit).await
    }

    async fn submit(&mut self, ids: Vec<CallId>) -> Result<(), PgError> {
        let mut new = vec![];
        for id in ids {
            let Some(mut call) = self.pending.remove(&id) else { continue };
            call.is_submitted = true;
            let sealed = self.ledger.seal_call(call.kind, &call.call, &call.about);
            self.pending.insert(sealed.id, call);
            new.push(sealed);
        }
        self.ledger.calls().submit(&new).await.map(drop)
    }

    /// Calls whose key was renewed meanwhile, to be submitted under the new one.
    fn seal_again(&mut self, ids: Vec<CallId>) -> Vec<CallId> {
        let mut again = vec![];
        for id in self.read_keys_for(ids) {
            let Some(call) = self.pending.get_mut(&id) else { continue };
            call.keys += 1;
            if call.keys < MAX_KEYS {
                again.push(id);
            } else {
                let reason = "a worker has another folder of keys than this machine; name the one \
                              folder as `keys` in the address on every machine";
                self.finish(id, &Err(LlmError::transient(reason)));
            }
        }
        again
    }

    /// Reads the keys again for calls that were removed or cannot be read. Those that quote a document
    /// that was deleted meanwhile are not done any more; the others are returned.
    fn read_keys_for(&mut self, mut ids: Vec<CallId>) -> Vec<CallId> {
        if ids.is_empty() {
            return ids;
        }
        if let Err(error) = self.ledger.read_keys(&[]) {
            tracing::warn!("{error}");
        }
        let is_deleted = |call: &Pending| {
            call.documents.is_some() && self.ledger.documents_key(&call.about) != call.documents
        };
        let gone = ids.extract_if(.., |id| self.pending.get(id).is_some_and(is_deleted));
        for id in gone.collect::<Vec<_>>() {
            self.finish(id, &Err(LlmError::transient(DELETED)));
        }
        ids
    }

    fn answer(&mut self, id: CallId, bytes: &[u8]) {
        let was_there = self.pending.get(&id).is_some_and(|call| !call.is_submitted);
        let answer = Output::read(bytes).map(|output| Answer { output, was_there });
        let unreadable = || LlmError::transient("a worker of another version has answered");
        self.finish(id, &answer.ok_or_else(unreadable));
    }

    fn finish(&mut self, id: CallId, answer: &Result<Answer, LlmError>) {
        let Some(call) = self.pending.remove(&id) else { return };
        self.counts.answered.fetch_add(1, Ordering::Relaxed);
        // One of several equal calls is paid for; the others are answered by it.
        let mut answer = answer.clone();
        for receiver in call.receivers {
            // Who waits no longer needs no answer.
            let _ = receiver.send(answer.clone());
            if let Ok(answer) = &mut answer {
                answer.was_there = true;
            }
        }
    }

    fn fail_all(&mut self, error: &LlmError) {
        let ids: Vec<CallId> = self.pending.keys().copied().collect();
        for id in ids {
            self.finish(id, &Err(error.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use halma_core::EmbedRole;
    use halma_store::pg::Address;
    use halma_testkit::Postgres;

    use super::super::message::EmbedCall;
    use super::*;
    use crate::shared::SharedSpace;

    #[test]
    fn nothing_is_asked_about_a_document_that_was_deleted_since_the_base_was_read() {
        let Some(server) = Postgres::find() else { return };
        let keys = tempfile::tempdir().unwrap();
        let space = SharedSpace::connect(&Address::parse(&server.database()).unwrap()).unwrap();
        let ledger = Ledger::open(&space, keys.path()).unwrap();
        let asker = Asker::start(&ledger);
        let deleting = ledger.clone();
        space.wait(async move { deleting.forget(&["a.md".to_owned()]).await }).unwrap();
        let ask = |name: &str| {
            let (asker, name) = (asker.clone(), name.to_owned());
            space.wait(async move {
                let call = Call::Embed(EmbedCall::new("vectors", &[&*name], EmbedRole::Passage));
                let about = [name];
                let asking = asker.ask(&call, &about);
                // No worker answers.
                tokio::time::timeout(Duration::from_millis(500), asking).await
            })
        };
        let refused = ask("a.md").expect("it is in the ledger").unwrap_err();
        assert!(refused.to_string().contains("deleted"), "{refused}");
        assert!(ask("b.md").is_err(), "another document is not deleted");
        // One of this name that was added again is read by the next turn.
        asker.renew_snapshot();
        assert!(ask("a.md").is_err());
    }
}
