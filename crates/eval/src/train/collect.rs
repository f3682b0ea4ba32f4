//! Collecting trajectories (PIKE-RAG, Algorithm 2 and Section 6.4): a question is answered again
//! with other seeds until the answer is right, and every round is kept.
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use halma_core::{Answer, Cx, Meter, Question, TRACE_VERSION, Trace};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::error::TrainError;
use super::leaks::worded;
use super::recording::{Header, Recording, Usable, attempt, work};
use super::round::{Line, Round, forecast, without_outdated};
use super::summary::CollectionSummary;
use crate::components::Evidence;
use crate::data::{DataSet, Item};
use crate::error::EvalError;
use crate::forecast::Forecast;
use crate::jobs::Progress;
use crate::journal::{LINE_VERSION, write_json};
use crate::judge::Ruling;
use crate::metrics::Metric;
use crate::record::file_name;
use crate::runner::{Bench, SystemUnderTest, make_folder};

/// Collects trajectories into a file.
#[derive(Clone)]
pub struct Collector {
    /// The rounds of a question, in order: the first without sampling, the others with a seed each.
    pub rounds: Vec<SystemUnderTest>,
    pub bench: Bench,
    /// Of the whole collection: when it is spent, no further round is begun.
    pub budget: Arc<Meter>,
    /// Questions at once.
    pub concurrency: usize,
    /// The least value of the question set's metric that counts as right, where no judge rules.
    pub least: f64,
    /// Further flags that a file must not mix, by name.
    pub settings: BTreeMap<String, Value>,
}

/// What the questions of one run share.
struct Shared {
    collector: Collector,
    metric: Metric,
    output: Mutex<Output>,
    traces: PathBuf,
}

struct Output {
    recording: Recording<Line>,
    progress: HashMap<String, Made>,
    /// Questions of which some gold passage was retrieved, and those that have any.
    gold: (HashSet<String>, HashSet<String>),
}

/// The rounds of one question.
#[derive(Default)]
struct Made {
    count: usize,
    /// Whether one was right, so that no further round is made.
    right: bool,
    /// Whether nothing could be sampled, so that another seed is the same run.
    settled: bool,
}

impl Collector {
    /// Collects what is missing of the questions. A round that fails is counted and tried again by
    /// the next run.
    pub async fn run(
        &self,
        data: &DataSet,
        out: &Path,
        progress: &Progress,
    ) -> Result<CollectionSummary, TrainError> {
        let usable = Usable::new(data, unfit, "")?;
        let shared = Arc::new(self.open(data, out)?);
        self.work(&shared, &usable.items, progress).await?;
        Ok(self.summary(&shared, &usable))
    }

    /// Forecasts a collection from the questions that were begun in the file; where there are fewer
    /// than `probe`, some are collected first. They are kept and not collected again.
    pub async fn forecast(
        &self,
        data: &DataSet,
        out: &Path,
        (probe, progress): (usize, &Progress),
    ) -> Result<Forecast, TrainError> {
        let usable = Usable::new(data, unfit, "")?;
        let shared = Arc::new(self.open(data, out)?);
        let begun: HashSet<String> =
            shared.output.lock().recording.runs.iter().map(|r| worded(&r.question.text)).collect();
        let all = usable.items.len();
        let missing = probe.min(all).saturating_sub(begun.len());
        let spread = (0..missing).filter_map(|i| usable.items.get(i * all / missing.max(1)));
        let spread: Vec<Item> = spread.cloned().collect();
        self.work(&shared, &spread, progress).await?;
        let output = shared.output.lock();
        let done = usable.items.iter().filter(|item| self.is_done(item, &output)).count();
        Ok(forecast("kar3", &output.recording.runs, (all - done, self.concurrency)))
    }

    fn open(&self, data: &DataSet, out: &Path) -> Result<Shared, TrainError> {
        let mut recording = Recording::<Line>::open(out, self.header(data))?;
        // A question whose answers were corrected is collected again: what was right is not known.
        let answers: HashMap<String, &[String]> =
            data.items.iter().map(|item| (key(&item.question), &item.answers[..])).collect();
        let mut rounds = without_outdated(std::mem::take(&mut recording.runs));
        rounds.retain(|round| {
            answers.get(&key(&round.question)).is_none_or(|answers| *answers == round.answers)
        });
        let mut progress = HashMap::new();
        for round in &rounds {
            count(&mut progress, round);
        }
        recording.runs = rounds;
        let output = Output { recording, progress, gold: (HashSet::new(), HashSet::new()) };
        let mut traces = out.as_os_str().to_owned();
        traces.push(".traces");
        let traces = PathBuf::from(traces);
        make_folder(&traces)?;
        let (collector, metric) = (self.clone(), data.metric);
        Ok(Shared { collector, metric, output: Mutex::new(output), traces })
    }

    fn header(&self, data: &DataSet) -> Header {
        let mut settings = self.settings.clone();
        settings.insert("rounds".into(), json!(self.rounds.len()));
        settings.insert("metric".into(), json!(data.metric));
        settings.insert("right".into(), json!(self.least));
        settings.insert("judge".into(), json!(self.bench.judge.as_ref().map(|j| &j.fingerprint)));
        for system in self.rounds.iter().take(2) {
            let name = |key: &str| format!("{}.{key}", system.label);
            let strategy_settings = system.strategy.settings();
            let strategy_settings = strategy_settings.as_object().into_iter().flatten();
            settings.extend(strategy_settings.map(|(key, value)| (name(key), value.clone())));
        }
        let systems = self.rounds.iter().map(|system| &system.fingerprint);
        Header {
            version: LINE_VERSION,
            settings,
            base: self.bench.fingerprint.clone(),
            system: crate::fingerprint(systems),
        }
    }

