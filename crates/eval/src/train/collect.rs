//! Collecting trajectories (PIKE-RAG, Algorithm 2 and Section 6.4): a question is answered again
//! with other seeds until the answer is right, and every round is kept.
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use halma_core::{Answer, Cx, Meter, Outcome, Question, TRACE_VERSION, Trace, UsageTotal};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::costs::forecast;
use super::error::TrainError;
use super::health::{Health, failed_call};
use super::round::{COMMAND, Header, Line, Round, check_own, not_a_collection, without_outdated};
use super::split::worded;
use super::summary::{CollectionSummary, Stopped};
use crate::components::Evidence;
use crate::data::{DataSet, Item};
use crate::error::EvalError;
use crate::files::write;
use crate::forecast::Forecast;
use crate::jobs::{caught, each};
use crate::journal::{Journal, LINE_VERSION};
use crate::judge::Ruling;
use crate::metrics::Metric;
use crate::progress::{Progress, Tick};
use crate::record::file_name;
use crate::runner::{Bench, make_folder};
use crate::system::SystemUnderTest;

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

/// A round that came to nothing: it is not kept, and tried again by the next run.
struct Failure(String);

/// What the questions of one run share.
struct Shared {
    collector: Collector,
    metric: Metric,
    output: Mutex<Output>,
    traces: PathBuf,
}

struct Output {
    journal: Journal<Line>,
    rounds: Vec<Round>,
    progress: HashMap<String, Made>,
    health: Health,
    /// What rounds of this run took that are not kept.
    discarded: UsageTotal,
    /// Questions of which some gold passage was found, and those that have any.
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

/// The questions that can be trained on, and why others cannot.
struct Usable {
    items: Vec<Item>,
    left_out: BTreeMap<&'static str, usize>,
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
        let usable = usable(data)?;
        let shared = Arc::new(self.open(data, out)?);
        self.work(&shared, usable.items.clone(), progress).await?;
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
        let usable = usable(data)?;
        let shared = Arc::new(self.open(data, out)?);
        let begun: HashSet<String> =
            shared.output.lock().rounds.iter().map(|round| worded(&round.question.text)).collect();
        let all = usable.items.len();
        let missing = probe.min(all).saturating_sub(begun.len());
        let spread = (0..missing).filter_map(|i| usable.items.get(i * all / missing.max(1)));
        self.work(&shared, spread.cloned().collect(), progress).await?;
        let output = shared.output.lock();
        let done = usable.items.iter().filter(|item| self.is_done(item, &output)).count();
        Ok(forecast("kar3", &output.rounds, (all - done, self.concurrency)))
    }

    fn open(&self, data: &DataSet, out: &Path) -> Result<Shared, TrainError> {
        check_own(out, ("collection", COMMAND))?;
        let header = self.header(data);
        let (mut earlier, mut rounds) = (None, vec![]);
        let mut journal = Journal::<Line>::open_each(out, |line| match line {
            Line::Collection(line) => earlier = earlier.take().or(Some(*line)),
            Line::Round(round) => rounds.push(*round),
        })
        .map_err(|error| not_a_collection(out, error))?;
        match earlier {
            Some(earlier) => header.check(&earlier, out)?,
            None => journal.append(&Line::Collection(Box::new(header)))?,
        }
        // A question whose answers were corrected is collected again: what was right is not known.
        let answers: HashMap<String, &[String]> =
            data.items.iter().map(|item| (key(&item.question), &item.answers[..])).collect();
        let mut rounds = without_outdated(rounds);
        rounds.retain(|round| {
            answers.get(&key(&round.question)).is_none_or(|answers| *answers == round.answers)
        });
        let mut progress = HashMap::new();
        for round in &rounds {
            count(&mut progress, round);
        }
        let output = Output {
            journal,
            rounds,
            progress,
            health: Health::default(),
            discarded: UsageTotal::default(),
            gold: (HashSet::new(), HashSet::new()),
        };
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
            let own = system.strategy.settings();
            let own = own.as_object().into_iter().flatten();
            settings.extend(own.map(|(key, value)| (name(key), value.clone())));
        }
        let systems = self.rounds.iter().map(|system| &system.fingerprint);
        Header {
            version: LINE_VERSION,
            settings,
            base: self.bench.fingerprint.clone(),
            system: crate::fingerprint::fingerprint(systems),
        }
    }

    async fn work(
        &self,
        shared: &Arc<Shared>,
        items: Vec<Item>,
        progress: &Progress,
    ) -> Result<(), TrainError> {
        let done = {
            let output = shared.output.lock();
            items.iter().filter(|item| self.is_done(item, &output)).count()
        };
        let mut tick = Tick::new("collecting", items.len(), done);
        progress(&tick);
        let open: Vec<Item> = {
            let output = shared.output.lock();
            items.into_iter().filter(|item| !self.is_done(item, &output)).collect()
        };
        let jobs = open.into_iter().map(|item| {
            let shared = Arc::clone(shared);
            async move { shared.question(&item).await }
        });
        each(self.concurrency, jobs, |failed| {
            tick.count(failed?);
            progress(&tick);
            Ok(())
        })
        .await?;
        Ok(())
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
        let stopped = match self.budget.spent() {
            Some(limit) if open => Some(Stopped::Spent { limit }),
            None if output.health.has_failed() => Some(output.health.stopped()),
            _ => None,
        };
        let asked = usable.items.iter().map(|item| &item.question);
        let asked = asked.map(|one| (one.id.clone(), one.text.clone())).collect();
        CollectionSummary {
            left_out: usable.left_out.clone(),
            failed: output.health.failed,
            failure: output.health.failure.clone(),
            gold_missing: output.gold.1.difference(&output.gold.0).count(),
            stopped,
            ..CollectionSummary::new(&output.rounds, &asked).with_discarded(output.discarded)
        }
    }
}

