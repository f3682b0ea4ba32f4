//! One question over the wire, for HTTP, OpenAI's shape and MCP: the caller's limits around
//! [`halma_engine::Asking`], which resolves, runs and stores it.
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use halma_core::{Answer, AnswerKind, Budget, Error, Event, UsageTotal, Watcher};
use halma_engine::{AskRequest, AskResult, Exchange, OnFinish, TraceHead};
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedSemaphorePermit;
use utoipa::ToSchema;

use crate::access::Caller;
use crate::allowance;
use crate::app::{Shared, Stop};
use crate::problem::Problem;
use crate::schema;
use crate::usage::{Group, Used};

/// A question as it is sent.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    pub(crate) question: String,
    /// The way of answering; the configured one where none is named.
    #[serde(default)]
    pub(crate) strategy: Option<String>,
    /// Settings of the strategy, for this question.
    #[serde(default)]
    #[schema(value_type = std::collections::HashMap<String, Object>)]
    pub(crate) settings: BTreeMap<String, serde_json::Value>,
    /// What was said before, oldest first; the question may refer to it.
    #[serde(default)]
    pub(crate) history: Vec<Turn>,
    /// The choices of a multiple-choice question.
    #[serde(default)]
    pub(crate) options: Vec<String>,
    /// `short` (default), `yes_no`, `option`, `number`, `long` or `verdict`.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub(crate) answer_kind: Option<AnswerKind>,
    /// Whether events are streamed; so they are with `accept: text/event-stream`.
    #[serde(default)]
    pub(crate) stream: bool,
    /// Limits, inside those of the server.
    #[serde(default)]
    #[schema(value_type = Option<schema::Budget>)]
    pub(crate) budget: Option<Budget>,
}

/// Something said in a conversation.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    /// `user` or `assistant`.
    pub(crate) role: String,
    pub(crate) text: String,
}

/// What came of a question.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Answered {
    /// Of the trace, by which it can be read again.
    pub(crate) id: String,
    /// As it was understood, which may not be as it was asked.
    pub(crate) question: String,
    #[schema(value_type = schema::Answer)]
    pub(crate) answer: Answer,
    pub(crate) strategy: String,
    #[schema(value_type = schema::UsageTotal)]
    pub(crate) usage: UsageTotal,
    pub(crate) hops: usize,
    pub(crate) elapsed_ms: f64,
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
    pub(crate) fn begin(
        app: &Shared,
        caller: &Caller,
        ask: Ask,
        watcher: Option<Watcher>,
    ) -> Result<Self, Problem> {
        let engine = caller.workspace.engine();
        let usage = &caller.workspace.usage;
        let parent = caller.key.as_ref().and_then(|key| app.allowance.of(key, usage));
        if let Some(parent) = &parent {
            allowance::check(parent)?;
        }
        let permit = Arc::clone(&app.asks).try_acquire_owned().map_err(|_| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too many questions are being answered")
                .hint("try again in a moment; `serve.concurrent_asks` is the limit")
        })?;
        let settings = ask.settings.iter().map(|(key, value)| (key.clone(), written(value)));
        let question = engine.prepare(AskRequest {
            question: ask.question,
            options: ask.options,
            answer_kind: ask.answer_kind.unwrap_or_default(),
            strategy: ask.strategy,
            settings: settings.collect(),
            history: exchanges(&ask.history),
            budget: ask.budget.unwrap_or_default(),
            parent,
            watcher,
            key: caller.key_id().map(str::to_owned),
            on_finish: Some(count_usage(caller)),
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

    /// Runs to the end, or until the key is revoked or the server must stop.
    pub(crate) async fn run(mut self) -> Result<Answered, Problem> {
        let result = tokio::select! {
            result = self.question.run() => result,
            () = self.caller.gone(&self.app) => {
                self.question.cancel("the key was revoked");
                return Err(Problem::new(StatusCode::UNAUTHORIZED, "this key is not valid any more"));
            }
            () = self.app.stopping(Stop::Now) => {
                self.question.cancel("the server was stopped");
                return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping")
                    .hint("ask again when it is back"));
            }
        };
        let AskResult { id, question, strategy, outcome, elapsed_ms } = result;
        Ok(Answered {
            id,
            question,
            answer: outcome.answer.map_err(of_run)?,
            strategy: strategy.to_owned(),
            usage: outcome.trace.usage(),
            hops: outcome.trace.hops(),
            elapsed_ms,
        })
    }
}

/// Counts what a question has used, also when it is cancelled.
fn count_usage(caller: &Caller) -> OnFinish {
    let usage = Arc::clone(&caller.workspace.usage);
    Box::new(move |head: &TraceHead| {
        let group = Group::today(head.key.as_deref().unwrap_or_default(), &head.strategy);
        usage.add(group, Used::of(head.usage, 1));
    })
}

/// A setting as `--set` has it.
fn written(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn of_run(error: Error) -> Problem {
    let kind = error.kind();
    let problem = Problem::from(error);
    Problem { kind: format!("urn:halma:run-{kind}"), ..problem }
}

/// Questions with the answers that followed them. Orders of a system are none of ours.
pub(crate) fn exchanges(history: &[Turn]) -> Vec<Exchange> {
    let mut said: Vec<Exchange> = vec![];
    for turn in history {
        match (turn.role.as_str(), said.last_mut()) {
            ("user", _) => {
                said.push(Exchange { question: turn.text.clone(), answer: String::new() });
            }
            ("assistant", Some(last)) if last.answer.is_empty() => {
                last.answer.clone_from(&turn.text);
            }
            _ => {}
        }
    }
    said
}

/// What a person is told of an event, hop by hop; `None` for what is no step of its own.
pub(crate) fn told(event: &Event) -> Option<String> {
    match event {
        Event::SpanStarted { name, .. } => Some(name.clone()),
        Event::Searched { query, hits, .. } => {
            let best = hits.first().map_or("nothing near", |hit| hit.title.as_str());
            Some(format!("searched “{query}” → {best}"))
        }
        Event::SourceQueried { source, query, .. } => {
            Some(format!("looked up “{query}” in {source}"))
        }
        Event::Note { note, .. } => Some(note.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_questions_with_their_answers() {
        let turn = |role: &str, text: &str| Turn { role: role.into(), text: text.into() };
        let said = exchanges(&[
            turn("system", "Be kind."),
            turn("assistant", "Hello!"),
            turn("user", "Who?"),
            turn("user", "Who wrote it?"),
            turn("assistant", "Ann"),
            turn("assistant", "More?"),
        ]);
        let pairs: Vec<_> = said.iter().map(|e| (e.question.as_str(), e.answer.as_str())).collect();
        assert_eq!(pairs, [("Who?", ""), ("Who wrote it?", "Ann")]);
    }
}
