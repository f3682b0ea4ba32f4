//! Knowledge extracted from the chunks: entities and facts, tables of relations, tags, summaries,
//! communities. Each is on or off, each is asked for unit by unit and never twice, and each goes
//! with the documents it came from. The [stages](crate::stages) ask the models; what is made of the
//! replies is here.
mod communities;
mod extracted_chunk;
#[cfg(test)]
mod forget_tests;
mod graph;
mod joined_rows;
mod learned_tags;
#[cfg(test)]
mod measure;
mod merges;
mod name_index;
mod resolution;
#[cfg(test)]
mod resolution_tests;
mod resolve;
mod rounds;
mod tag_collection;
mod tag_joins;
mod targeted_tables;
mod turned_off;

use std::sync::Arc;

use halma_core::{Limit, UsageTotal};
use serde::Serialize;

pub use merges::{Merge, MergeSide};
pub(crate) use name_index::{Names, check as check_names, mark_damaged as mark_names_damaged};
pub(crate) use tag_collection::collect_and_embed;

use crate::stages::{
    BuildContext, Communities, Driver, Facts, Forecaster, MAX_ENTITIES, MAX_FACTS, Rows,
    SameEntity, StageReport, Summarize, TagClasses, TagForecast, Tally, summarize,
};
use crate::{Entities, KbError, LeftOut};

/// What one run extracted. Counts of things are those of the whole base.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Extracted {
    /// Units that the model did in this run.
    pub units: usize,
    pub entities: usize,
    pub facts: usize,
    pub merges: usize,
    /// Rows of tables made of facts.
    pub rows: usize,
    pub tags: usize,
    pub summaries: usize,
    pub communities: usize,
    /// What of the replies about this base's chunks was not kept.
    pub left_out: LeftOut,
    /// Units that failed and are tried again by the next run.
    pub failed: usize,
    /// Units that were not tried.
    pub pending: usize,
    pub usage: UsageTotal,
    pub spent: Option<Limit>,
    /// The last reason for which a unit failed.
    pub failure: Option<String>,
}

impl Extracted {
    fn add(&mut self, report: StageReport) {
        self.units += report.done;
        self.failed += report.failed;
        self.pending += report.pending;
        self.usage.add(report.usage);
        self.spent = self.spent.or(report.spent);
        self.failure = report.failure.or(self.failure.take());
    }
}

/// Runs every stage that the settings ask for. What is done is left alone. `new_chunks` are those
/// that this run has added to the base.
pub(crate) async fn extract_knowledge(
    context: &Arc<BuildContext>,
    new_chunks: usize,
) -> Result<Extracted, KbError> {
    turned_off::remove(context).await?;
    let mut fresh = new_chunks;
    let settings = &context.settings;
    let mut extracted = Extracted::default();
    if settings.entities == Entities::Model {
        let report = Driver::new(Facts::new(context)).run_backlog().await?;
        fresh = report.done;
        extracted.add(report);
        let (report, written) = rounds::resolve_all(context, fresh).await?;
        extracted.add(report);
        (extracted.entities, extracted.facts) = (written.entities, written.facts);
        extracted.merges = written.merges;
        extracted.left_out = written.left_out;
        warn_of_cuts(written.left_out);
    }
    if let Some(rows) = Rows::new(context) {
        extracted.add(Driver::new(rows).run_backlog().await?);
    }
    extracted.rows = targeted_tables::update_all(context).await?;
    if settings.tags {
        let (report, tags) = tag_collection::tag_all(context).await?;
        extracted.add(report);
        extracted.tags = tags;
    }
    if settings.summaries {
        let (report, summaries) = summarize(context).await?;
        extracted.add(report);
        extracted.summaries = summaries;
    }
    if settings.communities {
        let (report, communities) = communities::update_all(context, fresh).await?;
        extracted.add(report);
        extracted.communities = communities;
    }
    Ok(extracted)
}

/// The stages of [`extract_knowledge`] that the settings switch on, in the same order, to forecast
/// what they will cost.
pub(crate) fn forecasters(
    context: &Arc<BuildContext>,
) -> Result<Vec<Box<dyn Forecaster>>, KbError> {
    let settings = &context.settings;
    let mut stages: Vec<Box<dyn Forecaster>> = vec![];
    if settings.entities == Entities::Model {
        stages.push(Box::new(Tally::new(Facts::new(context))));
        stages.push(Box::new(Tally::new(SameEntity::new(context))));
    }
    if let Some(rows) = Rows::new(context) {
        stages.push(Box::new(Tally::new(rows)));
    }
    if settings.tags {
        stages.push(Box::new(Tally::new(TagClasses::new(context))));
        stages.push(Box::new(TagForecast::new(context)?));
    }
    if settings.summaries {
        stages.push(Box::new(Tally::new(Summarize::new(context))));
    }
    if settings.communities {
        stages.push(Box::new(Tally::new(Communities::new(context))));
    }
    Ok(stages)
}

/// Says what was left out of all replies that the base holds.
fn warn_of_cuts(left_out: LeftOut) {
    if left_out.beyond_limit > 0 {
        tracing::warn!(
            "{} entities and facts were more than {} and {} of one chunk and are left out",
            left_out.beyond_limit,
            MAX_ENTITIES,
            MAX_FACTS
        );
    }
}
