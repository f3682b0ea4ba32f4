//! Traces: what happened while earlier questions were answered, and the conversations that they form.
use std::collections::HashMap;

use axum::Json;
use axum::http::StatusCode;
use halma_core::{Answer, Trace, UsageTotal};
use halma_engine::{StoredTrace, TraceBody, TraceHead};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::access::{Caller, MayAskDocuments, MayWriteDocuments, run_queued};
use crate::json::{JsonBody, Params, Part};
use crate::limits::bounds;
use crate::pagination::{Items, limit};
use crate::problem::Problem;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TraceQuery {
    /// Only questions answered by this strategy.
    strategy: Option<String>,
    /// Only questions of this conversation.
    conversation: Option<String>,
    /// Only questions that contain this text; case is ignored.
    query: Option<String>,
    /// Maximum number of items: 50 by default, at most 500.
    limit: Option<usize>,
    /// `next` of the previous page.
    after: Option<String>,
}

/// List earlier questions, newest first.
#[utoipa::path(get, path = "/api/v1/traces", tag = "traces", params(TraceQuery),
    responses((status = 200, body = Items<TraceHead>), (status = 401, body = Problem)))]
pub(crate) async fn list(
    MayAskDocuments(caller): MayAskDocuments,
    Params(query): Params<TraceQuery>,
) -> Result<Json<Items<TraceHead>>, Problem> {
    let limit = limit(query.limit)?;
    bounds::name("conversation", query.conversation.as_deref())?;
    bounds::name("query", query.query.as_deref())?;
    bounds::name("after", query.after.as_deref())?;
    let text = query.query.map(|text| text.to_lowercase());
    run_queued(caller, move |caller| {
        let matches = |head: &TraceHead| {
            if query.conversation.is_some() && query.conversation != head.conversation {
                return false;
            }
            let is_shown = match &query.conversation {
                Some(_) => caller.sees_trace(head),
                None => caller.lists_trace(head),
            };
            is_shown
                && query.strategy.as_ref().is_none_or(|name| *name == head.strategy)
                && text.as_ref().is_none_or(|text| head.question.to_lowercase().contains(text))
        };
        let engine = caller.workspace.engine();
        let heads = engine.traces().list(query.after.as_deref(), limit + 1, matches);
        let heads = heads.into_iter().map(|head| caller.head(head)).collect();
        Ok(Json(Items::cut(heads, limit, |head| head.id.clone())))
    })
    .await
}

/// A question with everything that happened while it was answered.
#[derive(Serialize, ToSchema)]
pub(crate) struct TraceDetail {
    id: String,
    question: String,
    strategy: String,
    #[schema(value_type = String, format = DateTime)]
    at: chrono::DateTime<chrono::Utc>,
    /// `null` where the run failed; see `error`.
    answer: Option<Answer>,
    abstained: bool,
    error: Option<String>,
    usage: UsageTotal,
    hops: usize,
    elapsed_ms: f64,
    /// The id of the key that asked.
    key: Option<String>,
    /// The conversation of the question, as its client calls it.
    conversation: Option<String>,
    trace: Trace,
}

impl From<StoredTrace> for TraceDetail {
    fn from(stored: StoredTrace) -> Self {
        let StoredTrace { head, body: TraceBody { answer, trace } } = stored;
        Self {
            id: head.id,
            question: head.question,
            strategy: head.strategy,
            at: head.at,
            answer,
            abstained: head.abstained,
            error: head.error,
            usage: head.usage,
            hops: head.hops,
            elapsed_ms: head.elapsed_ms,
            key: head.key,
            conversation: head.conversation,
            trace,
        }
    }
}

/// Read a question with everything that happened.
#[utoipa::path(get, path = "/api/v1/traces/{id}", tag = "traces", params(("id" = String, Path)),
    responses((status = 200, body = TraceDetail), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
) -> Result<Json<TraceDetail>, Problem> {
    run_queued(caller, move |caller| {
        caller
            .trace(&id)
            .map(|trace| Json(trace.into()))
            .ok_or_else(|| Problem::not_found("such trace"))
    })
    .await
}

/// Delete a trace.
#[utoipa::path(delete, path = "/api/v1/traces/{id}", tag = "traces", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    MayWriteDocuments(caller): MayWriteDocuments,
    Part(id): Part<String>,
) -> Result<StatusCode, Problem> {
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        let seen = engine.traces().get(&id).is_none_or(|trace| caller.lists_trace(&trace.head));
        if !seen {
            return Err(Problem::not_found("such trace"));
        }
        let removed = engine.traces().remove(&id);
        if removed.map_err(|e| Problem::internal(&e))? {
            Ok(StatusCode::NO_CONTENT)
        } else {
            Err(Problem::not_found("such trace"))
        }
    })
    .await
}

