//! Answers one question for a client and stores its trace; used by HTTP, OpenAI's API and MCP.
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use chrono::{DateTime, Utc};
use halma_core::{
    Answer, AnswerKind, Budget, Cx, Error, Meter, Outcome, Question, Strategy, Trace, UsageTotal,
    Watcher,
};
use halma_engine::{Engine, Exchange, KeptTrace, TraceBody, TraceHead, Traces};
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedSemaphorePermit;
use utoipa::ToSchema;

use crate::access::Caller;
use crate::allowance;
use crate::app::{Shared, Stop};
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
}

/// A question that is being answered. When it is dropped before its end, its usage is still counted
/// and its trace is still stored.
pub(crate) struct Asking {
    pub(crate) id: String,
    app: Shared,
    caller: Caller,
    engine: Arc<Engine>,
    strategy: Arc<dyn Strategy>,
    question: Question,
    said: Vec<Exchange>,
    cx: Cx,
    at: DateTime<Utc>,
    began: Instant,
    kept: bool,
    _permit: OwnedSemaphorePermit,
}

impl Asking {
    /// Checks everything that can be wrong before the first call.
    pub(crate) fn begin(
        app: &Shared,
        caller: &Caller,
        ask: AskRequest,
        watcher: Option<Watcher>,
    ) -> Result<Self, Problem> {
        let engine = caller.workspace.engine();
        engine.accept(&ask.question)?;
        let usual = || engine.config().ask.strategy.clone();
        let name = ask.strategy.unwrap_or_else(usual);
        let settings = ask.settings.iter().map(|(key, value)| (key.clone(), written(value)));
        let strategy = engine.strategy_with(&name, &settings.collect())?;
        let whole =
            caller.key.as_ref().and_then(|key| app.allowance.meter(key, &caller.workspace.usage));
        if let Some(whole) = &whole {
            allowance::check(whole)?;
        }
        let permit = Arc::clone(&app.asks).try_acquire_owned().map_err(|_| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too many questions are being answered")
                .hint("try again in a moment; `serve.concurrent_asks` is the limit")
        })?;
        let id = Traces::next_id().map_err(|e| Problem::internal(&e))?;
        let text = ask.question.trim().to_owned();
        if app.config.log_questions {
            tracing::info!(id, question = text, "asked");
        }
        let budget = ask.budget.unwrap_or_default();
        let question = Question {
            id: id.clone(),
            text,
            options: ask.options,
            answer_kind: ask.answer_kind.unwrap_or_default(),
        };
        Ok(Self {
            id,
            app: Arc::clone(app),
            caller: caller.clone(),
            cx: engine.cx_under(budget, whole.as_ref() as Option<&Arc<Meter>>, watcher),
            engine,
            strategy,
            question,
            said: exchanges(&ask.history),
            at: Utc::now(),
            began: Instant::now(),
            kept: false,
            _permit: permit,
        })
    }

    pub(crate) fn strategy(&self) -> &'static str {
        self.strategy.name()
    }

    /// Runs to the end, or until the key is revoked or the server must stop.
    pub(crate) async fn run(mut self) -> Result<AskResponse, Problem> {
        let asked = self.question.text.clone();
        let (engine, cx) = (Arc::clone(&self.engine), self.cx.clone());
        let (strategy, mut question) = (Arc::clone(&self.strategy), self.question.clone());
        let said = std::mem::take(&mut self.said);
        let work = async {
            question.text = engine.resolve(&asked, &said, &cx).await?;
            let outcome = Outcome::run(strategy.as_ref(), &question, &cx).await;
            outcome.answer.map(|answer| (question.text.clone(), answer))
        };
        let app = Arc::clone(&self.app);
        let caller = self.caller.clone();
        let done = tokio::select! {
            done = work => done,
            () = caller.revoked(&app) => {
                self.keep(None, Some("the key was revoked".into()));
                return Err(Problem::new(StatusCode::UNAUTHORIZED, "this key is no longer valid"));
            }
            () = app.stopping(Stop::Now) => {
                self.keep(None, Some("the server was stopped".into()));
                return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping")
                    .hint("ask again when it is back"));
            }
        };
        match done {
            Ok((question, answer)) => {
                let (trace, elapsed_ms) = self.keep(Some(&answer), None);
                Ok(AskResponse {
                    id: self.id.clone(),
                    question,
                    answer,
                    strategy: self.strategy().to_owned(),
                    usage: trace.usage(),
                    hops: trace.hops(),
                    elapsed_ms,
                })
            }
            Err(error) => {
                self.keep(None, Some(error.to_string()));
                Err(of_run(error))
            }
        }
    }

    /// Keeps the trace and counts the usage.
    fn keep(&mut self, answer: Option<&Answer>, error: Option<String>) -> (Trace, f64) {
        self.kept = true;
        let (trace, elapsed_ms) = (self.cx.trace(), self.began.elapsed().as_secs_f64() * 1e3);
        let key = self.caller.key_id();
        let group = UsageKey::today(key.unwrap_or_default(), self.strategy.name());
        let used = UsageCounts::from_total(trace.usage(), 1);
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
            error,
            usage: trace.usage(),
            hops: trace.hops(),
            elapsed_ms,
            key: key.map(str::to_owned),
            documents,
        };
        let body = TraceBody { answer: answer.cloned(), trace: trace.clone() };
        let (traces, usage) =
            (Arc::clone(self.engine.traces()), Arc::clone(&self.caller.workspace.usage));
        let write = move || {
            usage.add(group, used);
            if let Err(e) = traces.keep(&KeptTrace { head, body }) {
                tracing::error!("a trace cannot be kept: {e}");
            }
        };
        // Nobody waits for it, but the server does when it stops.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(write)),
            Err(_) => write(),
        }
        (trace, elapsed_ms)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if !self.kept {
            self.keep(None, Some("cancelled: the client left".into()));
        }
    }
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
