//! Building: read → cut → store → atomize → embed → index. Every step is kept in the ledger, so a
//! run that is killed or runs out of budget is continued by the next one.
mod atomize;
mod cutting;
mod describe;
mod desk;
mod embed;
mod enter;
mod estimate;
mod forecast;
mod inputs;
mod intake;
mod link;
mod migrate;
mod options;
mod plan;
mod prune;
mod refer;
#[cfg(test)]
mod tests;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use halma_core::{Layer, Meter, Setup};
use tokio::sync::mpsc;

pub use estimate::{Estimate, StageEstimate, estimate};
pub use migrate::{EmbeddedBy, Migration};
pub use options::IndexOptions;
pub(crate) use options::Selection;
pub use watch::{Changed, Watch};

use crate::distil::{self, Distilled, Distiller};
use crate::error::run_blocking;
use crate::lock::WriterLock;
use crate::store::Row;
use crate::{Base, IndexReport, KbError, KbSettings, Progress, Stage, Step};

/// What is to be embedded.
type Unembedded = (Layer, Row);

/// Brings the base up to what the inputs hold. Documents it has already are left alone, changed
/// ones are replaced, work that is unfinished is taken up again. Failures of single files and
/// units are in the report; an error means that the run as a whole could not go on.
pub async fn index(
    base: &Arc<Base>,
    inputs: &[PathBuf],
    options: &IndexOptions,
    settings: &KbSettings,
    setup: &Arc<Setup>,
    meter: &Arc<Meter>,
    progress: Progress,
) -> Result<IndexReport, KbError> {
    let began = Instant::now();
    // Blocking work holds the lock as well: it goes on when this future is dropped.
    let lock = Arc::new(lock(base, &progress).await?);
    let mut report = {
        let work = intake::Intake::new(base, settings, options, (setup, meter), &progress);
        let (inputs, lock, base) = (inputs.to_owned(), Arc::clone(&lock), Arc::clone(base));
        let atoms = settings.atoms;
        run_blocking("reading", move || {
            let _lock = lock;
            aim(&base, atoms)?;
            work.run(&inputs)
        })
        .await?
    };
    let swept = report.documents_replaced > 0 || !report.documents_removed.is_empty();
    let words = async {
        enter_words(base, Layer::Chunk, (&lock, &progress)).await?;
        publish(base, &lock).await
    };
    let (work, words, linked) = tokio::join!(
        distil(base, settings, (setup, meter), &progress),
        words,
        link::run(base, settings, swept, &progress)
    );
    // What was made is searched even when the run then fails.
    enter_words(base, Layer::Atom, (&lock, &progress)).await?;
    words?;
    linked?;
    refer::run(base).await?;
    let (atomized, embedded) = work?;
    let distilled = distil_further(base, settings, (setup, meter), &progress).await;
    publish(base, &lock).await?;
    let distilled = distilled?;
    report.atoms = atomized.atoms;
    report.atoms_cut = atomized.cut;
    report.spent = report.spent.or(atomized.spent).or(distilled.spent);
    report.usage.add(atomized.usage);
    report.usage.add(distilled.usage);
    report.embedded = embedded.done;
    let failure = report.failure.take().or(atomized.failure).or(embedded.failure);
    report.failure = failure.or(distilled.failure.clone());
    let ledger = base.store.read(|txn| base.store.ledger_counts(txn))?;
    report.failed_units = count(ledger.failed) + distilled.failed;
    report.pending_units += count(ledger.pending) + embedded.pending + distilled.pending;
    report.distilled = distilled;
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
    run_blocking("waiting for the lock", move || WriterLock::take(&dir)).await
}

/// Says what the lists of waiting work are about: this kind of atoms, vectors of this embedder.
fn aim(base: &Base, atoms: crate::Atoms) -> Result<(), KbError> {
    let store = &base.store;
    store.write(|txn| {
        store.want_atoms(txn, atoms)?;
        let Some(embedder) = &base.embedder else { return Ok(()) };
        store.aim_at(txn, embedder.model())?;
        match store.embedder(txn, embedder.model())? {
            Some((number, _)) => store.set_origin(txn, number, &base.origin),
            None => Ok(()),
        }
    })
}

/// Atomizes and embeds side by side: atoms are embedded as they come.
async fn distil(
    base: &Arc<Base>,
    settings: &KbSettings,
    (setup, meter): (&Arc<Setup>, &Arc<Meter>),
    progress: &Progress,
) -> Result<(atomize::Atomized, embed::Embedded), KbError> {
    let (queue, queued) = mpsc::unbounded_channel::<Unembedded>();
    let waiting = embed::waiting(base)?;
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

/// Entities, tags, summaries and the like, once all chunks are there.
async fn distil_further(
    base: &Arc<Base>,
    settings: &KbSettings,
    (setup, meter): (&Arc<Setup>, &Arc<Meter>),
    progress: &Progress,
) -> Result<Distilled, KbError> {
    distil::run(Distiller {
        base: Arc::clone(base),
        settings: settings.clone(),
        setup: Arc::clone(setup),
        meter: Arc::clone(meter),
        progress: Arc::clone(progress),
    })
    .await
}

/// Brings the word index of a layer up to the truth.
async fn enter_words(
    base: &Arc<Base>,
    layer: Layer,
    (lock, progress): (&Arc<WriterLock>, &Progress),
) -> Result<(), KbError> {
    let (base, lock, progress) = (Arc::clone(base), Arc::clone(lock), Arc::clone(progress));
    run_blocking("entering words", move || {
        let _lock = lock;
        enter::words(&base, layer, &progress)?;
        base.lexical_on_disk(layer)?.merge()
    })
    .await
}

/// Lets searches see what was stored, if anything was.
async fn publish(base: &Arc<Base>, lock: &Arc<WriterLock>) -> Result<(), KbError> {
    let (base, lock) = (Arc::clone(base), Arc::clone(lock));
    run_blocking("storing", move || {
        let _lock = lock;
        base.store.write(|txn| base.store.publish(txn))
    })
    .await
}
