//! Running contestants over a data set: several questions at once, every finished one kept, so
//! that a second run asks nothing again.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use halma_core::{BoxError, Cx, Hit, Outcome, Strategy, TRACE_VERSION, Trace};

use crate::jobs::{caught, each};
use crate::journal::Journal;
use crate::record::{Record, Verdict, file_name};
use crate::report::{Report, Run};
use crate::retrieval::retrieve_all;
use crate::{DataSet, EvalError, Item};

/// Opens a fresh run for one question, with a budget and a trace of its own.
pub type OpenCx = Arc<dyn Fn() -> Cx + Send + Sync>;

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
}

/// A strategy in the evaluation.
#[derive(Clone)]
pub struct Contestant {
    pub strategy: Arc<dyn Strategy>,
    /// Its name in the report and in file names; no two share one.
    pub label: String,
    /// Of everything its answers depend on ([`crate::fingerprint`]): what was answered under
    /// another one is not taken over.
    pub fingerprint: String,
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

/// Runs contestants over data sets.
#[derive(Debug, Clone)]
pub struct Runner {
    /// Questions at once; 0 is taken as 1.
    pub concurrency: usize,
    /// Where finished questions and traces are kept; without it nothing is, and a second run asks
    /// everything again.
    pub out: Option<PathBuf>,
}

impl Runner {
    /// Asks every contestant every question that it has not answered yet, and reports on all.
    ///
    /// A question that fails is counted by the kind of its error and tried again by the next run;
    /// only what makes the whole run senseless (the folder cannot be written, two contestants of
    /// one label) is an error.
    pub async fn run(
        &self,
        data: &DataSet,
        contestants: &[Contestant],
        bench: &Bench,
        progress: &Progress,
    ) -> Result<Report, EvalError> {
        for (i, one) in contestants.iter().enumerate() {
            if contestants[..i].iter().any(|other| other.label == one.label) {
                return Err(EvalError::SameLabel { label: one.label.clone() });
            }
        }
        if let Some(out) = &self.out {
            make_folder(out)?;
        }
        let retrieved = retrieve_all(self, data, bench, progress).await?;
        let mut report = Report::new(data);
        for contestant in contestants {
            let answered = self.answer_all(data, contestant, &bench.open, progress).await?;
            report.runs.push(Run::of(contestant, data, &answered, &retrieved));
        }
        Ok(report)
    }

    async fn answer_all(
        &self,
        data: &DataSet,
        contestant: &Contestant,
        open: &OpenCx,
        progress: &Progress,
    ) -> Result<Answered, EvalError> {
        let mut store = Store::open(self.out.as_deref(), &contestant.label)?;
        let mut records: Vec<Option<Record>> =
            data.items.iter().map(|item| store.take_known(item, &contestant.fingerprint)).collect();
        let taken_over = records.iter().flatten().count();
        let mut tick = Tick::new(&contestant.label, data.items.len(), taken_over);
        progress(&tick);
        let todo: Vec<usize> = (0..records.len()).filter(|&i| records[i].is_none()).collect();
        let jobs = todo.into_iter().map(|i| {
            let (contestant, open) = (contestant.clone(), Arc::clone(open));
            let item = data.items[i].clone();
            async move { (i, answer(&contestant, &item, &open).await) }
        });
        each(self.concurrency, jobs, |(i, (record, trace))| {
            store.keep(&record, &trace)?;
            tick.count(matches!(record.outcome, Verdict::Failed { .. }));
            progress(&tick);
            records[i] = Some(record);
            Ok(())
        })
        .await?;
        Ok(Answered { records: records.into_iter().flatten().collect(), taken_over })
    }
}

/// One contestant's records in the order of the items, and how many of them are from earlier runs.
pub(crate) struct Answered {
    pub(crate) records: Vec<Record>,
    pub(crate) taken_over: usize,
}

async fn answer(contestant: &Contestant, item: &Item, open: &OpenCx) -> (Record, Trace) {
    let cx = open();
    let began = Instant::now();
    let outcome = caught(Outcome::of(contestant.strategy.as_ref(), &item.question, &cx)).await;
    let latency_ms = began.elapsed().as_secs_f64() * 1e3;
    let (verdict, trace) = match outcome {
        Ok(Outcome { answer: Ok(answer), trace }) => (Verdict::Answered(answer), trace),
        Ok(Outcome { answer: Err(error), trace }) => {
            let (kind, reason) = (error.kind().to_owned(), error.to_string());
            (Verdict::Failed { kind, reason }, trace)
        }
        Err(reason) => (Verdict::Failed { kind: "panic".into(), reason }, cx.trace()),
    };
    (Record::new(item, &contestant.fingerprint, verdict, (&trace, latency_ms)), trace)
}

/// The files of one contestant, where there is a folder for them.
struct Store {
    files: Option<(Journal<Record>, PathBuf)>,
    /// What earlier runs left, by question id.
    known: HashMap<String, Vec<Record>>,
}

impl Store {
    fn open(out: Option<&Path>, label: &str) -> Result<Self, EvalError> {
        let mut known: HashMap<String, Vec<Record>> = HashMap::new();
        let Some(out) = out else { return Ok(Self { files: None, known }) };
        let name = file_name(label);
        let traces = out.join("traces").join(&name);
        make_folder(&traces)?;
        let (journal, lines) = Journal::<Record>::open(&out.join(format!("{name}.jsonl")))?;
        for record in lines {
            known.entry(record.question.clone()).or_default().push(record);
        }
        Ok(Self { files: Some((journal, traces)), known })
    }

    /// The latest line that answers this item, if any.
    fn take_known(&mut self, item: &Item, fingerprint: &str) -> Option<Record> {
        let lines = self.known.remove(&item.question.id)?;
        lines.into_iter().rev().find(|record| record.answers(item, fingerprint))
    }

    /// Writes the trace, then the line: what has a line has its trace too.
    fn keep(&mut self, record: &Record, trace: &Trace) -> Result<(), EvalError> {
        let Some((journal, traces)) = &mut self.files else { return Ok(()) };
        let file = traces.join(format!("{}.json", file_name(&record.question)));
        let whole = serde_json::json!({
            "version": TRACE_VERSION,
            "question": record.text,
            "fingerprint": record.fingerprint,
            "trace": trace,
        });
        let fail = |source| EvalError::File {
            file: file.clone(),
            doing: "the trace cannot be written",
            source,
        };
        let beside = file.with_extension("json.new");
        let bytes = serde_json::to_vec(&whole).map_err(|error| fail(error.into()))?;
        std::fs::write(&beside, bytes)
            .and_then(|()| std::fs::rename(&beside, &file))
            .map_err(fail)?;
        journal.append(record)
    }
}

fn make_folder(folder: &Path) -> Result<(), EvalError> {
    std::fs::create_dir_all(folder).map_err(|source| EvalError::File {
        file: folder.into(),
        doing: "the folder cannot be made",
        source,
    })
}

#[cfg(test)]
mod tests;
