//! Collecting keywords (DEC, Section 3.2): questions of a training set are answered with recall by
//! keywords alone, and every sub-question that was searched for is kept with its keywords.
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use halma_core::{Event, Meter, Outcome, ReplyStatus, Trace, UsageTotal, parse_json};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::TrainError;
use super::health::{Health, failed_call};
use super::round::{Header, check_own};
use super::split::worded;
use super::summary::Stopped;
use crate::data::{DataSet, Item};
use crate::error::EvalError;
use crate::jobs::{caught, each};
use crate::journal::{Journal, LINE_VERSION};
use crate::metrics::GoldPassage;
use crate::progress::{Progress, Tick};
use crate::runner::{Bench, make_folder};
use crate::system::SystemUnderTest;

const COMMAND: &str = "halma train keywords";
/// What is kept of the runs, in the folder of the training set.
const FILE: &str = "collected.jsonl";
const KEYWORDS: &str = "dec/keywords";

/// Runs questions to collect the keywords of their sub-questions.
#[derive(Clone)]
pub struct KeywordCollector {
    /// DEC with recall by keywords alone.
    pub system: SystemUnderTest,
    pub bench: Bench,
    /// Of all questions together.
    pub budget: Arc<Meter>,
    /// Questions at once.
    pub concurrency: usize,
}

/// What a collection of keywords came to, earlier runs included.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct KeywordSummary {
    pub questions: usize,
    /// Left out, by reason.
    pub left_out: BTreeMap<&'static str, usize>,
    pub done: usize,
    pub searched: usize,
    pub failed: usize,
    pub failure: Option<String>,
    pub usage: UsageTotal,
    pub stopped: Option<Stopped>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
enum Line {
    Keywords(Box<Header>),
    Run(Box<Run>),
}

/// One question that was run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Run {
    version: u32,
    pub(super) question: String,
    pub(super) text: String,
    pub(super) gold: Vec<GoldPassage>,
    pub(super) searched: Vec<SearchedFor>,
    usage: UsageTotal,
}

/// A sub-question as it was searched for, with its keywords as the model gave them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SearchedFor {
    pub(super) query: String,
    pub(super) keywords: Vec<String>,
}

struct Shared {
    collector: KeywordCollector,
    output: Mutex<Output>,
}

struct Output {
    journal: Journal<Line>,
    runs: Vec<Run>,
    health: Health,
    /// What was used for questions of this run that are not kept.
    discarded: UsageTotal,
}

impl KeywordCollector {
    /// Runs the questions that were not run yet, and keeps what they searched for in `folder`.
    pub async fn run(
        &self,
        data: &DataSet,
        folder: &Path,
        progress: &Progress,
    ) -> Result<KeywordSummary, TrainError> {
        let (items, left_out) = usable(data)?;
        let shared = Arc::new(self.open(folder)?);
        let open: Vec<Item> = {
            let output = shared.output.lock();
            items.iter().filter(|item| !is_done(item, &output.runs)).cloned().collect()
        };
        let mut tick = Tick::new("collecting", items.len(), items.len() - open.len());
        progress(&tick);
        let jobs = open.into_iter().map(|item| {
            let shared = Arc::clone(&shared);
            async move { shared.question(&item).await }
        });
        each(self.concurrency, jobs, |failed| {
            tick.count(failed?);
            progress(&tick);
            Ok(())
        })
        .await?;
        let output = shared.output.lock();
        let open = items.iter().any(|item| !is_done(item, &output.runs));
        let stopped = match self.budget.spent() {
            Some(limit) if open => Some(Stopped::Spent { limit }),
            None if output.health.has_failed() => Some(output.health.stopped()),
            _ => None,
        };
        let mut usage = UsageTotal::default();
        output.runs.iter().for_each(|run| usage.add(run.usage));
        usage.add(output.discarded);
        Ok(KeywordSummary {
            questions: items.len(),
            left_out,
            done: items.iter().filter(|item| is_done(item, &output.runs)).count(),
            searched: output.runs.iter().map(|run| run.searched.len()).sum(),
            failed: output.health.failed,
            failure: output.health.failure.clone(),
            usage,
            stopped,
        })
    }

    fn open(&self, folder: &Path) -> Result<Shared, TrainError> {
        make_folder(folder)?;
        let file = folder.join(FILE);
        check_own(&file, ("keywords", COMMAND))?;
        let (mut earlier, mut runs) = (None, vec![]);
        let mut journal = Journal::<Line>::open_each(&file, |line| match line {
            Line::Keywords(line) => earlier = earlier.take().or(Some(*line)),
            Line::Run(run) => runs.push(*run),
        })
        .map_err(|error| foreign(&file, error))?;
        let header = self.header();
        match earlier {
            Some(earlier) => header.check(&earlier, &file)?,
            None => journal.append(&Line::Keywords(Box::new(header)))?,
        }
        let output = Mutex::new(Output {
            journal,
            runs,
            health: Health::default(),
            discarded: UsageTotal::default(),
        });
        Ok(Shared { collector: self.clone(), output })
    }

