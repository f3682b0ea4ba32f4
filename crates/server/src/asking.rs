//! Answers one question for a client, within its limits; used by HTTP, OpenAI's API and MCP.
//! [`halma_engine::Asking`] resolves and runs the question and stores its trace.
use std::sync::Arc;

use axum::http::StatusCode;
use halma_core::{Answer, Error, UsageTotal, Watcher};
use halma_engine::{AskRequest, AskResult, OnFinish, TraceHead};
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;
use utoipa::ToSchema;

use crate::access::{Caller, without_reason};
use crate::app::{Shared, Stop};
use crate::limits::allowance::spent_today;
use crate::limits::bounds;
use crate::problem::Problem;
use crate::usage::{UsageCounts, UsageKey};

/// What an answer falls short of when its key could spend no more.
const SPENT_TODAY: &str =
    "The daily budget of this API key was spent before the question was answered in full.";

/// An answer, with the trace that explains it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct AskResponse {
    /// The id of the trace.
    pub(crate) id: String,
    /// The question as resolved with the conversation; may differ from the question sent.
    pub(crate) question: String,
    pub(crate) answer: Answer,
    pub(crate) strategy: String,
    pub(crate) usage: UsageTotal,
    pub(crate) hops: usize,
    pub(crate) elapsed_ms: f64,
    /// Milliseconds from the question to the first word of the answer.
    pub(crate) first_word_ms: Option<f64>,
}

/// A question that is being answered on behalf of a caller.
pub(crate) struct Asking {
    app: Shared,
    caller: Caller,
    question: halma_engine::Asking,
    _permit: OwnedSemaphorePermit,
}

impl Asking {
    /// Checks everything that can be wrong before the first call.
    pub(crate) async fn begin(
        app: &Shared,
        caller: &Caller,
        mut request: AskRequest,
        watcher: Option<Watcher>,
    ) -> Result<Self, Problem> {
        bounds::check_ask(&request)?;
        let mut engine = caller.workspace.engine();
        if let Some(filter) = request.filter.take() {
            // Opening a view reads the base.
            engine = caller.workspace.requests.run(move || Ok(engine.filtered(&filter)?)).await?;
        }
        let parent = app.allowance.admit(caller.key.as_deref()).await?;
        let permit = Arc::clone(&app.asks).try_acquire_owned().map_err(|_| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too many questions are being answered")
                .hint("try again in a moment; `serve.concurrent_asks` is the limit of each server")
        })?;
        let watcher = app.metrics.watcher(watcher.map(|watcher| caller.watcher(watcher)));
        let question = engine.prepare(AskRequest {
            parent,
            watcher: Some(watcher),
            key: caller.key_id().map(str::to_owned),
            trace_parent: caller.trace_parent.clone(),
            on_finish: Some(count_usage(app, caller)),
            ..request
        })?;
        if app.config.log_questions {
            tracing::info!(id = question.id(), question = question.question(), "asked");
        }
        let (app, caller) = (Arc::clone(app), caller.clone());
        Ok(Self { app, caller, question, _permit: permit })
    }

    /// The id of the trace, by which it can be read again.
    pub(crate) fn id(&self) -> &str {
        self.question.id()
    }

    pub(crate) fn strategy(&self) -> &'static str {
        self.question.strategy()
    }

    /// Runs to the end, or until the key is revoked, the workspace removed, or the server must stop.
    pub(crate) async fn run(mut self) -> Result<AskResponse, Problem> {
        let result = tokio::select! {
            result = self.question.run() => result,
            problem = self.caller.ended(&self.app) => {
                self.question.cancel("the key was revoked or the workspace removed");
                return Err(problem);
            }
            () = self.app.stopping(Stop::Now) => {
                self.question.cancel("the server was stopped");
                return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping")
                    .hint("ask again when it is back"));
            }
        };
        let AskResult { id, question, strategy, outcome, elapsed_ms } = result;
        let is_stopped = match &outcome.answer {
            Ok(answer) => answer.partial,
            Err(error) => matches!(error, Error::Spent(_)),
        };
        let key = self.caller.key.as_deref();
        let is_spent = is_stopped && self.app.allowance.admit(key).await.is_err();
        let answer = match outcome.answer {
            Ok(answer) if is_spent => Answer { limitation: Some(SPENT_TODAY.to_owned()), ..answer },
            Err(_) if is_spent => return Err(spent_today()),
            answer => answer.map_err(|error| run_problem(error, &self.caller))?,
        };
        Ok(AskResponse {
            id,
            question,
            answer,
            strategy: strategy.to_owned(),
            usage: outcome.trace.usage(),
            hops: outcome.trace.hops(),
            elapsed_ms,
            first_word_ms: outcome.trace.first_word_ms(),
        })
    }
}

/// Counts what a question has used, also when it is cancelled.
fn count_usage(app: &Shared, caller: &Caller) -> OnFinish {
    let usage = Arc::clone(&caller.workspace.usage);
    let metrics = Arc::clone(&app.metrics);
    Box::new(move |head: &TraceHead, error| {
        metrics.question(head, error);
        let usage_key = UsageKey::today(head.key.as_deref().unwrap_or_default(), &head.strategy);
        usage.add(&usage_key, UsageCounts::from_total(head.usage, 1));
    })
}

/// Why a question was not answered. What a model or source replied, and where it is, is for
/// administrators only; it is in the log.
fn run_problem(error: Error, caller: &Caller) -> Problem {
    let kind = format!("urn:halma:run-{}", error.kind());
    let is_of_server = matches!(error, Error::Llm { .. } | Error::Source { .. });
    let problem = Problem { kind, ..Problem::from(error) };
    if caller.is_admin() || !is_of_server {
        return problem;
    }
    Problem { detail: without_reason(problem.detail), ..problem }
        .hint("try again later; the server's log has the reason for this request id")
}
