//! Texts into vectors, in batches, several in flight; what fails stays searchable by its words
//! and is tried again by the next run.
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use halma_core::{EmbedRole, Embedder, Layer, LlmError, Vector};
use tokio::sync::mpsc;

use super::{Unembedded, WRITE_EVERY};
use crate::error::beside;
use crate::{Base, KbError, Progress, Stage, Step};

/// Texts sent in one call.
const BATCH: usize = 128;

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
    vectors: Result<Vec<Vector>, String>,
}

/// Everything that has no vector of the embedder in use.
pub(super) fn waiting(base: &Base, number: Option<u8>) -> Result<Vec<Unembedded>, KbError> {
    if base.embedder.is_none() {
        return Ok(vec![]);
    }
    base.store.read(|txn| {
        let mut texts = vec![];
        for layer in [Layer::Chunk, Layer::Atom] {
            let rows = base.store.without_vector(txn, number, layer)?;
            texts.extend(rows.into_iter().map(|row| (layer, row)));
        }
        Ok(texts)
    })
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
    let calling = async {
        let call = |texts: Vec<Unembedded>| {
            let (base, embedder) = (Arc::clone(base), Arc::clone(embedder));
            // A task of its own, so that reading the replies uses all cores.
            tokio::spawn(async move { call(&base, embedder.as_ref(), texts).await })
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
    let (called, stored) = tokio::join!(calling, store_all(base, results, total, progress));
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
        done.push(Call { texts: batch.into_iter().map(|(text, _)| text).collect(), vectors });
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

/// Writes vectors as they come, many at a time.
async fn store_all(
    base: &Arc<Base>,
    mut results: mpsc::Receiver<Call>,
    total: usize,
    progress: &Progress,
) -> Result<Embedded, KbError> {
    let mut embedded = Embedded::default();
    let mut open = true;
    while open {
        let (mut batch, mut size) = (vec![], 0);
        let due = Instant::now() + WRITE_EVERY;
        while size < WRITE {
            match tokio::time::timeout_at(due.into(), results.recv()).await {
                Ok(Some(call)) => {
                    size += call.texts.len();
                    match &call.vectors {
                        Ok(vectors) => embedded.done += vectors.len(),
                        Err(reason) => embedded.failure = Some(reason.clone()),
                    }
                    let (done, total) = (embedded.done, total.max(embedded.done));
                    progress(Step { stage: Stage::Embed, done, total });
                    batch.push(call);
                }
                Ok(None) => {
                    open = false;
                    break;
                }
                Err(_) => break,
            }
        }
        if !batch.is_empty() {
            let base = Arc::clone(base);
            beside("storing vectors", move || write(&base, &batch)).await?;
        }
    }
    Ok(embedded)
}

fn write(base: &Base, batch: &[Call]) -> Result<(), KbError> {
    let Some(embedder) = &base.embedder else { return Ok(()) };
    let store = &base.store;
    store.write(|txn| {
        for call in batch {
            match &call.vectors {
                Ok(vectors) => {
                    let dimensions = vectors.first().map_or(0, Vec::len);
                    let number = store.register_embedder(txn, embedder.model(), dimensions)?;
                    for (text, vector) in call.texts.iter().zip(vectors) {
                        store.put_vector(txn, number, *text, vector)?;
                    }
                }
                Err(reason) => store.embedding_failed(txn, &call.texts, reason)?,
            }
        }
        Ok(())
    })
}

/// When nothing is missing any more, vectors of former embedders go. Returns what is missing and
/// was not tried.
async fn finish(base: &Arc<Base>) -> Result<usize, KbError> {
    let base = Arc::clone(base);
    beside("storing vectors", move || {
        let Some(embedder) = &base.embedder else { return Ok(0) };
        let store = &base.store;
        let known = store.read(|txn| store.embedders(txn))?;
        let at = known.iter().position(|record| record.model == embedder.model());
        let number = at.and_then(|at| u8::try_from(at).ok());
        let missing = waiting(&base, number)?.len();
        if missing == 0 && number.is_some() {
            for other in (0..=u8::MAX).take(known.len()).filter(|other| Some(*other) != number) {
                store.write(|txn| store.forget_vectors(txn, other))?;
            }
        }
        let failed = store.read(|txn| store.count_unembedded(txn))?;
        Ok(missing.saturating_sub(failed))
    })
    .await
}
