//! Texts into vectors, in batches, several in flight; what fails stays searchable by its words
//! and is tried again by the next run.
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use halma_core::{EmbedRole, Embedder, LlmError, Vector};
use tokio::sync::mpsc;

use super::Unembedded;
use crate::error::run_blocking;
use crate::store::History;
use crate::{Base, KbError, Progress, Stage, Step};

/// Texts sent in one call.
pub(super) const BATCH: usize = 128;

/// Calls in flight.
const IN_FLIGHT: usize = 8;

/// Vectors written in one transaction: 3 MB at 384 dimensions.
const WRITE: usize = 2048;

/// After so many failed calls in a row the rest is left for another run.
const GIVE_UP_AFTER: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Embedded {
    pub(super) done: usize,
    /// Texts that were not tried.
    pub(super) pending: usize,
    pub(super) failure: Option<String>,
}

/// What came of one call.
struct Call {
    texts: Vec<Unembedded>,
    characters: usize,
    vectors: Result<Vec<Vector>, String>,
}

/// How long any call was in flight: calls run side by side, so their times cannot be added up.
#[derive(Default)]
struct Busy(Mutex<(usize, Option<Instant>, Duration)>);

impl Busy {
    fn begin(&self) {
        let mut busy = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        busy.0 += 1;
        busy.1.get_or_insert_with(Instant::now);
    }

    fn end(&self) {
        let mut busy = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        busy.0 = busy.0.saturating_sub(1);
        if busy.0 == 0 {
            let passed = busy.1.take().map_or(Duration::ZERO, |since| since.elapsed());
            busy.2 += passed;
        }
    }

    /// The time since this was last asked.
    fn take(&self) -> Duration {
        let mut busy = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let running = busy.1.replace(Instant::now()).map_or(Duration::ZERO, |s| s.elapsed());
        if busy.0 == 0 {
            busy.1 = None;
        }
        running + std::mem::take(&mut busy.2)
    }
}

/// Everything that has no vector of the embedder in use.
pub(super) fn waiting(base: &Base) -> Result<Vec<Unembedded>, KbError> {
    if base.embedder.is_none() {
        return Ok(vec![]);
    }
    base.store.read(|txn| base.store.awaiting_vector(txn))
}

/// Embeds what comes out of `queue` until that is closed.
pub(super) async fn run(
    base: &Arc<Base>,
    queue: mpsc::UnboundedReceiver<Unembedded>,
    total: usize,
    progress: &Progress,
) -> Result<Embedded, KbError> {
    let Some(embedder) = &base.embedder else { return Ok(Embedded::default()) };
    let (calls, results) = mpsc::channel::<Call>(IN_FLIGHT * 2);
    let batches = futures::stream::unfold(queue, |mut queue| async {
        let mut batch = Vec::with_capacity(BATCH);
        let length = full_batch(&mut queue, &mut batch).await;
        (length > 0).then_some((batch, queue))
    });
    let busy = Arc::new(Busy::default());
    let calling = async {
        let call = |texts: Vec<Unembedded>| {
            let (base, embedder) = (Arc::clone(base), Arc::clone(embedder));
            let busy = Arc::clone(&busy);
            // A task of its own, so that reading the replies uses all cores.
            tokio::spawn(async move {
                busy.begin();
                let called = call(&base, embedder.as_ref(), texts).await;
                busy.end();
                called
            })
        };
        let mut in_flight = std::pin::pin!(batches.map(call).buffer_unordered(IN_FLIGHT));
        let (mut failed_in_row, mut pending) = (0, 0);
        while let Some(joined) = in_flight.next().await {
            let doing = "embedding";
            let died = |e: tokio::task::JoinError| KbError::Died { doing, reason: e.to_string() };
            for call in joined.map_err(died)?? {
                failed_in_row = if call.vectors.is_err() { failed_in_row + 1 } else { 0 };
                if calls.send(call).await.is_err() {
                    return Ok(pending);
                }
            }
            if failed_in_row >= GIVE_UP_AFTER {
                pending += 1;
                break;
            }
        }
        drop(calls);
        Ok::<usize, KbError>(pending)
    };
    let (called, stored) =
        tokio::join!(calling, store_all(base, results, (total, progress), &busy));
    let (gave_up, mut report) = (called? > 0, stored?);
    let left = finish(base).await?;
    if gave_up {
        report.pending = left;
    }
    Ok(report)
}

/// Waits until a batch is full or nothing more comes.
async fn full_batch(
    queue: &mut mpsc::UnboundedReceiver<Unembedded>,
    batch: &mut Vec<Unembedded>,
) -> usize {
    while batch.len() < BATCH {
        let room = BATCH - batch.len();
        if queue.recv_many(batch, room).await == 0 {
            break;
        }
    }
    batch.len()
}

