//! Building: read → describe → chunk → store → atomize → embed → index → extract. Every step is kept
//! in the ledger, so a run that is killed or runs out of budget is continued by the next one.
mod calibrate;
mod estimate;
mod fields;
mod indexing;
mod ingest;
mod intake;
mod link;
mod migrate;
mod preview;
mod profile;
mod prune;
mod reader;
mod rebuild;
mod references;
mod report;
mod resolver;
#[cfg(test)]
mod tests;
mod watch;
mod write_lease;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use halma_core::Layer;

pub(crate) use estimate::price_forecasts;
pub use estimate::{Estimate, StageEstimate, estimate};
use indexing::ChunkIndexing;
pub use migrate::{EmbeddedBy, Migration};
pub(crate) use profile::RunPlan;
pub use rebuild::RebuildCost;
pub use report::IndexReport;
pub use watch::{Changed, Watch};
use write_lease::WriteLease;
pub(crate) use write_lease::wait as lock;

use crate::base::WriterLock;
use crate::error::run_blocking;
use crate::extract::extract_knowledge;
use crate::stages::{
    Atomize, BuildContext, Driver, Embed, Embedded, Searched, atomized_with, embed_queue,
};
use crate::store::{Precision, Task, searched};
use crate::{Base, BasePart, IndexOptions, KbError, Phase, PhaseProgress, Progress};

/// Brings the base up to what the inputs hold. Documents it has already are left alone, changed
/// ones are replaced, unfinished work is resumed. A deletion meanwhile interrupts it for as long as
/// it takes. Failures of single files and units are in the report; an error means that the run as a whole could not go on.
///
/// Boxed, so that it is compiled in this crate and not again in every program that awaits it.
pub fn index<'a>(
    context: BuildContext,
    inputs: &'a [PathBuf],
    options: &'a IndexOptions,
) -> BoxFuture<'a, Result<IndexReport, KbError>> {
    Box::pin(write_lease::run(context, inputs, options))
}

async fn build(
    mut context: BuildContext,
    inputs: &[PathBuf],
    options: &IndexOptions,
    lease: WriteLease,
) -> Result<IndexReport, KbError> {
    let began = Instant::now();
    let lock = Arc::clone(&lease.lock);
    let (writer_lock, rebuild) = (Arc::clone(&lock), options.rebuild.clone());
    let (context, kept) = run_blocking("storing", move || {
        let plan = RunPlan::new(&context, &rebuild)?;
        plan.check()?;
        rebuild::report_kept(&context, &plan.kept)?;
        plan.apply_to(&mut context);
        context.rebuild = rebuild;
        set_build_target(&context, &plan, &writer_lock)?;
        Ok((Arc::new(context), plan.kept))
    })
    .await?;
    let base = &context.base;
    let indexing = ChunkIndexing::start(&context, &lock);
    let intake = intake::Intake::new(&context, lease, options, indexing.requests())?;
    let mut report = intake.run(inputs).await?;
    let link = async {
        link::run(&context).await?;
        references::run(base).await
    };
    let (atoms, indexed, linked) = tokio::join!(
        atomize_and_embed(&context, &mut report),
        index_chunks(&context, &lock, indexing),
        link
    );
    // What was made is searched even when the run then fails.
    index_text(&context, &lock, Layer::Atom).await?;
    indexed?;
    linked?;
    let is_embedding = atoms?;
    let new_chunks = report.chunks.saturating_sub(report.chunks_kept);
    let extracted = extract_knowledge(&context, new_chunks).await;
    if is_embedding {
        embed_others(&context, &mut report).await?;
    }
    calibrate::calibrate(&context).await?;
    calibrate::trust::measure_trust(&context).await?;
    prepare_walk(&context, &lock).await?;
    publish_now(&context, &lock).await?;
    let extracted = extracted?;
    report.spent = report.spent.or(extracted.spent);
    report.usage.add(extracted.usage);
    report.failure = report.failure.take().or(extracted.failure.clone());
    let count = |task| base.store.read(|reader| reader.unit_counts(task));
    let (atoms, vectors) = (count(Task::Atoms)?, count(Task::Embed)?);
    // Chunks that kept the atoms that they had are pending in the ledger.
    let kept_atoms = report.failed_units.saturating_sub(number(atoms.failed));
    report.failed_units = number(atoms.failed + vectors.failed) + kept_atoms + extracted.failed;
    report.pending_units += number(atoms.pending).saturating_sub(kept_atoms) + extracted.pending;
    report.extracted = extracted;
    report.kept = kept;
    report.elapsed_ms = began.elapsed().as_secs_f64() * 1e3;
    Ok(report)
}