    fn header(&self) -> Header {
        let settings = self.system.strategy.settings();
        let settings = settings.as_object().cloned().unwrap_or_default();
        let named = |(key, value): (String, Value)| (format!("dec.{key}"), value);
        Header {
            version: LINE_VERSION,
            settings: settings.into_iter().map(named).collect(),
            base: self.bench.fingerprint.clone(),
            system: self.system.fingerprint.clone(),
        }
    }
}

/// The runs that a folder holds.
pub(super) fn read(folder: &Path) -> Result<Vec<Run>, TrainError> {
    let (file, mut runs) = (folder.join(FILE), vec![]);
    Journal::<Line>::read(&file, |line| {
        if let Line::Run(run) = line {
            runs.push(*run);
        }
    })
    .map_err(|error| foreign(&file, error))?;
    Ok(runs)
}

fn foreign(file: &Path, error: EvalError) -> TrainError {
    match error {
        EvalError::BadLine { line, reason, .. } => TrainError::NotACollection {
            file: file.into(),
            command: COMMAND,
            reason: format!("line {line}: {reason}"),
        },
        other => other.into(),
    }
}

/// Every question once, of which a gold passage is known.
fn usable(data: &DataSet) -> Result<(Vec<Item>, BTreeMap<&'static str, usize>), TrainError> {
    let (mut items, mut left_out, mut seen) = (vec![], BTreeMap::new(), HashSet::new());
    for item in &data.items {
        if item.gold.is_empty() {
            *left_out.entry("questions without gold passages").or_default() += 1;
        } else if !seen.insert(worded(&item.question.text)) {
            *left_out.entry("questions that come twice").or_default() += 1;
        } else {
            items.push(item.clone());
        }
    }
    if items.is_empty() {
        let reasons: Vec<String> =
            left_out.iter().map(|(why, count): (&&str, &usize)| format!("{count} {why}")).collect();
        let extra = " and the passages that they rest on (`evidence`)";
        return Err(TrainError::NoQuestions { reasons: reasons.join(", "), extra });
    }
    Ok((items, left_out))
}

fn is_done(item: &Item, runs: &[Run]) -> bool {
    runs.iter().any(|run| run.question == item.question.id && run.text == item.question.text)
}

impl Shared {
    /// Returns whether it failed.
    async fn question(&self, item: &Item) -> Result<bool, EvalError> {
        let budget = &self.collector.budget;
        if budget.spent().is_some() || self.output.lock().health.is_failing() {
            return Ok(true);
        }
        let cx = (self.collector.bench.open)(item, budget);
        let strategy = self.collector.system.strategy.as_ref();
        let outcome = caught(Outcome::run(strategy, &item.question, &cx)).await;
        let trace = cx.trace();
        let failure = match outcome {
            Err(panic) => Some(panic),
            Ok(Outcome { answer: Err(error), .. }) => Some(error.to_string()),
            Ok(_) => failed_call(&trace),
        };
        let is_cut_off = budget.spent().is_some() && trace.spent();
        if is_cut_off || failure.is_some() {
            let mut output = self.output.lock();
            output.discarded.add(trace.usage());
            if let Some(reason) = failure.filter(|_| !is_cut_off) {
                output.health.count_failure(reason);
            }
            return Ok(true);
        }
        let run = Run {
            version: LINE_VERSION,
            question: item.question.id.clone(),
            text: item.question.text.clone(),
            gold: item.gold.clone(),
            searched: searched(&trace),
            usage: trace.usage(),
        };
        let mut output = self.output.lock();
        output.journal.append(&Line::Run(Box::new(run.clone())))?;
        output.health.count_success();
        output.runs.push(run);
        Ok(false)
    }
}

/// Every text that was searched for, with the keywords of the model's own reply in the same part
/// of the work.
fn searched(trace: &Trace) -> Vec<SearchedFor> {
    #[derive(Deserialize)]
    struct Keywords {
        keywords: Vec<String>,
    }
    let replies: BTreeMap<u32, Vec<String>> = trace
        .0
        .iter()
        .filter_map(|event| match event {
            Event::ModelCalled { span, prompt, status: ReplyStatus::Valid, reply, .. }
                if **prompt == *KEYWORDS =>
            {
                Some((*span, parse_json::<Keywords>(reply).ok()?.keywords))
            }
            _ => None,
        })
        .collect();
    let spans = trace.0.iter().filter_map(|event| match event {
        Event::Note { span, .. } => {
            let alone = Trace(vec![event.clone()]);
            Some((*span, alone.keyword_recalls().pop()?))
        }
        _ => None,
    });
    let searched = spans.map(|(span, recall)| SearchedFor {
        query: recall.query,
        keywords: replies.get(&span).cloned().unwrap_or_default(),
    });
    searched.collect()
}

impl KeywordSummary {
    /// What a user must know, each a sentence.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = vec![];
        if let Some(failure) = self.failure.as_ref().filter(|_| self.failed > 0) {
            warnings.push(format!(
                "{} questions failed and are tried again by the same command. The last: {failure}",
                self.failed
            ));
        }
        if self.stopped.is_some() {
            warnings.push(
                "stopped before the end: see that the model server answers, raise the limit where \
                 one is reached, and run the same command to continue"
                    .to_owned(),
            );
        }
        warnings
    }
}
