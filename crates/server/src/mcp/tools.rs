//! The tools. What goes wrong in one is told to the agent as its result, with what to do about it.
use std::sync::Arc;

use axum::http::request::Parts;
use halma_core::{Event, Layer, Watcher};
use halma_engine::SearchQuery;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::arguments::{
    AskArguments, ExplainArguments, ListArguments, ReadArguments, SearchArguments,
};
use crate::access::Caller;
use crate::app::Shared;
use crate::asking::{Ask, Asking, told};
use crate::beside::beside;
use crate::documents::{self, document_id};
use crate::listing::limit;
use crate::openai::with_sources;
use crate::problem::Problem;

const TOOLS: &str = include_str!("tools.json");

/// Characters of a document given at a time.
const LONGEST: usize = 20_000;
/// Hits given where nothing is said, and at most.
const HITS: usize = 10;
const MOST_HITS: usize = 50;

type Context = RequestContext<RoleServer>;

#[derive(Clone)]
pub(super) struct Tools {
    app: Shared,
    /// Who calls, where that is the same for all calls.
    caller: Option<Caller>,
}

/// What a tool gives: words, and the same as data.
struct Given {
    text: String,
    data: Value,
}

impl Tools {
    pub(super) fn over_http(app: Shared) -> Self {
        Self { app, caller: None }
    }

    pub(super) fn of(app: Shared, caller: Caller) -> Self {
        Self { app, caller: Some(caller) }
    }

    /// Over HTTP whoever the request was admitted for, and nobody else.
    fn caller(&self, context: &Context) -> Result<Caller, ErrorData> {
        let of_request = || context.extensions.get::<Parts>()?.extensions.get::<Caller>().cloned();
        let caller = self.caller.clone().or_else(of_request);
        caller.ok_or_else(|| ErrorData::internal_error("the request names no caller", None))
    }

    async fn call(
        &self,
        name: &str,
        arguments: Value,
        context: &Context,
    ) -> Result<Result<Given, Problem>, ErrorData> {
        let caller = self.caller(context)?;
        Ok(match name {
            "ask" => self.ask(&caller, read(arguments)?, context).await,
            "search" => search(&caller, read(arguments)?).await,
            "read_document" => read_document(caller, read(arguments)?).await,
            "list_documents" => list_documents(caller, read(arguments)?).await,
            "explain_answer" => explain_answer(caller, read(arguments)?).await,
            _ => return Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None)),
        })
    }

    async fn ask(
        &self,
        caller: &Caller,
        asked: AskArguments,
        context: &Context,
    ) -> Result<Given, Problem> {
        let AskArguments { question, strategy, history } = asked;
        let ask = Ask { question, strategy, history, ..Ask::default() };
        let (watcher, telling) = progress(context);
        let asking = Asking::begin(&self.app, caller, ask, watcher)?;
        let answered = tokio::select! {
            answered = asking.run() => answered,
            // Dropping the run ends the calls to models.
            () = context.ct.cancelled() => Err(Problem::unfit("the call was cancelled")),
        };
        if let Some(telling) = telling {
            // The run is over, so that its watcher is gone and this ends with the last step.
            let _ = telling.await;
        }
        let answered = answered?;
        let data = serde_json::to_value(&answered).map_err(|e| Problem::internal(&e))?;
        Ok(Given { text: with_sources(&answered.answer), data })
    }
}

