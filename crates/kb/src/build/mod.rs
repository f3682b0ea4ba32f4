//! Building: read → cut → store → atomize → embed → index. Every step is kept in the ledger, so a
//! run that is killed or runs out of budget is continued by the next one.
mod atomize;
mod embed;
mod intake;
mod link;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_core::{Layer, Meter, Setup};
use tokio::sync::mpsc;

use crate::error::beside;
use crate::lock::WriterLock;
use crate::store::Row;
use crate::{Base, IndexReport, InputFormat, KbError, KbSettings, Progress, Stage, Step};

/// Results are written when so many have come or so much time has passed: every commit is synced
/// to the disk, which takes milliseconds.
const WRITE_EVERY: Duration = Duration::from_millis(250);

/// What is to be embedded.
type Unembedded = (Layer, Row);

/// Brings the base up to what the inputs hold. Documents it has already are left alone, changed
/// ones are replaced, work that is unfinished is taken up again. Failures of single files and
/// units are in the report; an error means that the run as a whole could not go on.
pub async fn index(
    base: &Arc<Base>,
    inputs: &[PathBuf],
    format: InputFormat,
    settings: &KbSettings,
    setup: &Arc<Setup>,
    meter: &Arc<Meter>,
    progress: Progress,
) -> Result<IndexReport, KbError> {
    let began = Instant::now();
    // Blocking work holds the lock as well: it goes on when this future is dropped.
    let lock = Arc::new(lock(base, &progress).await?);
    let mut report = {
        let work = intake::Intake::new(base, settings, &progress);
        let (inputs, lock) = (inputs.to_owned(), Arc::clone(&lock));
        beside("reading", move || {
            let _lock = lock;
            work.run(&inputs, format)
        })
        .await?
    };
    let replaced = report.documents_replaced > 0;
    let (work, words, linked) = tokio::join!(
        distil(base, settings, (setup, meter), &progress),
        enter_words(base, Layer::Chunk, (&lock, &progress)),
        link::run(base, settings, replaced, &progress)
    );
    // What was made is searched even when the run then fails.
    enter_words(base, Layer::Atom, (&lock, &progress)).await?;
    words?;
    linked?;
    publish(base).await?;
    let (atomized, embedded) = work?;
    report.atoms = atomized.atoms;
    report.spent = atomized.spent;
    report.usage = atomized.usage;
    report.embedded = embedded.done;
    report.failure = atomized.failure.or(embedded.failure);
    let ledger = base.store.read(|txn| base.store.ledger_counts(txn))?;
    report.failed_units = count(ledger.failed);
    report.pending_units = count(ledger.pending) + embedded.pending;
    report.elapsed_ms = began.elapsed().as_secs_f64() * 1e3;
    Ok(report)
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The base's lock; when another run holds it this one says so and waits.
async fn lock(base: &Arc<Base>, progress: &Progress) -> Result<WriterLock, KbError> {
    if let Some(lock) = WriterLock::try_take(&base.dir)? {
        return Ok(lock);
    }
    tracing::warn!("another `index` runs on `{}`; waiting for it", base.dir.display());
    progress(Step { stage: Stage::Wait, done: 0, total: 0 });
    let dir = base.dir.clone();
    beside("waiting for the lock", move || WriterLock::take(&dir)).await
}

/// Atomizes and embeds side by side: atoms are embedded as they come.
async fn distil(
    base: &Arc<Base>,
    settings: &KbSettings,
    (setup, meter): (&Arc<Setup>, &Arc<Meter>),
    progress: &Progress,
) -> Result<(atomize::Atomized, embed::Embedded), KbError> {
    let (queue, queued) = mpsc::unbounded_channel::<Unembedded>();
    let number = match &base.embedder {
        Some(embedder) => {
            base.store.read(|txn| base.store.embedder(txn, embedder.model()))?.map(|found| found.0)
        }
        None => None,
    };
    let waiting = embed::waiting(base, number)?;
    for text in &waiting {
        // The receiver is alive: it is in this function.
        let _ = queue.send(*text);
    }
    let atomizer = atomize::Atomizer {
        base: Arc::clone(base),
        settings: settings.clone(),
        setup: Arc::clone(setup),
        meter: Arc::clone(meter),
        progress: Arc::clone(progress),
    };
    let (atoms, vectors) =
        tokio::join!(atomizer.run(queue), embed::run(base, queued, waiting.len(), progress));
    Ok((atoms?, vectors?))
}

/// Brings the word index of a layer up to the truth.
async fn enter_words(
    base: &Arc<Base>,
    layer: Layer,
    (lock, progress): (&Arc<WriterLock>, &Progress),
) -> Result<(), KbError> {
    let (base, lock, progress) = (Arc::clone(base), Arc::clone(lock), Arc::clone(progress));
    beside("entering words", move || {
        let _lock = lock;
        intake::enter_words(&base, layer, &progress)?;
        base.words(layer)?.merge()
    })
    .await
}

/// Lets searches see what was stored, if anything was.
async fn publish(base: &Arc<Base>) -> Result<(), KbError> {
    let base = Arc::clone(base);
    beside("storing", move || base.store.write(|txn| base.store.publish(txn))).await
}
