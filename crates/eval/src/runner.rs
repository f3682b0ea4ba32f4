//! Running contestants over a data set: several questions at once, every finished one kept, so
//! that a second run asks nothing again.
mod asking;
mod assessing;
mod book;
mod judging;
mod sample;
mod shelf;
mod source;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use halma_core::{BoxError, Cx, Hit, Meter, Strategy};

use crate::components::Atomizing;
use crate::report::{Report, Run};
use crate::retrieval::retrieve_all;
use crate::{DataSet, EvalError, Item};

pub use assessing::{AskAssessor, Assessor};
pub(crate) use book::Answered;
pub use judging::{AskJudge, Judge, Ruling};
pub use sample::{Sample, sample};
pub(crate) use shelf::{journal, traces};
pub use source::{Claim, Source, record_indexing};

/// Opens a fresh run for one question, with a trace and a budget of its own inside the budget of
/// the whole evaluation ([`Meter::within`]). It is told the question's item, for sets whose
/// questions see only the passages that they bring themselves.
pub type OpenCx = Arc<dyn Fn(&Item, &Arc<Meter>) -> Cx + Send + Sync>;

/// The ten best chunks for a text, by the base's hybrid search.
pub type Retrieve =
    Arc<dyn Fn(String) -> BoxFuture<'static, Result<Vec<Hit>, BoxError>> + Send + Sync>;

/// Is told how far the work is.
pub type Progress = Arc<dyn Fn(&Tick) + Send + Sync>;

/// What the contestants are run against.
#[derive(Clone)]
pub struct Bench {
    pub open: OpenCx,
    pub retrieve: Retrieve,
    /// Of the base: what was found in another one is not taken over.
    pub fingerprint: String,
    /// Rules on every answer, where there is one.
    pub judge: Option<Judge>,
    /// Assess every answer by criteria, no two by the same scheme.
    pub assessors: Vec<Assessor>,
}

/// A strategy in the evaluation, with its settings.
#[derive(Clone)]
pub struct Contestant {
    pub strategy: Arc<dyn Strategy>,
    /// Its name in the report and in file names; no two share one.
    pub label: String,
    /// Of everything its answers depend on ([`crate::fingerprint`]): what was answered under
    /// another one is not taken over.
    pub fingerprint: String,
    /// Where it stands in a grid ([`crate::Point::settings`]); empty without one.
    pub point: BTreeMap<String, String>,
}

/// How far one contestant (or the retrieval before them, labelled `retrieval`) is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tick {
    pub label: String,
    pub done: usize,
    pub total: usize,
    /// Of those done, taken over from an earlier run.
    pub taken_over: usize,
    pub failed: usize,
}

impl Tick {
    pub(crate) fn new(label: &str, total: usize, taken_over: usize) -> Self {
        Self { label: label.to_owned(), done: taken_over, total, taken_over, failed: 0 }
    }

    pub(crate) fn count(&mut self, failed: bool) {
        self.done += 1;
        self.failed += usize::from(failed);
    }
}

/// Where the questions and the base come from, for the report.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    pub source: Option<Source>,
    pub sample: Option<Sample>,
    pub atomizing: Option<Atomizing>,
}

/// Runs contestants over data sets.
#[derive(Debug, Clone)]
pub struct Runner {
    /// Questions at once; 0 is taken as 1.
    pub concurrency: usize,
    /// Where finished questions and traces are kept; without it nothing is, and a second run asks
    /// everything again.
    pub out: Option<PathBuf>,
    /// The budget of all that this runner does together: every contestant and question, judging,
    /// and what a forecast asks first. When it is spent no further question is begun, and the
    /// report says which were not asked.
    pub whole: Arc<Meter>,
    pub origin: Origin,
}

impl Default for Runner {
    /// One question at once, nothing kept, no limits.
    fn default() -> Self {
        let whole = Arc::new(Meter::unlimited());
        Self { concurrency: 1, out: None, whole, origin: Origin::default() }
    }
}

impl Runner {
    /// Asks every contestant every question that it has not answered yet, and reports on all.
    ///
    /// A question that fails is counted by the kind of its error and tried again by the next run;
    /// only what makes the whole run senseless (the folder cannot be written, two contestants of
    /// one label) is an error. With a folder, `report.json` is written after each contestant, so
    /// that a run that is stopped leaves what it had.
    pub async fn run(
        &self,
        data: &DataSet,
        contestants: &[Contestant],
        bench: &Bench,
        progress: &Progress,
    ) -> Result<Report, EvalError> {
        self.measure(data, contestants, bench, (progress, true)).await
    }

    /// [`Runner::run`], which may leave the folder's report as it is.
    pub(crate) async fn measure(
        &self,
        data: &DataSet,
        contestants: &[Contestant],
        bench: &Bench,
        (progress, save): (&Progress, bool),
    ) -> Result<Report, EvalError> {
        for (i, one) in contestants.iter().enumerate() {
            if contestants[..i].iter().any(|other| other.label == one.label) {
                return Err(EvalError::SameLabel { label: one.label.clone() });
            }
        }
        if let Some(out) = &self.out {
            shelf::make_folder(out)?;
        }
        let retrieved = retrieve_all(self, data, bench, progress).await?;
        let mut report = self.empty_report(data, bench);
        let meter = Arc::clone(&self.whole);
        let round = asking::Round { runner: self, data, bench, meter, progress };
        for contestant in contestants {
            let answered = round.answer_all(contestant).await?;
            let run = Run::of(contestant, data, answered, &retrieved);
            if run.unasked > 0 {
                report.spent = report.spent.or(round.meter.spent());
            }
            report.runs.push(run);
            if let Some(out) = self.out.as_ref().filter(|_| save) {
                report.save_json(out)?;
            }
        }
        Ok(report)
    }

    fn empty_report(&self, data: &DataSet, bench: &Bench) -> Report {
        let Origin { source, sample, atomizing } = self.origin.clone();
        let report = Report::new(data, &bench.fingerprint, self.whole.budget());
        Report { source, sample, atomizing, ..report }
    }
}

#[cfg(test)]
mod assessing_tests;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod whole_tests;