/// Tells the agent of every step, where it asked to be told.
fn progress(context: &Context) -> (Option<Watcher>, Option<tokio::task::JoinHandle<()>>) {
    let Some(token) = context.meta.get_progress_token() else { return (None, None) };
    let (send, mut steps) = mpsc::unbounded_channel::<String>();
    let watcher: Watcher = Arc::new(move |event: &Event| {
        if let Some(step) = told(event) {
            // Nobody listens when the call was cancelled.
            let _ = send.send(step);
        }
    });
    let peer = context.peer.clone();
    let telling = tokio::spawn(async move {
        let mut done = 0.0;
        while let Some(step) = steps.recv().await {
            done += 1.0;
            let step = ProgressNotificationParam::new(token.clone(), done).with_message(step);
            if peer.notify_progress(step).await.is_err() {
                return;
            }
        }
    });
    (Some(watcher), Some(telling))
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, ErrorData> {
    serde_json::from_value(arguments)
        .map_err(|e| ErrorData::invalid_params(format!("the arguments do not fit: {e}"), None))
}

async fn search(caller: &Caller, asked: SearchArguments) -> Result<Given, Problem> {
    let engine = caller.workspace.engine();
    engine.check_question(&asked.query)?;
    let query = SearchQuery {
        text: asked.query,
        layer: asked.layer.unwrap_or(Layer::Chunk),
        mode: asked.mode.unwrap_or_default(),
        limit: asked.limit.unwrap_or(HITS).clamp(1, MOST_HITS),
        filter: halma_core::Filter::default(),
    };
    let hits = engine.search(query).await?;
    let lines: Vec<String> = hits
        .iter()
        .map(|hit| {
            let place = format!("{}, characters {}–{}", hit.document, hit.span.start, hit.span.end);
            format!("{} ({place}):\n{}", hit.title, hit.text)
        })
        .collect();
    let text = if lines.is_empty() { "Nothing was found.".into() } else { lines.join("\n\n") };
    Ok(Given { text, data: json!({"hits": hits}) })
}

async fn read_document(caller: Caller, asked: ReadArguments) -> Result<Given, Problem> {
    beside(move || {
        let engine = caller.workspace.engine();
        let node = engine.base().show(&document_id(&engine, &asked.document)?)?.node;
        let length = node.span.end;
        let start = asked.start.unwrap_or(0).min(length);
        let end = asked.end.unwrap_or(length).clamp(start, length).min(start + LONGEST);
        let text: String = node.text.chars().skip(start).take(end - start).collect();
        let data = json!({"document": node.document, "title": node.title, "text": text,
            "start": start, "end": end, "length": length});
        Ok(Given { text, data })
    })
    .await
}

async fn list_documents(caller: Caller, asked: ListArguments) -> Result<Given, Problem> {
    beside(move || {
        let wanted = documents::Wanted {
            query: asked.query,
            state: None,
            limit: limit(asked.limit),
            after: asked.after,
        };
        let listed = documents::list(&caller.workspace, &wanted)?;
        let lines: Vec<String> =
            listed.items.iter().map(|line| format!("{} ({})", line.name, line.title)).collect();
        let data = serde_json::to_value(&listed).map_err(|e| Problem::internal(&e))?;
        Ok(Given { text: lines.join("\n"), data })
    })
    .await
}

async fn explain_answer(caller: Caller, asked: ExplainArguments) -> Result<Given, Problem> {
    beside(move || {
        let kept = caller.workspace.engine().traces().get(&asked.id);
        let kept = kept.ok_or_else(|| Problem::not_found("such answer; it may be forgotten"))?;
        let steps: Vec<String> = kept.body.trace.0.iter().filter_map(told).collect();
        let text = format!("{}\n\n{}", kept.head.question, steps.join("\n"));
        let head = &kept.head;
        let data = json!({"question": head.question, "strategy": head.strategy, "steps": steps,
            "answer": kept.body.answer, "hops": head.hops, "usage": head.usage,
            "elapsed_ms": head.elapsed_ms});
        Ok(Given { text, data })
    })
    .await
}

fn tools() -> Result<Vec<Tool>, ErrorData> {
    serde_json::from_str(TOOLS).map_err(|e| ErrorData::internal_error(e.to_string(), None))
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("halma", env!("CARGO_PKG_VERSION"));
        let can = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(can).with_server_info(about)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let result = match self.call(&request.name, arguments, &context).await? {
            Ok(Given { text, data }) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = Some(data);
                result
            }
            Err(problem) => {
                let hint = problem.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                let said = format!("{}{hint}", problem.detail);
                CallToolResult::error(vec![ContentBlock::text(said)])
            }
        };
        Ok(result.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_described_and_there() {
        let names: Vec<String> =
            tools().unwrap().into_iter().map(|tool| tool.name.into_owned()).collect();
        assert_eq!(names, ["ask", "search", "read_document", "list_documents", "explain_answer"]);
    }
}
