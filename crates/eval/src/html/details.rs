//! What the page's browser of questions shows and the report does not hold: answers, citations,
//! traces, read from the folder of the evaluation.
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use halma_core::{Answer, Trace};
use serde::Deserialize;

use crate::journal::Journal;
use crate::record::{Record, Verdict, file_name};
use crate::runner::{journal, traces};
use crate::{EvalError, Failure, Fate, Report};

/// The page shows no more questions than this; those that are not right in every run come first.
const MOST_QUESTIONS: usize = 2_000;

/// The questions of a report in full, as many as are shown.
#[derive(Debug, Clone, Default)]
pub struct Details {
    pub(super) questions: Vec<QuestionDetail>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct QuestionDetail {
    /// Its place in the report.
    pub(super) place: usize,
    pub(super) text: String,
    pub(super) golds: Vec<String>,
    /// Titles of its gold passages.
    pub(super) gold_titles: Vec<String>,
    /// One for each run of the report.
    pub(super) runs: Vec<RunDetail>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct RunDetail {
    pub(super) answer: Option<Answer>,
    pub(super) failure: Option<Failure>,
    pub(super) trace: TraceAt,
}

/// Where a trace is; it is read when the page needs it.
#[derive(Debug, Clone, Default)]
pub(super) enum TraceAt {
    #[default]
    Nowhere,
    File {
        path: PathBuf,
        fingerprint: String,
    },
    #[cfg(test)]
    Here(Trace),
}

impl Details {
    /// Reads them from the output folder. A trace that is missing is left out; answers that the
    /// report does not count (of other settings) are too.
    pub fn read(out: &Path, report: &Report) -> Result<Self, EvalError> {
        let shown = shown(report);
        let mut details = Self { questions: vec![] };
        let mut places = HashMap::new();
        for place in shown {
            places.insert(report.questions[place].id.as_str(), details.questions.len());
            let runs = vec![RunDetail::default(); report.runs.len()];
            details.questions.push(QuestionDetail { place, runs, ..QuestionDetail::default() });
        }
        for (i, run) in report.runs.iter().enumerate() {
            let file = journal(out, &run.label);
            if !file.exists() {
                continue;
            }
            Journal::<Record>::read(&file, |record| {
                let Some(&at) = places.get(record.question.as_str()) else { return };
                if record.fingerprint == run.fingerprint {
                    let folder = traces(out, &run.label);
                    details.questions[at].enter(i, record, &folder);
                }
            })?;
        }
        Ok(details)
    }
}

impl QuestionDetail {
    fn enter(&mut self, run: usize, record: Record, folder: &Path) {
        let path = folder.join(format!("{}.json", file_name(&record.question)));
        let detail = &mut self.runs[run];
        detail.trace = TraceAt::File { path, fingerprint: record.fingerprint };
        (detail.answer, detail.failure) = match record.outcome {
            Verdict::Answered(answer) => (Some(answer), None),
            Verdict::Failed { kind, reason } => {
                (None, Some(Failure { question: record.question, kind, reason }))
            }
            Verdict::Stopped { .. } => (None, None),
        };
        self.text = record.text;
        self.golds = record.golds;
        self.gold_titles = record.gold_titles;
    }
}

impl TraceAt {
    /// `None` when there is none, or it belongs to other settings.
    pub(super) fn read(&self) -> Option<Trace> {
        #[derive(Deserialize)]
        struct Kept {
            fingerprint: String,
            trace: Trace,
        }
        match self {
            Self::Nowhere => None,
            Self::File { path, fingerprint } => {
                let bytes = std::fs::read(path).ok()?;
                let kept: Kept = serde_json::from_slice(&bytes).ok()?;
                (kept.fingerprint == *fingerprint).then_some(kept.trace)
            }
            #[cfg(test)]
            Self::Here(trace) => Some(trace.clone()),
        }
    }
}

/// Places of the questions to show, in the report's order.
fn shown(report: &Report) -> Vec<usize> {
    let all = 0..report.questions.len();
    if report.questions.len() <= MOST_QUESTIONS {
        return all.collect();
    }
    let right = |i: &usize| {
        report.runs.iter().all(|run| run.results.get(*i).map(|r| r.fate) == Some(Fate::Right))
    };
    let (right, rest): (Vec<usize>, Vec<usize>) = all.partition(right);
    let mut chosen: Vec<usize> = rest.into_iter().chain(right).take(MOST_QUESTIONS).collect();
    chosen.sort_unstable();
    chosen
}
