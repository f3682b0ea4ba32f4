//! Collecting keywords (DEC, Section 3.2): questions of a training set are answered with recall by
//! keywords alone, and every sub-question that was searched for is kept with its keywords.
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use halma_core::{Event, Meter, ReplyStatus, Trace, UsageTotal, parse_json};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::TrainError;
use super::recording::{Header, RecordLine, Recording, Usable, attempt, read_lines, work};
use super::summary::Stopped;
use crate::data::{DataSet, Item};
use crate::error::EvalError;
use crate::figures::total_usage;
use crate::jobs::Progress;
use crate::journal::LINE_VERSION;
use crate::metrics::GoldPassage;
use crate::runner::{Bench, SystemUnderTest, make_folder};

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
    recording: Mutex<Recording<Line>>,
}

impl RecordLine for Line {
    type Run = Run;
    const KIND: &'static str = "keywords";
    const COMMAND: &'static str = "halma train keywords";

    fn header(header: Header) -> Self {
        Self::Keywords(Box::new(header))
    }

    fn run(run: Run) -> Self {
        Self::Run(Box::new(run))
    }

    fn into_run(self) -> Result<Run, Header> {
        match self {
            Self::Run(run) => Ok(*run),
            Self::Keywords(header) => Err(*header),
        }
    }
}

impl KeywordCollector {
    /// Runs the questions that were not run yet, and keeps what they searched for in `folder`.
    pub async fn run(
        &self,
        data: &DataSet,
        folder: &Path,
        progress: &Progress,
    ) -> Result<KeywordSummary, TrainError> {
        let extra = " and the passages that they rest on (`evidence`)";
        let Usable { items, left_out } = Usable::new(data, unfit, extra)?;
        make_folder(folder)?;
        let recording = Recording::open(&folder.join(FILE), self.header())?;
        let shared = Arc::new(Shared { collector: self.clone(), recording: Mutex::new(recording) });
        let done = |item: &Item| is_done(item, &shared.recording.lock().runs);
        let job = |item: Item| {
            let shared = Arc::clone(&shared);
            async move { shared.question(&item).await }
        };
        work(&items, done, (self.concurrency, progress), job).await?;
        let recording = shared.recording.lock();
        let Recording { runs, health, discarded, .. } = &*recording;
        let done = items.iter().filter(|item| is_done(item, runs)).count();
        let usage = total_usage(runs.iter().map(|run| run.usage).chain([*discarded]));
        Ok(KeywordSummary {
            questions: items.len(),
            left_out,
            done,
            searched: runs.iter().map(|run| run.searched.len()).sum(),
            failed: health.failed,
            failure: health.failure.clone(),
            usage,
            stopped: recording.stopped(&self.budget, done < items.len()),
        })
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
    Ok(read_lines::<Line>(&folder.join(FILE))?.1)
}

fn unfit(item: &Item) -> Option<&'static str> {
    item.gold.is_empty().then_some("questions without gold passages")
}

fn is_done(item: &Item, runs: &[Run]) -> bool {
    runs.iter().any(|run| run.question == item.question.id && run.text == item.question.text)
}

impl Shared {
    /// Returns whether it failed.
    async fn question(&self, item: &Item) -> Result<bool, EvalError> {
        let KeywordCollector { system, bench, budget, .. } = &self.collector;
        if budget.spent().is_some() || self.recording.lock().health.is_failing() {
            return Ok(true);
        }
        let cx = (bench.open)(item, budget);
        let trace = match attempt(system, item, &cx, budget).await {
            Ok((_, trace)) => trace,
            Err(reason) => {
                let (trace, mut recording) = (cx.trace(), self.recording.lock());
                recording.discarded.add(trace.usage());
                if budget.spent().is_none() || !trace.spent() {
                    recording.health.count_failure(reason);
                }
                return Ok(true);
            }
        };
        let run = Run {
            version: LINE_VERSION,
            question: item.question.id.clone(),
            text: item.question.text.clone(),
            gold: item.gold.clone(),
            searched: searched(&trace),
            usage: trace.usage(),
        };
        self.recording.lock().store(run)?;
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
