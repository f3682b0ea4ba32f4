//! What a run may use and where it writes what it did.
mod ask;
mod attempt;
mod look;
mod open_call;
mod outage;
mod outside;
mod shorten;
mod tag;
mod time;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

pub use self::ask::{Scored, estimate_tokens};
pub use self::outside::FactsCx;
use crate::{
    Error, Event, Facts, IdeaStep, Knowledge, Meter, Models, Prompts, ReplyStream, Reranker,
    Result, SeriesForecast, Source, Tagging, Trace,
};

/// Sees every event as it happens, for live views.
pub type Watcher = Arc<dyn Fn(&Event) + Send + Sync>;

/// What runs share: models, knowledge, prompts, and what else strategies may need.
#[derive(Clone)]
pub struct Setup {
    pub models: Models,
    pub knowledge: Arc<dyn Knowledge>,
    /// What the base holds, in one line, for the model that chooses among sources.
    pub about_base: String,
    pub prompts: Arc<Prompts>,
    pub reranker: Option<Arc<dyn Reranker>>,
    pub tagger: Option<Tagging>,
    /// Sources of texts in addition to the base: the web.
    pub sources: Vec<Arc<dyn Source>>,
    /// The knowledge graph.
    pub facts: Option<Arc<dyn Facts>>,
}

impl Setup {
    /// Models, a base and prompts; no reranker, no tagger and no other sources.
    pub fn new(models: Models, knowledge: Arc<dyn Knowledge>, prompts: Arc<Prompts>) -> Self {
        let (reranker, tagger, facts) = (None, None, None);
        let about_base = "the documents of the knowledge base".to_owned();
        let sources = vec![];
        Self { models, knowledge, about_base, prompts, reranker, tagger, sources, facts }
    }

    /// What finds entities, for the trace and the fingerprint: the tagger's name, or the model's
    /// that is asked.
    pub fn tagger_name(&self) -> Option<String> {
        self.tagger.as_ref().map(|tagger| match tagger {
            Tagging::Model => format!("model:{}", self.models.for_role("tagger").model()),
            Tagging::Tagger(tagger) => tagger.name().to_owned(),
        })
    }
}

/// The context of one run. Cheap to clone; a clone made by [`Cx::span`] is a child in the trace.
#[derive(Clone)]
pub struct Cx {
    run: Arc<Run>,
    span: u32,
    may_use_reserve: bool,
    demonstrations: bool,
    stream: Option<ReplyStream>,
}

struct Run {
    setup: Arc<Setup>,
    meter: Arc<Meter>,
    watcher: Option<Watcher>,
    began: Instant,
    record: Mutex<RunRecord>,
    /// The time of the longest call so far, for which calls in flight make room.
    longest_call: watch::Sender<Duration>,
}

#[derive(Default)]
struct RunRecord {
    trace: Trace,
    spans: u32,
    /// Documents that anything found so far comes from.
    about: BTreeSet<String>,
    answer_started: bool,
    outages: Vec<outage::Outage>,
}

impl Cx {
    pub fn new(setup: Arc<Setup>, meter: Arc<Meter>, watcher: Option<Watcher>) -> Self {
        let (began, record) = (Instant::now(), Mutex::default());
        let longest_call = watch::Sender::new(Duration::ZERO);
        let run = Run { setup, meter, watcher, began, record, longest_call };
        Self {
            run: Arc::new(run),
            span: 0,
            may_use_reserve: false,
            demonstrations: true,
            stream: None,
        }
    }

    /// A child in the trace: what happens through it belongs to this part of the work.
    #[must_use]
    pub fn span(&self, name: impl Into<String>) -> Self {
        let mut record = self.run.record.lock();
        record.spans += 1;
        let span = record.spans;
        drop(record);
        self.push(Event::SpanStarted { span, parent: self.span, name: name.into() });
        Self { span, ..self.clone() }
    }

    /// A context that may use what the budget keeps back for the closing answer.
    #[must_use]
    pub fn reserve(&self) -> Self {
        Self { may_use_reserve: true, ..self.clone() }
    }

    /// A context that does not show models the worked examples of prompts.
    #[must_use]
    pub fn without_demonstrations(&self) -> Self {
        Self { demonstrations: false, ..self.clone() }
    }

    /// A context whose calls send their replies to `stream` while they are generated.
    #[must_use]
    pub fn streaming(&self, stream: ReplyStream) -> Self {
        Self { stream: Some(stream), ..self.clone() }
    }

    /// Shows the watcher a piece of the answer; with `restart` it replaces what was shown before.
    /// The first piece is recorded with its time.
    pub fn show(&self, text: &str, restart: bool) {
        let first = !text.is_empty()
            && !std::mem::replace(&mut self.run.record.lock().answer_started, true);
        if first {
            self.push(Event::AnswerStarted { span: self.span, elapsed_ms: ms(self.run.began) });
        }
        self.watch(&Event::AnswerDelta { text: text.to_owned(), restart });
    }

    /// Shows the watcher what no trace stores.
    fn watch(&self, event: &Event) {
        if let Some(watcher) = &self.run.watcher {
            watcher(event);
        }
    }

    /// Records something that no other event says: a fall-back, a choice of nothing.
    pub fn note(&self, note: impl Into<String>) {
        self.push(Event::Note { span: self.span, note: note.into() });
    }

    /// Records a series and how it was continued.
    pub fn record_forecast(&self, series: SeriesForecast) {
        self.push(Event::SeriesForecast { span: self.span, series: Box::new(series) });
    }

    /// Records a step on the way to ideas.
    pub fn record_ideas(&self, step: IdeaStep) {
        self.push(Event::IdeasDeveloped { span: self.span, ideas: Box::new(step) });
    }

    /// What has happened so far.
    pub fn trace(&self) -> Trace {
        self.run.record.lock().trace.clone()
    }

    /// Names of the documents that anything found so far comes from, so that what is kept of this
    /// run can be forgotten with them.
    pub fn about(&self) -> Vec<String> {
        self.run.record.lock().about.iter().cloned().collect()
    }

    fn push(&self, event: Event) {
        // Under the lock, so that a watcher sees the events in the trace's order.
        let mut record = self.run.record.lock();
        self.watch(&event);
        record.trace.0.push(event);
    }
}

fn ms(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

/// Turns "the budget is spent" into "no more", so that a loop can close with what it has.
pub trait UnlessSpent<T> {
    fn unless_spent(self) -> Result<Option<T>>;
}

impl<T> UnlessSpent<T> for Result<Option<T>> {
    fn unless_spent(self) -> Result<Option<T>> {
        match self {
            Err(Error::Spent(_)) => Ok(None),
            other => other,
        }
    }
}

/// Turns a part of the work that failed into "nothing", so that a strategy continues without it:
///
/// ```text
/// let reply = cx.ask(&SELECT, variables).await.unless_failed(&cx, "no candidate is chosen")?;
/// let Some(reply) = reply else { return Ok(None) };
/// ```
pub trait UnlessFailed<T> {
    /// `None` where the reply stayed malformed or the model gave none, with a note in the trace
    /// that says what the strategy does instead and why. Other errors stay errors: a spent budget
    /// is for [`UnlessSpent`]. What no part of the answer can do without is asked for without it.
    fn unless_failed(self, cx: &Cx, instead: &str) -> Result<Option<T>>;
}

impl<T> UnlessFailed<T> for Result<T> {
    fn unless_failed(self, cx: &Cx, instead: &str) -> Result<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(error @ (Error::BadReply { .. } | Error::Llm { .. })) => {
                cx.note(format!("{instead}: {error}"));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
