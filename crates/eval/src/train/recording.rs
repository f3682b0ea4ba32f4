//! Recording answers to train on: questions are answered, and every run is kept as a line of a file,
//! so that the same command continues what was stopped.
use std::collections::{BTreeMap, HashSet};
use std::io::Read as _;
use std::path::Path;

use halma_core::{Answer, Cx, Meter, Outcome, Trace, UsageTotal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::TrainError;
use super::health::{Health, failed_call};
use super::leaks::worded;
use super::summary::Stopped;
use crate::data::{DataSet, Item};
use crate::error::EvalError;
use crate::jobs::{Progress, Tick, caught, each};
use crate::journal::Journal;
use crate::runner::SystemUnderTest;

/// How a collection is made. Rounds of two different headers are never mixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) version: u32,
    /// Flags and settings by name, for the message when they differ.
    pub(super) settings: BTreeMap<String, Value>,
    /// Of the base.
    pub(super) base: String,
    /// Of everything else that an answer depends on: prompts, models, search.
    pub(super) system: String,
}

impl Header {
    /// Refuses to continue a file of another header, and says in what it differs.
    pub(super) fn check(&self, earlier: &Self, file: &Path) -> Result<(), TrainError> {
        let file = file.to_path_buf();
        let keys = self.settings.keys().chain(earlier.settings.keys());
        let mut differs: Vec<String> = keys
            .filter(|key| self.settings.get(*key) != earlier.settings.get(*key))
            .map(|key| {
                let show = |value: Option<&Value>| value.map_or("none".into(), Value::to_string);
                let (was, is) = (earlier.settings.get(key), self.settings.get(key));
                format!("{key} was {} and is {}", show(was), show(is))
            })
            .collect();
        differs.sort();
        differs.dedup();
        if !differs.is_empty() {
            return Err(TrainError::OtherSettings { file, differs: differs.join(", ") });
        }
        if self.base != earlier.base {
            return Err(TrainError::OtherBase { file });
        }
        if self.system != earlier.system {
            let differs = "the prompts, the models or the settings of searching".to_owned();
            return Err(TrainError::OtherSettings { file, differs });
        }
        Ok(())
    }
}

/// A line of a file of runs: how they were made, or one of them.
pub(super) trait RecordLine: Serialize + DeserializeOwned {
    type Run: Clone;
    /// The tag of the header's line.
    const KIND: &'static str;
    const COMMAND: &'static str;

    fn header(header: Header) -> Self;
    fn run(run: Self::Run) -> Self;
    fn into_run(self) -> Result<Self::Run, Header>;
}

/// A file of runs, and how the work of this command goes.
pub(super) struct Recording<L: RecordLine> {
    journal: Journal<L>,
    pub(super) runs: Vec<L::Run>,
    pub(super) health: Health,
    /// Used for runs of this command that are not kept.
    pub(super) discarded: UsageTotal,
}

impl<L: RecordLine> Recording<L> {
    /// Continues a file, or begins it. One that was made otherwise is refused.
    pub(super) fn open(file: &Path, header: Header) -> Result<Self, TrainError> {
        check_kind::<L>(file)?;
        let (mut earlier, mut runs) = (None, vec![]);
        let journal = Journal::<L>::open_each(file, |line| enter(line, &mut earlier, &mut runs));
        let mut journal = journal.map_err(|error| not_a_recording::<L>(file, error))?;
        match earlier {
            Some(earlier) => header.check(&earlier, file)?,
            None => journal.append(&L::header(header))?,
        }
        let (health, discarded) = (Health::default(), UsageTotal::default());
        Ok(Self { journal, runs, health, discarded })
    }

    pub(super) fn store(&mut self, run: L::Run) -> Result<(), EvalError> {
        self.journal.append(&L::run(run.clone()))?;
        self.health.count_success();
        self.runs.push(run);
        Ok(())
    }

    /// Why the work ended before its end, where questions are `left`.
    pub(super) fn stopped(&self, budget: &Meter, left: bool) -> Option<Stopped> {
        match budget.spent() {
            Some(limit) if left => Some(Stopped::Spent { limit }),
            None if self.health.has_failed() => Some(self.health.stopped()),
            _ => None,
        }
    }
}

/// The header, where there is one, and the runs of a file that another process may be writing.
pub(super) fn read_lines<L: RecordLine>(
    file: &Path,
) -> Result<(Option<Header>, Vec<L::Run>), TrainError> {
    let (mut header, mut runs) = (None, vec![]);
    Journal::<L>::read(file, |line| enter(line, &mut header, &mut runs))
        .map_err(|error| not_a_recording::<L>(file, error))?;
    Ok((header, runs))
}

