//! What a viewer shows of single questions and the report does not hold: answers, citations,
//! traces, read from the folder of the evaluation.
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use halma_core::{Answer, Trace};
use serde::{Deserialize, Serialize};

use crate::error::EvalError;
use crate::journal::Journal;
use crate::record::{Record, RecordOutcome, file_name};
use crate::report::{AnswerOutcome, Failure, Report, Run};
use crate::runner::{journal, traces};

/// A page shows no more questions than this; those that are not right in every run come first.
const MAX_QUESTIONS: usize = 2_000;

/// One question with what each run made of it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct QuestionDetail {
    pub id: String,
    pub golds: Vec<String>,
    /// Titles of its gold passages.
    pub gold_titles: Vec<String>,
    /// One for each run of the report.
    pub runs: Vec<RunDetail>,
    /// Its place in the report.
    #[serde(skip)]
    pub(super) place: usize,
}

/// What one run made of a question. What is not in the folder, or belongs to other settings, is
/// missing.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RunDetail {
    pub answer: Option<Answer>,
    pub failure: Option<Failure>,
    pub trace: Option<Trace>,
}

/// Which questions are read.
#[derive(Clone, Copy)]
pub(super) enum Selection<'a> {
    /// As many as a page shows.
    First,
    One(&'a str),
}

/// One question of a report in full, by its id; `None` if the report has no such question.
pub fn question_detail(
    out: &Path,
    report: &Report,
    id: &str,
) -> Result<Option<QuestionDetail>, EvalError> {
    Ok(read_details(out, report, Selection::One(id))?.pop())
}

pub(super) fn read_details(
    out: &Path,
    report: &Report,
    selection: Selection<'_>,
) -> Result<Vec<QuestionDetail>, EvalError> {
    let mut details: Vec<QuestionDetail> = vec![];
    let mut places = HashMap::new();
    for place in selected(report, selection) {
        let id = report.questions[place].id.clone();
        places.insert(id.clone(), details.len());
        let runs = vec![RunDetail::default(); report.runs.len()];
        details.push(QuestionDetail { id, runs, place, ..QuestionDetail::default() });
    }
    for (i, run) in report.runs.iter().enumerate() {
        let file = journal(out, &run.label);
        if !file.exists() {
            continue;
        }
        Journal::<Record>::read(&file, |record| {
            let Some(&at) = places.get(&record.question) else { return };
            if record.fingerprint == run.fingerprint {
                details[at].enter(i, record);
            }
        })?;
        for detail in &mut details {
            detail.runs[i].trace = read_trace(out, run, &detail.id);
        }
    }
    Ok(details)
}

impl QuestionDetail {
    fn enter(&mut self, run: usize, record: Record) {
        let detail = &mut self.runs[run];
        (detail.answer, detail.failure) = match record.outcome {
            RecordOutcome::Answered(answer) => (Some(answer), None),
            RecordOutcome::Failed { kind, reason } => {
                (None, Some(Failure { question: record.question, kind, reason }))
            }
            RecordOutcome::Stopped { .. } => (None, None),
        };
        self.golds = record.golds;
        self.gold_titles = record.gold_titles;
    }
}

pub(super) fn is_right_in_all(report: &Report, place: usize) -> bool {
    let outcome = |run: &Run| run.results.get(place).map(|result| result.outcome);
    report.runs.iter().all(|run| outcome(run) == Some(AnswerOutcome::Right))
}

/// `None` when there is none, or it belongs to other settings.
fn read_trace(out: &Path, run: &Run, question: &str) -> Option<Trace> {
    #[derive(Deserialize)]
    struct Stored {
        fingerprint: String,
        trace: Trace,
    }
    let path: PathBuf = traces(out, &run.label).join(format!("{}.json", file_name(question)));
    let stored: Stored = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    (stored.fingerprint == run.fingerprint).then_some(stored.trace)
}

/// Places of the questions in the report, in its order.
fn selected(report: &Report, selection: Selection<'_>) -> Vec<usize> {
    let all = 0..report.questions.len();
    if let Selection::One(id) = selection {
        return all.filter(|&place| report.questions[place].id == id).take(1).collect();
    }
    let (right, rest): (Vec<usize>, Vec<usize>) =
        all.partition(|&place| is_right_in_all(report, place));
    let mut chosen: Vec<usize> = rest.into_iter().chain(right).take(MAX_QUESTIONS).collect();
    chosen.sort_unstable();
    chosen
}