fn number(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Notes what the lists of waiting work are about: this kind of atoms, vectors of this embedder.
fn set_build_target(
    context: &BuildContext,
    plan: &RunPlan,
    _lock: &WriterLock,
) -> Result<(), KbError> {
    let (base, store) = (&context.base, context.store());
    store.write(|writer| {
        plan.record(writer)?;
        let lost = writer.renew_lost_vectors()?;
        if lost > 0 {
            tracing::warn!("vectors missing or damaged: {lost}; their texts are embedded again");
        }
        let exact = context.settings.keep_f32;
        writer.set_precision(if exact { Precision::Float32 } else { Precision::Int8 })?;
        writer.want_atoms(atomized_with(context))?;
        writer.set_vector_layers(&context.settings.vectors)?;
        let Some(embedder) = &context.embedder else { return Ok(()) };
        writer.set_build_target(embedder.model())?;
        match writer.embedder(embedder.model())? {
            Some((number, record)) if base.is_configured(&record.model) => {
                writer.set_origin(number, &base.options.origin)
            }
            _ => Ok(()),
        }
    })
}

/// Atomizes, and embeds chunks and atoms concurrently, as they come. Returns whether the embedder
/// is up.
async fn atomize_and_embed(
    context: &Arc<BuildContext>,
    report: &mut IndexReport,
) -> Result<bool, KbError> {
    let (queue, queued) = embed_queue(&Embed::backlog_of(context, searched)?);
    let atomize = async {
        // The queue is closed when the driver goes.
        let driver = Driver::new(Atomize::new(context, Some(queue)));
        let done = driver.run_backlog().await?;
        Ok::<_, KbError>((done, driver.stage().counts()))
    };
    let (atoms, vectors) = tokio::join!(atomize, Embed::run_queue(context, queued));
    let (atomized, (atoms, left_out)) = atoms?;
    let mut vectors = vectors?;
    if context.rebuild.contains(&BasePart::Embedder) && vectors.failure.is_none() {
        // Of other dimensions than those that the base had under the name of this embedder: only its
        // first reply told.
        let waiting = Embed::backlog_of(context, searched)?;
        let again = embed_all(context, waiting).await?;
        vectors = Embedded { done: vectors.done + again.done, ..again };
    }
    (report.atoms, report.atoms_cut) = (atoms, left_out);
    report.spent = report.spent.or(atomized.spent).or(vectors.spent);
    report.usage.add(atomized.usage);
    report.failed_units = atomized.failed;
    report.embedded = vectors.done;
    report.pending_units += vectors.pending;
    let is_up = vectors.pending == 0 && (vectors.done > 0 || vectors.failure.is_none());
    report.failure = report.failure.take().or(atomized.failure).or(vectors.failure);
    Ok(is_up)
}

/// Embeds what is not a chunk or an atom, when all of it has been extracted.
async fn embed_others(
    context: &Arc<BuildContext>,
    report: &mut IndexReport,
) -> Result<(), KbError> {
    let waiting = Embed::backlog_of(context, |layer| !searched(layer))?;
    if waiting.is_empty() {
        return Ok(());
    }
    let vectors = embed_all(context, waiting).await?;
    report.embedded += vectors.done;
    report.pending_units += vectors.pending;
    report.spent = report.spent.or(vectors.spent);
    report.failure = report.failure.take().or(vectors.failure);
    Ok(())
}

/// Embeds these texts.
async fn embed_all(
    context: &Arc<BuildContext>,
    waiting: Vec<Searched>,
) -> Result<Embedded, KbError> {
    // No more are added.
    let (_, queued) = embed_queue(&waiting);
    Embed::run_queue(context, queued).await
}

/// Makes what graph search needs of the chunks.
async fn prepare_walk(context: &Arc<BuildContext>, lock: &Arc<WriterLock>) -> Result<(), KbError> {
    let (context, lock) = (Arc::clone(context), Arc::clone(lock));
    run_blocking("storing", move || {
        let _lock = lock;
        crate::mentions::fill(context.store(), &context.progress)
    })
    .await
}

/// Indexes the text of the chunks, which can be searched then.
async fn index_chunks(
    context: &Arc<BuildContext>,
    lock: &Arc<WriterLock>,
    indexing: ChunkIndexing,
) -> Result<(), KbError> {
    indexing.finish().await?;
    index_text(context, lock, Layer::Chunk).await?;
    publish_now(context, lock).await
}

/// Brings the lexical index of a layer up to the primary store.
async fn index_text(
    context: &Arc<BuildContext>,
    lock: &Arc<WriterLock>,
    layer: Layer,
) -> Result<(), KbError> {
    let (context, lock) = (Arc::clone(context), Arc::clone(lock));
    run_blocking("indexing text", move || {
        let _lock = lock;
        update_lexical(&context.base, layer, &context.progress)?;
        context.base.lexical_on_disk(layer)?.merge()
    })
    .await
}

/// Brings the lexical index of a layer up to the primary store. The caller holds the lock.
fn update_lexical(base: &Base, layer: Layer, progress: &Progress) -> Result<(), KbError> {
    let count = base.store.read(|reader| reader.count(layer))?;
    let total = usize::try_from(count).unwrap_or(usize::MAX);
    let step = |done| progress(PhaseProgress { phase: Phase::STORE, done, total });
    base.start_stale_indexes_over()?;
    base.lexical_on_disk(layer)?.catch_up(&base.store, &step)
}

/// Lets searches see the chunks that were stored, by their words as well. The caller holds the lock.
fn make_visible(base: &Base, progress: &Progress) -> Result<(), KbError> {
    update_lexical(base, Layer::Chunk, progress)?;
    base.store.publish()
}

/// Lets searches see what was stored.
pub(crate) async fn publish_now(
    context: &Arc<BuildContext>,
    lock: &Arc<WriterLock>,
) -> Result<(), KbError> {
    let (context, lock) = (Arc::clone(context), Arc::clone(lock));
    run_blocking("storing", move || {
        let _lock = lock;
        context.store().publish()
    })
    .await
}