    async fn work(
        &self,
        shared: &Arc<Shared>,
        items: &[Item],
        progress: &Progress,
    ) -> Result<(), EvalError> {
        let done = |item: &Item| self.is_done(item, &shared.output.lock());
        let job = |item: Item| {
            let shared = Arc::clone(shared);
            async move { shared.question(&item).await }
        };
        work(items, done, (self.concurrency, progress), job).await
    }

    /// Whether no further round is to be made: one was right, another seed changes nothing, or all were
    /// made.
    fn is_done(&self, item: &Item, output: &Output) -> bool {
        let made = output.progress.get(&key(&item.question));
        made.is_some_and(|made| made.right || made.settled || made.count >= self.rounds.len())
    }

    fn summary(&self, shared: &Shared, usable: &Usable) -> CollectionSummary {
        let output = shared.output.lock();
        let open = usable.items.iter().any(|item| !self.is_done(item, &output));
        let questions = usable.items.iter().map(|item| &item.question);
        let questions = questions.map(|one| (one.id.clone(), one.text.clone())).collect();
        let Recording { runs, health, discarded, .. } = &output.recording;
        CollectionSummary {
            left_out: usable.left_out.clone(),
            failed: health.failed,
            failure: health.failure.clone(),
            gold_missing: output.gold.1.difference(&output.gold.0).count(),
            stopped: output.recording.stopped(&self.budget, open),
            ..CollectionSummary::new(runs, &questions).with_discarded(*discarded)
        }
    }
}

/// A question must be answerable, and have an answer to compare with.
fn unfit(item: &Item) -> Option<&'static str> {
    if !item.answerable {
        return Some("questions that cannot be answered");
    }
    let blank = item.answers.iter().all(|answer| answer.trim().is_empty());
    blank.then_some("questions without an answer to compare with")
}

/// What distinguishes a question from the others of its file.
fn key(question: &Question) -> String {
    format!("{}\n{}", question.id, question.text)
}

fn count(progress: &mut HashMap<String, Made>, round: &Round) {
    let made = progress.entry(key(&round.question)).or_default();
    made.count += 1;
    made.right |= round.right;
    // Seeds differ in what is sampled.
    made.settled |= round.sampled && round.hops.iter().all(|hop| hop.sampled.is_none());
}

impl Shared {
    /// The rounds of one question that are missing, each kept as soon as it is finished. Returns
    /// whether one failed.
    async fn question(&self, item: &Item) -> Result<bool, EvalError> {
        loop {
            let made = {
                let output = self.output.lock();
                if self.collector.is_done(item, &output) {
                    return Ok(false);
                }
                if self.collector.budget.spent().is_some() || output.recording.health.is_failing() {
                    return Ok(true);
                }
                output.progress.get(&key(&item.question)).map_or(0, |made| made.count)
            };
            let cx = self.cx(item);
            let (round, trace) = match self.round(item, made, &cx).await {
                Ok(finished) => finished,
                Err(reason) => {
                    let recording = &mut self.output.lock().recording;
                    recording.discarded.add(cx.trace().usage());
                    if self.collector.budget.spent().is_none() {
                        recording.health.count_failure(reason);
                    }
                    return Ok(true);
                }
            };
            self.store(item, round, &trace)?;
        }
    }

    /// A round that comes to nothing is not kept, and tried again by the next run.
    async fn round(&self, item: &Item, made: usize, cx: &Cx) -> Result<(Round, Trace), String> {
        let Collector { rounds, budget, .. } = &self.collector;
        let began = Instant::now();
        let (answer, trace) = attempt(&rounds[made], item, cx, budget).await?;
        let latency_ms = began.elapsed().as_secs_f64() * 1e3;
        let value = self.metric.value(&answer, &item.gold_answer());
        let right = self.is_right(item, &answer, value).await? && !answer.partial;
        let usage = trace.usage();
        let round = Round {
            version: LINE_VERSION,
            question: item.question.clone(),
            answers: item.answers.clone(),
            number: u32::try_from(made + 1).unwrap_or(u32::MAX),
            sampled: made > 0,
            hops: trace.decomposition(),
            partial: answer.partial,
            answer: answer.text,
            value,
            right,
            usage,
            tokens: usage.prompt_tokens + usage.completion_tokens,
            latency_ms,
            trace: format!("{}.{}.json", file_name(&item.question.id), made + 1),
        };
        Ok((round, trace))
    }

    async fn is_right(&self, item: &Item, answer: &Answer, value: f64) -> Result<bool, String> {
        let Some(judge) = self.collector.bench.judge.as_ref().filter(|_| !answer.abstained) else {
            return Ok(value >= self.collector.least);
        };
        let reply = judge.rule(item, answer, self.cx(item)).await;
        let ruling = reply.judged.ok_or_else(|| "the judge gave no ruling".to_owned())?;
        Ok(ruling.ruling == Ruling::Right)
    }

    fn cx(&self, item: &Item) -> Cx {
        (self.collector.bench.open)(item, &self.collector.budget)
    }

    /// The trace, then the line: what has a line has its trace too.
    fn store(&self, item: &Item, round: Round, trace: &Trace) -> Result<(), EvalError> {
        let file = self.traces.join(&round.trace);
        let content = json!({
            "version": TRACE_VERSION,
            "question": round.question.text,
            "trace": trace,
        });
        write_json(&file, "the trace cannot be written", serde_json::to_vec(&content))?;
        let mut output = self.output.lock();
        if !item.gold.is_empty() {
            output.gold.1.insert(item.question.text.clone());
            if Evidence::trace(item, &[], trace).retrieved > 0 {
                output.gold.0.insert(item.question.text.clone());
            }
        }
        count(&mut output.progress, &round);
        output.recording.store(round)
    }
}
