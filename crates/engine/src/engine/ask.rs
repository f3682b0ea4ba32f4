//! One way to ask a question: resolve the strategy and its settings, run, store the trace. The
//! command line, HTTP and MCP all ask here.
use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, Utc};
use halma_core::text::thousands;
use halma_core::{
    Answer, ConfigError, Cx, DateBound, Error, Outcome, Question, Strategy, Trace, Watcher,
};

use halma_offline::Extractive;

use super::context::ContextOptions;
use super::conversation::{Exchange, exchanges, rephrase};
use super::{AskRequest, Engine, OnFinish};
use crate::config::OFFLINE;
use crate::error::EngineError;
use crate::feedback::Recall;
use crate::storage::traces::{StoredTrace, TraceBody, TraceHead, TraceStore};
use crate::telemetry::{RunSpans, RunStart};
use crate::writer::Writing;
use crate::writer::passages::{confident, with_kind};

/// Why there is no answer.
struct Failure {
    kind: &'static str,
    message: String,
}

impl Failure {
    fn cancelled(reason: &str) -> Self {
        Self { kind: "cancelled", message: reason.to_owned() }
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Self { kind: error.kind(), message: error.to_string() }
    }
}

/// An answered question, or one that failed while it ran.
pub struct AskResult {
    /// The id of the trace.
    pub id: String,
    /// The question as it was understood: with a history, it may be rephrased to stand alone.
    pub question: String,
    pub strategy: &'static str,
    pub outcome: Outcome,
    pub elapsed_ms: f64,
}

/// A question that is about to be answered. When it is dropped before its end, the run stops, and
/// its trace is stored as that of a cancelled question.
pub struct Asking {
    id: String,
    question: Question,
    history: Vec<Exchange>,
    strategy: Arc<dyn Strategy>,
    recall: Recall,
    writing: Writing,
    /// The offline model, where it is the reader.
    offline: Option<Extractive>,
    cx: Cx,
    traces: Arc<TraceStore>,
    key: Option<String>,
    conversation: Option<String>,
    /// The spans for the collector of traces, if there is one.
    spans: Option<Arc<RunSpans>>,
    on_finish: Option<OnFinish>,
    at: DateTime<Utc>,
    started: Instant,
    finished: bool,
}

impl Engine {
    /// Answers one question.
    pub async fn ask(&self, request: AskRequest) -> Result<AskResult, EngineError> {
        Ok(self.prepare(request)?.run().await)
    }

    /// Checks everything that can be wrong with a question before the first call.
    pub fn prepare(&self, mut request: AskRequest) -> Result<Asking, EngineError> {
        if let Some(filter) = request.filter.take()
            && let Some(view) = self.filtered_view(&filter)?
        {
            return view.prepare(request);
        }
        let text = request.question.trim().to_owned();
        self.check_text("question", &text)?;
        let asked_at = date_of_question(request.asked_at.as_deref())?;
        let strategy = self.strategy_for(&request)?;
        let id = TraceStore::next_id().map_err(|e| EngineError::file(self.traces.dir(), e))?;
        let spans = self.resources.telemetry.as_ref().map(|telemetry| {
            let start = RunStart {
                id: &id,
                question: &text,
                strategy: strategy.name(),
                key: request.key.as_deref(),
                trace_parent: request.trace_parent.as_deref(),
            };
            Arc::new(RunSpans::start(telemetry, &start))
        });
        let cx = self.context(ContextOptions {
            budget: request.budget.unwrap_or_default(),
            parent: request.parent,
            watcher: recorded(spans.clone(), request.watcher),
            documents: None,
            knowledge: None,
        });
        let question = Question {
            id: id.clone(),
            options: request.options,
            answer_kind: request.answer_kind.unwrap_or_default(),
            asked_at,
            ..Question::new(text)
        };
        let ask = &self.config.ask;
        let style = request.answer_style.unwrap_or(ask.answer_style);
        Ok(Asking {
            id,
            question,
            history: exchanges(&request.history),
            strategy,
            recall: Recall::new(&self.base, self.config.feedback),
            writing: Writing { style, check: ask.check_claims },
            offline: (self.config.model_of("reader") == OFFLINE)
                .then(|| self.resources.offline.clone()),
            cx,
            traces: Arc::clone(&self.traces),
            key: request.key,
            conversation: request.conversation,
            spans,
            on_finish: request.on_finish,
            at: Utc::now(),
            started: Instant::now(),
            finished: false,
        })
    }

    /// Refuses a question, or another text to search for, that has no word or number or is longer
    /// than `ask.max_question_chars`. The error calls it by the name that the caller gave to it.
    pub fn check_text(&self, name: &str, text: &str) -> Result<(), ConfigError> {
        let limit = self.config.ask.max_question_chars;
        let (reason, hint) = match text.chars().count() {
            _ if !text.contains(char::is_alphanumeric) => {
                ("it has no word or number".to_owned(), "write what you want to know")
            }
            length if length > limit => (
                format!(
                    "it is {} characters long; the limit is {}",
                    thousands(length as u64),
                    thousands(limit as u64)
                ),
                "index long texts with `halma index` and ask about them, or raise \
                 `ask.max_question_chars`",
            ),
            _ => return Ok(()),
        };
        let (file, key) = (format!("the {name}"), name.to_owned());
        Err(ConfigError { file, key, reason, hint: hint.into() })
    }
}

