//! Distilled knowledge: entities and facts, tables of relations, tags, summaries, communities.
//! Each is on or off, each is asked for unit by unit and never twice, and each goes with the
//! documents it came from.
mod agree;
mod circles;
mod communities;
mod entities;
mod facts;
#[cfg_attr(not(test), expect(dead_code, reason = "the estimate of a build asks for it"))]
mod forecast;
mod forget;
#[cfg(test)]
mod forget_tests;
mod graph;
mod learn;
mod likeness;
mod louvain;
#[cfg(test)]
mod measure;
mod merges;
mod names;
mod passage;
mod resolve;
mod summaries;
mod tables;
mod tag_query;
mod tags;
mod units;

use std::sync::Arc;

use halma_core::{Layer, Limit, UsageTotal};
use serde::Serialize;

pub use facts::LeftOut;
#[expect(unused_imports, reason = "what the estimate of a build asks for")]
pub(crate) use forecast::{Forecast, Piece, forecast};
pub(crate) use forget::forget_document;
pub use learn::{Learned, TagSample, learn_tags};
pub use merges::{Merge, MergeSide};
pub use resolve::MergeRule;
pub use tag_query::{Expansion, QueryTag, TagOrigin};
pub(crate) use units::Distiller;

use crate::error::run_blocking;
use crate::store::{Id, Task, UnitKey};
use crate::{Entities, KbError};
use facts::Extract;
use passage::Passage;
use units::{Job, Ran};

/// What one run distilled. Counts of things are those of the whole base.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Distilled {
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

impl Distilled {
    fn add(&mut self, ran: Ran) {
        self.units += ran.done;
        self.failed += ran.failed;
        self.pending += ran.pending;
        self.usage.add(ran.usage);
        self.spent = self.spent.or(ran.spent);
        self.failure = ran.failure.or(self.failure.take());
    }
}

/// Runs every stage that the settings ask for. What is done is left alone.
pub(crate) async fn run(distiller: Distiller) -> Result<Distilled, KbError> {
    let distiller = Arc::new(distiller);
    let settings = &distiller.settings;
    let mut done = Distilled::default();
    if settings.entities == Entities::Model {
        done.add(facts::ask_all(&distiller).await?);
        let (ran, written) = entities::resolve_all(&distiller).await?;
        done.add(ran);
        (done.entities, done.facts) = (written.entities, written.facts);
        done.merges = written.merges;
        done.left_out = left_out(&distiller).await?;
    }
    done.rows = tables::make_all(&distiller).await?;
    if settings.tags {
        let (ran, tags) = tags::tag_all(&distiller).await?;
        done.add(ran);
        done.tags = tags;
    }
    if settings.summaries {
        let (ran, summaries) = summaries::sum_up_all(&distiller).await?;
        done.add(ran);
        done.summaries = summaries;
    }
    if settings.communities {
        let (ran, communities) = communities::make_all(&distiller).await?;
        done.add(ran);
        done.communities = communities;
    }
    Ok(done)
}

/// Units of one task in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskUnits {
    pub task: &'static str,
    pub done: u64,
    /// Tried again by the next run.
    pub failed: u64,
}

impl crate::Base {
    /// What has been distilled, task by task, and what failed. Tasks that were never begun are
    /// left out.
    pub fn distilled_units(&self) -> Result<Vec<TaskUnits>, KbError> {
        let counts = self.store.read(|txn| self.store.unit_counts(txn))?;
        let line = |(task, counts): (Task, crate::store::UnitCounts)| TaskUnits {
            task: task.name(),
            done: counts.done,
            failed: counts.failed,
        };
        Ok(counts.into_iter().map(line).collect())
    }
}

/// A job for every chunk that this task is not done for.
async fn chunk_jobs(
    distiller: &Arc<Distiller>,
    task: Task,
    input: impl Fn(&Passage) -> Id + Send + 'static,
) -> Result<Vec<Job<crate::store::Row>>, KbError> {
    let base = Arc::clone(&distiller.base);
    run_blocking("reading the ledger", move || {
        let store = &base.store;
        store.read(|txn| {
            let mut jobs = vec![];
            for row in store.rows(txn, Layer::Chunk, 0, usize::MAX)? {
                let Some(passage) = Passage::of(store, txn, row)? else { continue };
                let (key, input) = (UnitKey::of(task, (Layer::Chunk, row)), input(&passage));
                if !passage.text.is_empty() && !store.is_done(txn, key, input)? {
                    jobs.push(Job { key, input, of: row });
                }
            }
            Ok(jobs)
        })
    })
    .await
}

/// What was left out of all replies that the base holds.
async fn left_out(distiller: &Arc<Distiller>) -> Result<LeftOut, KbError> {
    let base = Arc::clone(&distiller.base);
    let left_out = run_blocking("reading the ledger", move || {
        base.store.read(|txn| {
            let mut sum = LeftOut::default();
            base.store.each_done(txn, (Task::Facts, Layer::Chunk), |_, _, extract: Extract| {
                sum.add(extract.left_out);
                Ok(())
            })?;
            Ok(sum)
        })
    })
    .await?;
    if left_out.beyond_limit > 0 {
        tracing::warn!(
            "{} entities and facts were more than {} and {} of one chunk and are left out",
            left_out.beyond_limit,
            facts::MOST_ENTITIES,
            facts::MOST_FACTS
        );
    }
    Ok(left_out)
}