/// One call, or several where the texts are too long together.
async fn call(
    base: &Base,
    embedder: &dyn Embedder,
    texts: Vec<Unembedded>,
) -> Result<Vec<Call>, KbError> {
    let read = base.store.read(|txn| {
        let mut read = vec![];
        for (layer, row) in texts {
            // What was replaced meanwhile needs no vector.
            if let Some(text) = base.store.searched_text(txn, layer, row)? {
                read.push(((layer, row), text));
            }
        }
        Ok(read)
    })?;
    let mut open = vec![read];
    let mut done = vec![];
    while let Some(mut batch) = open.pop().filter(|batch| !batch.is_empty()) {
        let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
        let vectors = match embedder.embed(&texts, EmbedRole::Passage).await {
            Err(LlmError::TooLong { .. }) if batch.len() > 1 => {
                let rest = batch.split_off(batch.len() / 2);
                open.extend([rest, batch]);
                continue;
            }
            Err(e) => Err(format!("embedding with `{}`: {e}", embedder.model())),
            Ok(vectors) => check(embedder, texts.len(), vectors),
        };
        let characters = texts.iter().map(|text| text.chars().count()).sum();
        let texts = batch.into_iter().map(|(text, _)| text).collect();
        done.push(Call { texts, characters, vectors });
    }
    Ok(done)
}

fn check(
    embedder: &dyn Embedder,
    asked: usize,
    vectors: Vec<Vector>,
) -> Result<Vec<Vector>, String> {
    let length = vectors.first().map_or(0, Vec::len);
    let sound = |v: &Vector| v.len() == length && v.iter().all(|x| x.is_finite());
    if vectors.len() == asked && length > 0 && vectors.iter().all(sound) {
        return Ok(vectors);
    }
    let model = embedder.model().to_owned();
    Err(KbError::BadVectors { model, asked, got: vectors.len() }.to_string())
}

/// Writes vectors as they come: what has come while the last ones were written is written next.
async fn store_all(
    base: &Arc<Base>,
    mut results: mpsc::Receiver<Call>,
    (total, progress): (usize, &Progress),
    busy: &Busy,
) -> Result<Embedded, KbError> {
    let mut embedded = Embedded::default();
    while let Some(first) = results.recv().await {
        let (mut batch, mut size) = (vec![], 0);
        let mut next = Some(first);
        while let Some(call) = next {
            size += call.texts.len();
            match &call.vectors {
                Ok(vectors) => embedded.done += vectors.len(),
                Err(reason) => embedded.failure = Some(reason.clone()),
            }
            let (done, total) = (embedded.done, total.max(embedded.done));
            progress(Step { stage: Stage::Embed, done, total });
            batch.push(call);
            next = if size < WRITE { results.try_recv().ok() } else { None };
        }
        let base = Arc::clone(base);
        let seconds = busy.take().as_secs_f64();
        run_blocking("storing vectors", move || write(&base, &batch, seconds)).await?;
    }
    Ok(embedded)
}

fn write(base: &Base, batch: &[Call], seconds: f64) -> Result<(), KbError> {
    let Some(embedder) = &base.embedder else { return Ok(()) };
    let store = &base.store;
    let (mut texts, mut characters) = (0, 0);
    for call in batch.iter().filter(|call| call.vectors.is_ok()) {
        texts += call.texts.len() as u64;
        characters += call.characters as u64;
    }
    let mut seen = History::default();
    seen.embedded(embedder.model(), texts, characters, seconds);
    store.write(|txn| {
        for call in batch {
            match &call.vectors {
                Ok(vectors) => {
                    let dimensions = vectors.first().map_or(0, Vec::len);
                    let number = store.register_embedder(txn, embedder.model(), dimensions)?;
                    store.set_origin(txn, number, &base.origin)?;
                    for (text, vector) in call.texts.iter().zip(vectors) {
                        // What was replaced meanwhile needs no vector.
                        if store.holds(txn, *text)? {
                            store.embedded(txn, number, *text, vector)?;
                        }
                    }
                }
                Err(reason) => store.embedding_failed(txn, &call.texts, reason)?,
            }
        }
        store.add_history(txn, &seen)?;
        store.switch_when_complete(txn).map(|_| ())
    })
}

/// When nothing is missing any more, vectors of former embedders go. Returns what is missing and
/// was not tried.
async fn finish(base: &Arc<Base>) -> Result<usize, KbError> {
    let base = Arc::clone(base);
    run_blocking("storing vectors", move || {
        let store = &base.store;
        let Some(embedder) = &base.embedder else { return Ok(0) };
        let number = store.write(|txn| {
            // What was the last to be missing may have been removed instead of embedded.
            store.switch_when_complete(txn)?;
            Ok(store.embedder(txn, embedder.model())?.map(|(number, _)| number))
        })?;
        store.write(|txn| store.forget_others(txn, number))?;
        let missing = waiting(&base)?.len();
        let failed = store.read(|txn| store.count_unembedded(txn))?;
        Ok(missing.saturating_sub(failed))
    })
    .await
}