/// Every question once, answerable, and with an answer to compare with.
fn usable(data: &DataSet) -> Result<Usable, TrainError> {
    let (mut items, mut left_out) = (vec![], BTreeMap::new());
    let mut seen = HashSet::new();
    for item in &data.items {
        let blank = item.answers.iter().all(|answer| answer.trim().is_empty());
        let why = if !item.answerable {
            "questions that cannot be answered"
        } else if blank {
            "questions without an answer to compare with"
        } else if !seen.insert(worded(&item.question.text)) {
            "questions that come twice"
        } else {
            items.push(item.clone());
            continue;
        };
        *left_out.entry(why).or_default() += 1;
    }
    if items.is_empty() {
        let reasons: Vec<String> =
            left_out.iter().map(|(why, count): (&&str, &usize)| format!("{count} {why}")).collect();
        let reasons =
            if reasons.is_empty() { "there are none".to_owned() } else { reasons.join(", ") };
        return Err(TrainError::NoQuestions { reasons, extra: "" });
    }
    Ok(Usable { items, left_out })
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
                if self.collector.budget.spent().is_some() || output.health.is_failing() {
                    return Ok(true);
                }
                output.progress.get(&key(&item.question)).map_or(0, |made| made.count)
            };
            let cx = self.cx(item);
            let (round, trace) = match self.round(item, made, &cx).await {
                Ok(finished) => finished,
                Err(Failure(reason)) => {
                    self.output.lock().discarded.add(cx.trace().usage());
                    if self.collector.budget.spent().is_none() {
                        self.output.lock().health.count_failure(reason);
                    }
                    return Ok(true);
                }
            };
            self.store(item, round, &trace)?;
        }
    }

    async fn round(&self, item: &Item, made: usize, cx: &Cx) -> Result<(Round, Trace), Failure> {
        let system = &self.collector.rounds[made];
        let began = Instant::now();
        let outcome = caught(Outcome::run(system.strategy.as_ref(), &item.question, cx)).await;
        let latency_ms = began.elapsed().as_secs_f64() * 1e3;
        let Outcome { answer, trace } = outcome.map_err(Failure)?;
        let answer = answer.map_err(|error| Failure(error.to_string()))?;
        // Strategies do without a reply that failed: what then came of the round is no one's choice.
        if let Some(reason) = failed_call(&trace) {
            return Err(Failure(reason));
        }
        if self.collector.budget.spent().is_some() && trace.spent() {
            return Err(Failure("the budget is spent".into()));
        }
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

    async fn is_right(&self, item: &Item, answer: &Answer, value: f64) -> Result<bool, Failure> {
        let Some(judge) = self.collector.bench.judge.as_ref().filter(|_| !answer.abstained) else {
            return Ok(value >= self.collector.least);
        };
        let reply = judge.rule(item, answer, self.cx(item)).await;
        let ruling = reply.judged.ok_or_else(|| Failure("the judge gave no ruling".into()))?;
        Ok(ruling.ruling == Ruling::Right)
    }

    fn cx(&self, item: &Item) -> Cx {
        (self.collector.bench.open)(item, &self.collector.budget)
    }

    /// The trace, then the line: what has a line has its trace too.
    fn store(&self, item: &Item, round: Round, trace: &Trace) -> Result<(), EvalError> {
        let file = self.traces.join(&round.trace);
        let doing = "the trace cannot be written";
        let content = json!({
            "version": TRACE_VERSION,
            "question": round.question.text,
            "trace": trace,
        });
        let bytes = serde_json::to_vec(&content).map_err(|error| EvalError::File {
            file: file.clone(),
            doing,
            source: error.into(),
        })?;
        write(&file, doing, &bytes)?;
        let mut output = self.output.lock();
        output.journal.append(&Line::Round(Box::new(round.clone())))?;
        output.health.count_success();
        if !item.gold.is_empty() {
            output.gold.1.insert(item.question.text.clone());
            if Evidence::trace(item, &[], trace).found > 0 {
                output.gold.0.insert(item.question.text.clone());
            }
        }
        count(&mut output.progress, &round);
        output.rounds.push(round);
        Ok(())
    }
}
