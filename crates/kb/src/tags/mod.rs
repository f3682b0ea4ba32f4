//! Tags in use: what questions call them is learned from samples, and a question is expanded by the
//! tags that it names, for every search and for filters alike (PIKE-RAG, Figure 7).
mod samples;

use std::collections::BTreeSet;
use std::sync::Arc;

use halma_core::{Edge, Layer, Limit, UsageTotal};
use serde::Serialize;

pub use self::samples::{SkippedSample, TagSample};
use crate::build::{RunPlan, lock, price_forecasts, publish_now};
use crate::error::run_blocking;
use crate::extract::collect_and_embed;
use crate::stages::{
    BuildContext, Driver, Forecaster, LedgerUnit, MapTags, SampleRequest, Stage, Tally,
};
use crate::store::{TagRecord, Task};
use crate::{Estimate, KbError};

/// What was learned from samples.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TagLearning {
    pub samples: usize,
    /// Samples that the model was asked about in this run, and those that it had been before.
    pub samples_read: usize,
    pub unchanged: usize,
    /// Samples from which nothing can be learned.
    pub skipped: Vec<SkippedSample>,
    /// Words of questions that the base knows now, and the pairs of such words and a tag.
    pub terms: usize,
    pub pairs: usize,
    /// Samples that failed and are tried again by the next run.
    pub failed: usize,
    /// Samples that were not tried.
    pub pending: usize,
    pub usage: UsageTotal,
    pub spent: Option<Limit>,
    /// The last reason for which a sample failed.
    pub failure: Option<String>,
}

/// The samples that a model has to be asked about.
struct OpenSamples {
    units: Vec<LedgerUnit<SampleRequest>>,
    unchanged: usize,
    skipped: Vec<SkippedSample>,
}

async fn open_samples(stage: &MapTags, samples: &[TagSample]) -> Result<OpenSamples, KbError> {
    stage.context().base.refresh()?;
    let store = stage.context().store();
    let mut open = OpenSamples { units: vec![], unchanged: 0, skipped: vec![] };
    let mut seen = BTreeSet::new();
    for sample in samples.iter().filter(|sample| seen.insert(sample.key())) {
        match sample.unit(stage).await? {
            Err(reason) => {
                let question = sample.question.chars().take(200).collect();
                open.skipped.push(SkippedSample { question, reason });
            }
            Ok(unit) if store.read(|reader| unit.is_done(reader))? => open.unchanged += 1,
            Ok(unit) => open.units.push(unit),
        }
    }
    Ok(open)
}

/// The context goes by what the base was made with, as that of a build does.
async fn planned(mut context: BuildContext) -> Result<Arc<BuildContext>, KbError> {
    run_blocking("storing tags", move || {
        RunPlan::new(&context, &[])?.apply_to(&mut context);
        Ok(Arc::new(context))
    })
    .await
}

/// What [`learn_tags`] would cost; no model is asked.
pub async fn estimate_learning(
    context: BuildContext,
    samples: &[TagSample],
) -> Result<Estimate, KbError> {
    let context = planned(context).await?;
    let stage = MapTags::new(&context);
    let open = open_samples(&stage, samples).await?;
    let mut tally = Tally::new(stage);
    open.units.iter().for_each(|unit| tally.add(unit));
    price_forecasts(&[tally.forecast()], &context)
}

/// Asks the model of role `distiller` which words of each sample stand for which tags, and keeps
/// that. Samples that were learned from before are not asked about again; with `replace` what was
/// learned from any others is forgotten.
pub async fn learn_tags(
    context: BuildContext,
    samples: &[TagSample],
    replace: bool,
) -> Result<TagLearning, KbError> {
    let lock = Arc::new(lock(&context).await?);
    let context = planned(context).await?;
    let stage = MapTags::new(&context);
    let OpenSamples { units, unchanged, skipped } = open_samples(&stage, samples).await?;
    let report = Driver::new(stage).run_all(units).await?;
    if replace {
        forget_others(&context, samples).await?;
    }
    collect_and_embed(&context).await?;
    publish_now(&context, &lock).await?;
    let (terms, pairs) = counts(&context)?;
    Ok(TagLearning {
        samples: samples.len(),
        samples_read: report.done,
        unchanged,
        skipped,
        terms,
        pairs,
        failed: report.failed,
        pending: report.pending,
        usage: report.usage,
        spent: report.spent,
        failure: report.failure,
    })
}

/// Forgets what was learned from samples that are not among these.
async fn forget_others(context: &Arc<BuildContext>, samples: &[TagSample]) -> Result<(), KbError> {
    let kept: BTreeSet<_> = samples.iter().map(TagSample::key).collect();
    let base = Arc::clone(&context.base);
    run_blocking("storing tags", move || {
        base.store.write(|writer| {
            let mut others = vec![];
            for entry in writer.entries(Task::MapTags)? {
                others.extend(Some(entry?.key).filter(|key| !kept.contains(key)));
            }
            others.into_iter().try_for_each(|key| writer.forget_unit(key))
        })
    })
    .await
}

/// Words of questions that stand for tags, and the pairs.
fn counts(context: &BuildContext) -> Result<(usize, usize), KbError> {
    context.store().read(|reader| {
        let (mut terms, mut pairs) = (0, 0);
        for node in reader.nodes::<TagRecord>()? {
            let links = reader.edges_from((Layer::Tag, node?.0), Some(Edge::MapsTo))?;
            terms += usize::from(!links.is_empty());
            pairs += links.len();
        }
        Ok((terms, pairs))
    })
}