fn enter<L: RecordLine>(line: L, header: &mut Option<Header>, runs: &mut Vec<L::Run>) {
    match line.into_run() {
        Ok(run) => runs.push(run),
        Err(line) => *header = header.take().or(Some(line)),
    }
}

/// Refuses a file of another kind before it is opened for writing: of one that is a single line
/// without an end, all would be taken for half a line and be dropped.
fn check_kind<L: RecordLine>(file: &Path) -> Result<(), TrainError> {
    let begins = format!("{{\"line\":\"{}\"", L::KIND);
    let mut head = vec![];
    let Ok(open) = std::fs::File::open(file) else { return Ok(()) };
    let read = open.take(begins.len() as u64).read_to_end(&mut head);
    let reason = match read {
        Ok(_) if begins.as_bytes().starts_with(&head) => return Ok(()),
        Ok(_) => "it begins otherwise, and is left as it is".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(TrainError::NotACollection { file: file.into(), command: L::COMMAND, reason })
}

/// A line that cannot be read is most often that of another kind of file.
fn not_a_recording<L: RecordLine>(file: &Path, error: EvalError) -> TrainError {
    let (file, reason) = match error {
        EvalError::BadLine { line, reason, .. } => (file.into(), format!("line {line}: {reason}")),
        EvalError::File { file, source, .. } => (file, format!("{source}; check the path")),
        other => return other.into(),
    };
    TrainError::NotACollection { file, command: L::COMMAND, reason }
}

/// The questions that can be trained on, and why others cannot.
pub(super) struct Usable {
    pub(super) items: Vec<Item>,
    pub(super) left_out: BTreeMap<&'static str, usize>,
}

impl Usable {
    /// Every question once. `unfit` says why one cannot be used; `extra` is what the file must have
    /// next to questions and answers.
    pub(super) fn new(
        data: &DataSet,
        unfit: fn(&Item) -> Option<&'static str>,
        extra: &'static str,
    ) -> Result<Self, TrainError> {
        let (mut items, mut left_out) = (vec![], BTreeMap::new());
        let mut seen = HashSet::new();
        for item in &data.items {
            let twice = || {
                let again = !seen.insert(worded(&item.question.text));
                again.then_some("questions that come twice")
            };
            match unfit(item).or_else(twice) {
                Some(why) => *left_out.entry(why).or_default() += 1,
                None => items.push(item.clone()),
            }
        }
        if items.is_empty() {
            let reason = |(why, count): (&&str, &usize)| format!("{count} {why}");
            let reasons: Vec<String> = left_out.iter().map(reason).collect();
            let reasons =
                if reasons.is_empty() { "there are none".to_owned() } else { reasons.join(", ") };
            return Err(TrainError::NoQuestions { reasons, extra });
        }
        Ok(Self { items, left_out })
    }
}

/// Does a job for each of the items that are not `done`; it returns whether it failed.
pub(super) async fn work<F>(
    items: &[Item],
    done: impl Fn(&Item) -> bool,
    (concurrency, progress): (usize, &Progress),
    job: impl Fn(Item) -> F,
) -> Result<(), EvalError>
where
    F: Future<Output = Result<bool, EvalError>> + Send + 'static,
{
    let open: Vec<Item> = items.iter().filter(|item| !done(item)).cloned().collect();
    let mut tick = Tick::new("collecting", items.len(), items.len() - open.len());
    progress(&tick);
    each(concurrency, open.into_iter().map(job), |failed| {
        tick.count(failed?);
        progress(&tick);
        Ok(())
    })
    .await
}

/// One answer with its trace, or why it is not kept. Strategies do without a reply that failed: what
/// then came of the run is no one's choice.
pub(super) async fn attempt(
    system: &SystemUnderTest,
    item: &Item,
    cx: &Cx,
    budget: &Meter,
) -> Result<(Answer, Trace), String> {
    let outcome = caught(Outcome::run(system.strategy.as_ref(), &item.question, cx)).await;
    let Outcome { answer, trace } = outcome?;
    let answer = answer.map_err(|error| error.to_string())?;
    if let Some(reason) = failed_call(&trace) {
        return Err(reason);
    }
    if budget.spent().is_some() && trace.spent() {
        return Err("the budget is spent".into());
    }
    Ok((answer, trace))
}
