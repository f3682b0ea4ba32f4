//! Answers one question for a client, within its limits; used by HTTP, OpenAI's API and MCP.
//! [`halma_engine::Asking`] resolves and runs the question and stores its trace.
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use halma_core::{Answer, AnswerKind, AnswerStyle, Budget, Error, Filter, UsageTotal, Watcher};
use halma_engine::{AskResult, Effort, Exchange, OnFinish, TraceHead};
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedSemaphorePermit;
use utoipa::ToSchema;

use crate::access::{Caller, without_reason};
use crate::app::{Shared, Stop};
use crate::limits::bounds;
use crate::limits::settings::flag_text;
use crate::problem::Problem;
use crate::usage::{UsageCounts, UsageKey};

/// A question and how to answer it.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskRequest {
    pub(crate) question: String,
    /// The strategy; the configured one by default.
    #[serde(default)]
    pub(crate) strategy: Option<String>,
    /// Chooses the strategy where none is named, by what it costs.
    #[serde(default)]
    pub(crate) effort: Option<Effort>,
    /// Settings of the strategy for this question.
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, serde_json::Value>,
    /// The conversation so far, oldest turn first; the question may refer to it.
    #[serde(default)]
    pub(crate) history: Vec<Turn>,
    /// The choices of a multiple-choice question.
    #[serde(default)]
    pub(crate) options: Vec<String>,
    /// `short` by default.
    #[serde(default)]
    pub(crate) answer_kind: Option<AnswerKind>,
    /// The documents that the answer may come from: by name, format, date or metadata.
    #[serde(default)]
    pub(crate) filter: Option<Filter>,
    /// The date of the question, such as `2024-02-28`: what changes with time is answered for it.
    #[serde(default)]
    pub(crate) asked_at: Option<String>,
    /// `full` adds sentences with numbered sources to the answer; `ask.answer_style` by default.
    #[serde(default)]
    pub(crate) answer_style: Option<AnswerStyle>,
    /// Stream events; so does the header `accept: text/event-stream`.
    #[serde(default)]
    pub(crate) stream: bool,
    /// Limits, within those of the server.
    #[serde(default)]
    pub(crate) budget: Option<Budget>,
}

/// A message of a conversation.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    /// `user` or `assistant`.
    pub(crate) role: String,
    pub(crate) text: String,
}

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
        ask: AskRequest,
        watcher: Option<Watcher>,
    ) -> Result<Self, Problem> {
        bounds::check_ask(&ask)?;
        let mut engine = caller.workspace.engine();
        if let Some(filter) = ask.filter.clone() {
            // Opening a view reads the base.
            engine = caller.lane().run(move || Ok(engine.filtered(&filter)?)).await?;
        }
        let parent = app.allowance.admit(caller.key.as_deref()).await?;
        let permit = Arc::clone(&app.asks).try_acquire_owned().map_err(|_| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too many questions are being answered")
                .hint("try again in a moment; `serve.concurrent_asks` is the limit of each server")
        })?;
        let settings = ask.settings.iter().map(|(key, value)| (key.clone(), flag_text(value)));
        let watcher = app.metrics.watcher(watcher.map(|watcher| caller.watcher(watcher)));
        let question = engine.prepare(halma_engine::AskRequest {
            question: ask.question,
            options: ask.options,
            answer_kind: ask.answer_kind.unwrap_or_default(),
            asked_at: ask.asked_at,
            answer_style: ask.answer_style,
            strategy: ask.strategy,
            effort: ask.effort,
            settings: settings.collect(),
            history: exchanges(&ask.history),
            budget: ask.budget.unwrap_or_default(),
            parent,
            watcher: Some(watcher),
            key: caller.key_id().map(str::to_owned),
            trace_parent: caller.trace_parent.clone(),
            on_finish: Some(count_usage(app, caller)),
        })?;
        if app.config.log_questions {
            tracing::info!(id = question.id(), question = question.question(), "asked");
        }
        Ok(Self { app: Arc::clone(app), caller: caller.clone(), question, _permit: permit })
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
        Ok(AskResponse {
            id,
            question,
            answer: outcome.answer.map_err(|error| run_problem(error, &self.caller))?,
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

/// Questions with the answers that followed them. System messages are ignored.
pub(crate) fn exchanges(history: &[Turn]) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = vec![];
    for turn in history {
        match (turn.role.as_str(), exchanges.last_mut()) {
            ("user", _) => {
                exchanges.push(Exchange { question: turn.text.clone(), answer: String::new() });
            }
            ("assistant", Some(last)) if last.answer.is_empty() => {
                last.answer.clone_from(&turn.text);
            }
            _ => {}
        }
    }
    exchanges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_questions_with_their_answers() {
        let turn = |role: &str, text: &str| Turn { role: role.into(), text: text.into() };
        let exchanges = exchanges(&[
            turn("system", "Be kind."),
            turn("assistant", "Hello!"),
            turn("user", "Who?"),
            turn("user", "Who wrote it?"),
            turn("assistant", "Ann"),
            turn("assistant", "More?"),
        ]);
        let pairs: Vec<_> =
            exchanges.iter().map(|e| (e.question.as_str(), e.answer.as_str())).collect();
        assert_eq!(pairs, [("Who?", ""), ("Who wrote it?", "Ann")]);
    }
}