impl Asking {
    /// The id of the trace.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The question as it was received, without surrounding white space.
    pub fn question(&self) -> &str {
        &self.question.text
    }

    pub fn strategy(&self) -> &'static str {
        self.strategy.name()
    }

    /// Runs to the end and stores the trace.
    pub async fn run(&mut self) -> AskResult {
        let (question, answer) = match self.answer().await {
            Ok((question, answer)) => (question, Ok(answer)),
            Err(error) => (self.question.text.clone(), Err(error)),
        };
        let failure = answer.as_ref().err().map(Failure::from);
        let (trace, elapsed_ms) = self.finish(answer.as_ref().ok(), failure);
        let (id, strategy) = (self.id.clone(), self.strategy());
        AskResult { id, question, strategy, outcome: Outcome { answer, trace }, elapsed_ms }
    }

    /// Stops the run and stores its trace with the reason.
    pub fn cancel(mut self, reason: &str) {
        self.finish(None, Some(Failure::cancelled(reason)));
    }

    /// The question as it was understood, and its answer.
    async fn answer(&self) -> Result<(String, Answer), Error> {
        let text = rephrase(&self.question.text, &self.history, &self.cx).await?;
        let question = Question { text, ..self.question.clone() };
        let answer = match self.recall.answer(&question, &self.cx).await? {
            Some(accepted) => accepted,
            None => self.run_strategy(&question).await?,
        };
        let answer = self.writing.write(&question, answer, &self.cx).await;
        let answer = with_kind(&question, answer, &self.cx).await;
        Ok((question.text, answer))
    }

    /// The answer of the strategy, as far as it is sure where the offline model reads.
    async fn run_strategy(&self, question: &Question) -> Result<Answer, Error> {
        let answer = Outcome::run(self.strategy.as_ref(), question, &self.cx).await.answer?;
        Ok(match &self.offline {
            Some(offline) => confident(offline, question, answer, &self.cx).await,
            None => answer,
        })
    }

    /// Stores the trace and returns it with the time the question took, in milliseconds.
    fn finish(&mut self, answer: Option<&Answer>, failure: Option<Failure>) -> (Trace, f64) {
        self.finished = true;
        let trace = self.cx.trace();
        let elapsed_ms = self.started.elapsed().as_secs_f64() * 1e3;
        let mut documents = self.cx.about();
        let cited = answer.iter().flat_map(|answer| &answer.citations);
        documents.extend(cited.map(|citation| citation.document.clone()));
        documents.sort();
        documents.dedup();
        let head = TraceHead {
            id: self.id.clone(),
            question: self.question.text.clone(),
            strategy: self.strategy.name().to_owned(),
            at: self.at,
            answer: answer.map(|answer| answer.text.clone()),
            abstained: answer.is_some_and(|answer| answer.abstained),
            error: failure.as_ref().map(|failure| failure.message.clone()),
            usage: trace.usage(),
            hops: trace.hops(),
            elapsed_ms,
            key: self.key.take(),
            conversation: self.conversation.take(),
            documents,
        };
        let error = failure.map(|failure| failure.kind);
        if let Some(spans) = self.spans.take() {
            spans.finish(&head, error);
        }
        let body = TraceBody { answer: answer.cloned(), trace: trace.clone() };
        let (traces, on_finish) = (Arc::clone(&self.traces), self.on_finish.take());
        let trace_to_store = Arc::new(StoredTrace { head, body });
        traces.begin(&trace_to_store);
        let store = move || {
            if let Some(on_finish) = on_finish {
                on_finish(&trace_to_store.head, error);
            }
            if let Err(e) = traces.store(&trace_to_store) {
                tracing::warn!("`{}`: the trace cannot be stored: {e}", traces.dir().display());
            }
        };
        // The answer does not wait for the disk, and its trace is found meanwhile; the runtime waits
        // for it when it shuts down.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(store)),
            Err(_) => store(),
        }
        (trace, elapsed_ms)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if !self.finished {
            self.finish(None, Some(Failure::cancelled("cancelled: the client disconnected")));
        }
    }
}

/// Refuses a text that is not a date: a model that is told of one answers for no date or for a wrong
/// one.
fn date_of_question(text: Option<&str>) -> Result<Option<String>, ConfigError> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    let date = text.parse::<DateBound>().map_err(|e| ConfigError {
        file: "the date of the question".into(),
        key: "asked_at".into(),
        reason: e.to_string(),
        hint: "write a day of the calendar, a month or a year, such as 2024-02-28".into(),
    })?;
    Ok(Some(date.into()))
}

/// A watcher that records every event for the collector of traces, too.
fn recorded(spans: Option<Arc<RunSpans>>, watcher: Option<Watcher>) -> Option<Watcher> {
    let Some(spans) = spans else { return watcher };
    Some(Arc::new(move |event| {
        spans.record(event);
        if let Some(watcher) = &watcher {
            watcher(event);
        }
    }))
}