/// Questions that were asked one after the other.
#[derive(Serialize, ToSchema)]
pub(crate) struct Conversation {
    id: String,
    /// The first question.
    title: String,
    /// When the last question was asked.
    #[schema(value_type = String, format = DateTime)]
    at: chrono::DateTime<chrono::Utc>,
    questions: usize,
    /// Whether everybody of the workspace may read it.
    shared: bool,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConversationQuery {
    /// Maximum number of items: 50 by default, at most 500.
    limit: Option<usize>,
    /// `next` of the previous page.
    after: Option<String>,
}

/// List the caller's conversations, the one with the last question first. There is no list where no
/// question is stored (`serve.keep_traces = 0`).
#[utoipa::path(get, path = "/api/v1/conversations", tag = "traces", params(ConversationQuery),
    responses((status = 200, body = Items<Conversation>), (status = 401, body = Problem),
        (status = 404, body = Problem)))]
pub(crate) async fn conversations(
    MayAskDocuments(caller): MayAskDocuments,
    Params(query): Params<ConversationQuery>,
) -> Result<Json<Items<Conversation>>, Problem> {
    let limit = limit(query.limit)?;
    bounds::name("after", query.after.as_deref())?;
    run_queued(caller, move |caller| {
        if !caller.workspace.engine().traces().retains() {
            return Err(Problem::not_found("list of conversations")
                .hint("`serve.keep_traces` is 0, so that no question is stored"));
        }
        let mut conversations: Vec<Conversation> = vec![];
        let mut places: HashMap<String, usize> = HashMap::new();
        for head in own_heads(&caller, |head| head.conversation.is_some()) {
            let Some(id) = head.conversation else { continue };
            let place = *places.entry(id.clone()).or_insert(conversations.len());
            if place == conversations.len() {
                let (title, at) = (String::new(), head.at);
                conversations.push(Conversation { id, title, at, questions: 0, shared: false });
            }
            conversations[place].title = head.question;
            conversations[place].questions += 1;
        }
        let after = query.after.and_then(|id| places.get(&id).copied());
        let rest = conversations.into_iter().skip(after.map_or(0, |at| at + 1));
        let mut page = Items::cut(rest.take(limit + 1).collect(), limit, |one| one.id.clone());
        let engine = caller.workspace.engine();
        for one in &mut page.items {
            one.shared = engine.traces().is_shared(caller.key_id(), &one.id);
        }
        Ok(Json(page))
    })
    .await
}

/// Delete a conversation of the caller with its questions.
#[utoipa::path(delete, path = "/api/v1/conversations/{id}", tag = "traces",
    params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn delete_conversation(
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
) -> Result<StatusCode, Problem> {
    run_queued(caller, move |caller| {
        let heads = own_heads(&caller, |head| head.conversation.as_ref() == Some(&id));
        if heads.is_empty() {
            return Err(Problem::not_found("such conversation"));
        }
        let engine = caller.workspace.engine();
        let ended = engine.traces().share(caller.key_id(), &id, false);
        ended.map_err(|e| Problem::internal(&e))?;
        for head in heads {
            engine.traces().remove(&head.id).map_err(|e| Problem::internal(&e))?;
        }
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Who may read a conversation.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sharing {
    /// Whether everybody of the workspace may read it, as far as they see the documents that it quotes.
    shared: bool,
}

/// Share a conversation of the caller, or end that. An id that another key uses too is refused, so that
/// nobody puts questions into the conversation of someone else.
#[utoipa::path(put, path = "/api/v1/conversations/{id}/shared", tag = "traces",
    params(("id" = String, Path)), request_body = Sharing,
    responses((status = 204), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn share(
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
    JsonBody(sharing): JsonBody<Sharing>,
) -> Result<StatusCode, Problem> {
    run_queued(caller, move |caller| {
        if own_heads(&caller, |head| head.conversation.as_ref() == Some(&id)).is_empty() {
            return Err(Problem::not_found("such conversation"));
        }
        let engine = caller.workspace.engine();
        let of_another =
            |head: &TraceHead| head.conversation.as_ref() == Some(&id) && !caller.is_own(head);
        if sharing.shared && !engine.traces().list(None, 1, of_another).is_empty() {
            let detail = "another key has questions in a conversation of this id";
            return Err(Problem::new(StatusCode::CONFLICT, detail)
                .hint("ask the questions again in a new conversation"));
        }
        let shared = engine.traces().share(caller.key_id(), &id, sharing.shared);
        shared.map_err(|e| Problem::internal(&e))?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Heads of questions that the caller asked and may still see, newest first.
fn own_heads(caller: &Caller, filter: impl Fn(&TraceHead) -> bool) -> Vec<TraceHead> {
    let engine = caller.workspace.engine();
    let is_listed = |head: &TraceHead| {
        filter(head) && (caller.key.is_none() || caller.is_own(head)) && caller.lists_trace(head)
    };
    engine.traces().list(None, usize::MAX, is_listed)
}
