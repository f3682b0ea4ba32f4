//! Running systems over a data set: several questions at once, every finished one stored, so that
//! a second run asks nothing again.
mod asking;
mod assessing;
mod collector;
mod judging;
mod run_files;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use halma_core::{BoxError, Cx, Hit, Meter, Strategy};

use crate::base_source::Source;
use crate::components::Atomizing;
use crate::data::{DataSet, Item, Sample};
use crate::error::EvalError;
use crate::jobs::Progress;
use crate::report::{Report, Run};
use crate::retrieval::retrieve_all;

pub use assessing::{AskAssessor, AssessmentCase, Assessor};
pub use judging::{AskJudge, Judge};
pub(crate) use run_files::{journal, make_folder, traces};

/// A strategy in the evaluation, with its settings.
#[derive(Clone)]
pub struct SystemUnderTest {
    pub strategy: Arc<dyn Strategy>,
    /// Its name in the report and in file names; no two share one.
    pub label: String,
    /// Of everything its answers depend on ([`crate::fingerprint`]): answers given under another
    /// fingerprint are not reused.
    pub fingerprint: String,
    /// Where it stands in a grid ([`crate::Point::settings`]); empty without one.
    pub point: BTreeMap<String, String>,
}

/// Opens a fresh run for one question, with a trace and a budget of its own inside the budget of
/// the whole evaluation ([`Meter::within`]). It is given the question's item, for sets whose
/// questions see only the passages that they bring themselves.
pub type OpenCx = Arc<dyn Fn(&Item, &Arc<Meter>) -> Cx + Send + Sync>;

/// The ten best chunks for a text, by the base's hybrid search.
pub type Retrieve =
    Arc<dyn Fn(String) -> BoxFuture<'static, Result<Vec<Hit>, BoxError>> + Send + Sync>;

/// What the systems are run against.
#[derive(Clone)]
pub struct Bench {
    pub open: OpenCx,
    pub retrieve: Retrieve,
    /// Of the base: what was retrieved from another one is not reused.
    pub fingerprint: String,
    /// Whether searches compare vectors: only then there are thresholds that may be too high.
    pub has_embedder: bool,
    /// Rules on every answer, where there is one.
    pub judge: Option<Judge>,
    /// Assess every answer by criteria, no two by the same scheme.
    pub assessors: Vec<Assessor>,
}

/// Where the questions and the base come from, for the report.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    pub source: Option<Source>,
    pub sample: Option<Sample>,
    /// What else selected the questions, in words.
    pub selected: Vec<String>,
    pub atomizing: Option<Atomizing>,
}

/// Runs systems over data sets.
#[derive(Debug, Clone)]
pub struct Runner {
    /// Questions at once; 0 is taken as 1.
    pub concurrency: usize,
    /// Where finished questions and traces are stored; without it nothing is, and a second run asks
    /// everything again.
    pub out: Option<PathBuf>,
    /// The budget of all that this runner does together: every system and question, judging,
    /// and what a forecast asks first. When it is spent no further question is begun, and the
    /// report says which were not asked.
    pub budget: Arc<Meter>,
    pub origin: Origin,
}

/// Who receives what a measurement finds while it is under way.
#[derive(Clone, Copy)]
pub(crate) struct Reporting<'a> {
    pub(crate) progress: &'a Progress,
    /// Whether `report.json` is written to the folder.
    pub(crate) saves: bool,
}

impl Default for Runner {
    /// One question at once, nothing stored, no limits.
    fn default() -> Self {
        let budget = Arc::new(Meter::unlimited());
        Self { concurrency: 1, out: None, budget, origin: Origin::default() }
    }
}

impl Runner {
    /// Asks every system every question that it has not answered yet, and reports on all.
    ///
    /// A question that fails is counted by the kind of its error and tried again by the next run;
    /// only what makes the whole run senseless (the folder cannot be written, two systems of
    /// one label) is an error. With a folder, `report.json` is written after each system, so
    /// that a run that is stopped leaves what it had.
    pub async fn run(
        &self,
        data: &DataSet,
        systems: &[SystemUnderTest],
        bench: &Bench,
        progress: &Progress,
    ) -> Result<Report, EvalError> {
        self.measure(data, systems, bench, Reporting { progress, saves: true }).await
    }

    /// [`Runner::run`], which may leave the folder's report as it is.
    pub(crate) async fn measure(
        &self,
        data: &DataSet,
        systems: &[SystemUnderTest],
        bench: &Bench,
        reporting: Reporting<'_>,
    ) -> Result<Report, EvalError> {
        let Reporting { progress, saves } = reporting;
        for (i, one) in systems.iter().enumerate() {
            if systems[..i].iter().any(|other| other.label == one.label) {
                return Err(EvalError::SameLabel { label: one.label.clone() });
            }
        }
        if let Some(out) = &self.out {
            run_files::make_folder(out)?;
        }
        let retrieved = retrieve_all(self, data, bench, progress).await?;
        let mut report = self.empty_report(data, bench);
        let round = asking::Round { runner: self, data, bench, progress };
        let mut rivals = None;
        for system in systems {
            let results = round.answer_all(system, &mut rivals).await?;
            let run = Run::new(system, data, results, &retrieved);
            let mut run = run.with_atomizing(self.origin.atomizing);
            run.nothing_near = run.nothing_near.filter(|_| bench.has_embedder);
            if run.unasked > 0 {
                report.spent = report.spent.or(self.budget.spent());
            }
            report.add(run);
            if let Some(out) = self.out.as_ref().filter(|_| saves) {
                report.save_json(out)?;
            }
        }
        Ok(report)
    }

    fn empty_report(&self, data: &DataSet, bench: &Bench) -> Report {
        let Origin { source, sample, selected, atomizing } = self.origin.clone();
        let report = Report::new(data, &bench.fingerprint, self.budget.budget());
        Report { source, sample, selected, atomizing, ..report }
    }
}

#[cfg(test)]
pub(crate) mod tests;
