//! The tools. An error in a tool is the tool's result, with a hint for the agent.
use std::sync::Arc;

use axum::http::request::Parts;
use halma_core::{Event, Hit, Mode, PassageQuery, Watcher, Which};
use halma_engine::{SearchRequest, StoredTrace, TimelineQuery};
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
    ExplainArguments, FeedbackArguments, GrepArguments, ReadArguments, SearchArguments,
    TimelineArguments,
};
use crate::access::{Caller, run_queued};
use crate::app::Shared;
use crate::asking::Asking;
use crate::documents::{self, DocumentQuery, document_id};
use crate::json::from_json;
use crate::limits::bounds;
use crate::openai::with_sources;
use crate::pagination::{limit, limit_of};
use crate::problem::Problem;
use crate::routes::feedback::{self, GiveFeedback};

const TOOLS: &str = include_str!("tools.json");
/// The argument `filter` of more than one tool.
const FILTER: &str = include_str!("filter.json");

/// Characters of a document in one result at most.
const MAX_CHARACTERS: usize = 20_000;
/// Hits of one result by default, and at most.
const DEFAULT_HITS: usize = 10;
const MAX_HITS: usize = 50;

/// Steps of a run that wait to be sent to the agent.
const MAX_WAITING: usize = 256;

type Context = RequestContext<RoleServer>;

#[derive(Clone)]
pub(super) struct Tools {
    pub(super) app: Shared,
    /// The caller, where it is the same for all calls; over HTTP it is that of the request.
    pub(super) caller: Option<Caller>,
}

/// The result of a tool: text, and the same as data.
struct ToolOutput {
    text: String,
    data: Value,
}

impl Tools {
    /// Over HTTP, the caller that the request was authorized for.
    fn caller(&self, context: &Context) -> Result<Caller, ErrorData> {
        let from_request =
            || context.extensions.get::<Parts>()?.extensions.get::<Caller>().cloned();
        let caller = self.caller.clone().or_else(from_request);
        caller.ok_or_else(|| ErrorData::internal_error("the request has no caller", None))
    }

    async fn call(
        &self,
        name: &str,
        mut arguments: Value,
        context: &Context,
    ) -> Result<Result<ToolOutput, Problem>, ErrorData> {
        let caller = self.caller(context)?;
        let missing = || ErrorData::invalid_params(format!("there is no tool `{name}`"), None);
        let tool = tools()?.into_iter().find(|tool| tool.name == name).ok_or_else(missing)?;
        read_texts(&mut arguments, &json!(tool.input_schema));
        Ok(match name {
            "ask" => self.ask(&caller, arguments, context).await,
            "search" => search(&caller, arguments).await,
            "grep" => grep(caller, arguments).await,
            "read_document" => read_document(caller, arguments).await,
            "list_documents" => list_documents(caller, arguments).await,
            "entity_timeline" => entity_timeline(caller, arguments).await,
            "explain_answer" => explain_answer(caller, arguments).await,
            "give_feedback" => give_feedback(caller, arguments).await,
            _ => return Err(missing()),
        })
    }

    async fn ask(
        &self,
        caller: &Caller,
        arguments: Value,
        context: &Context,
    ) -> Result<ToolOutput, Problem> {
        let progress = Progress::start(context);
        let watcher = progress.as_ref().map(|progress| Arc::clone(&progress.watcher));
        let asking = Asking::begin(&self.app, caller, read(arguments)?, watcher).await?;
        let response = tokio::select! {
            response = asking.run() => response,
            // Dropping the run ends its model calls.
            () = context.ct.cancelled() => Err(Problem::unfit("the call was cancelled")),
        };
        if let Some(progress) = progress {
            progress.finish().await;
        }
        let response = response?;
        let data = serde_json::to_value(&response).map_err(|e| Problem::internal(&e))?;
        Ok(ToolOutput { text: with_sources(&response.answer), data })
    }
}

/// Notifications about every step of a run.
struct Progress {
    watcher: Watcher,
    task: tokio::task::JoinHandle<()>,
}

impl Progress {
    /// `None` where the agent has not requested notifications.
    fn start(context: &Context) -> Option<Self> {
        let token = context.meta.get_progress_token()?;
        let (watcher, mut steps) = described_steps();
        let peer = context.peer.clone();
        let task = tokio::spawn(async move {
            let mut done = 0.0;
            while let Some(step) = steps.recv().await {
                done += 1.0;
                let step = ProgressNotificationParam::new(token.clone(), done).with_message(step);
                if peer.notify_progress(step).await.is_err() {
                    return;
                }
            }
        });
        Some(Self { watcher, task })
    }

    /// Waits until all steps have been sent. The run must have ended, so that no other watcher
    /// keeps the channel open.
    async fn finish(self) {
        drop(self.watcher);
        let _ = self.task.await;
    }
}

/// Receives what a run does, in words. A step that finds the queue full is left out: an agent that
/// reads slowly sees fewer of them.
fn described_steps() -> (Watcher, mpsc::Receiver<String>) {
    let (sender, steps) = mpsc::channel(MAX_WAITING);
    let watcher: Watcher = Arc::new(move |event: &Event| {
        if let Some(step) = event.describe() {
            // The receiver is gone when the call was cancelled.
            let _ = sender.try_send(step);
        }
    });
    (watcher, steps)
}

/// Arguments of a tool. Those that do not fit are a failure of the tool, which models read and
/// correct, and not one of the protocol, which ends the run of many agents.
fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Problem> {
    from_json(arguments).map_err(|reason| {
        Problem::unfit(reason).hint("the tool's input schema lists its arguments")
    })
}

/// Models write numbers, lists and objects as texts, too: where the schema names another type, such
/// a text is what it holds.
fn read_texts(value: &mut Value, schema: &Value) {
    let is_other = |kind: &str| kind != "string";
    if let Value::String(text) = &value
        && schema["type"].as_str().is_some_and(is_other)
        && let Ok(read) = serde_json::from_str(text)
    {
        *value = read;
    }
    match value {
        Value::Object(fields) => fields
            .iter_mut()
            .for_each(|(name, field)| read_texts(field, &schema["properties"][name.as_str()])),
        Value::Array(items) => items.iter_mut().for_each(|item| read_texts(item, &schema["items"])),
        _ => {}
    }
}

async fn search(caller: &Caller, arguments: Value) -> Result<ToolOutput, Problem> {
    let SearchArguments { query: text, layer, mode, filter, limit } = read(arguments)?;
    let engine = caller.workspace.engine();
    engine.check_text("query", &text)?;
    let limit = Some(limit_of(limit, (DEFAULT_HITS, MAX_HITS))?);
    if let Some(filter) = &filter {
        bounds::check_filter(filter)?;
    }
    let request = SearchRequest { text, layer, mode, limit, filter };
    let hits = caller.workspace.searches.run_async(engine.search(request)).await??;
    Ok(ToolOutput { text: described(&hits), data: json!({"hits": hits}) })
}

/// Passages with where they stand.
fn described(hits: &[Hit]) -> String {
    let lines: Vec<String> = hits
        .iter()
        .map(|hit| {
            let location =
                format!("{}, characters {}–{}", hit.document, hit.span.start, hit.span.end);
            format!("{} ({location}):\n{}", hit.title, hit.text)
        })
        .collect();
    if lines.is_empty() { "No results.".into() } else { lines.join("\n\n") }
}

async fn grep(caller: Caller, arguments: Value) -> Result<ToolOutput, Problem> {
    let GrepArguments { expression, filter, limit } = read(arguments)?;
    let limit = limit_of(limit, (DEFAULT_HITS, MAX_HITS))?;
    let filter = filter.unwrap_or_default();
    bounds::check_filter(&filter)?;
    let query = PassageQuery { which: Which::Matching(expression), limit, filter };
    run_queued(caller, move |caller| {
        let matching = caller.workspace.engine().base().find_passages(&query)?;
        let hits: Vec<Hit> = matching.hits.into_iter().map(|(hit, _)| hit).collect();
        let limitation = matching.limitation.unwrap_or_default();
        let text =
            format!("{}\n\n{} passages match {limitation}", described(&hits), matching.total);
        let data = json!({"hits": hits, "total": matching.total, "limitation": limitation});
        Ok(ToolOutput { text, data })
    })
    .await
}

async fn read_document(caller: Caller, arguments: Value) -> Result<ToolOutput, Problem> {
    let arguments: ReadArguments = read(arguments)?;
    bounds::name("document", Some(&arguments.document))?;
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        let node =
            engine.base().inspector().show(&document_id(&engine, &arguments.document)?)?.node;
        let length = node.span.end;
        let start = arguments.start.unwrap_or(0).min(length);
        let end = arguments.end.unwrap_or(length).clamp(start, length).min(start + MAX_CHARACTERS);
        let text: String = node.text.chars().skip(start).take(end - start).collect();
        let data = json!({"document": node.document, "title": node.title, "text": text,
            "start": start, "end": end, "length": length});
        Ok(ToolOutput { text, data })
    })
    .await
}

async fn list_documents(caller: Caller, arguments: Value) -> Result<ToolOutput, Problem> {
    let query: DocumentQuery = read(arguments)?;
    run_queued(caller, move |caller| {
        let listed = documents::list(&caller.workspace, &query)?;
        let lines: Vec<String> =
            listed.items.iter().map(|line| format!("{} ({})", line.name, line.title)).collect();
        let data = serde_json::to_value(&listed).map_err(|e| Problem::internal(&e))?;
        Ok(ToolOutput { text: lines.join("\n"), data })
    })
    .await
}

async fn entity_timeline(caller: Caller, arguments: Value) -> Result<ToolOutput, Problem> {
    let arguments: TimelineArguments = read(arguments)?;
    bounds::name("entity", Some(&arguments.entity))?;
    let filter = arguments.filter.unwrap_or_default();
    bounds::check_filter(&filter)?;
    let query = TimelineQuery { entity: arguments.entity, filter, limit: limit(arguments.limit)? };
    run_queued(caller, move |caller| {
        let timeline = caller.workspace.engine().base().inspector().timeline(&query)?;
        let lines: Vec<String> = timeline
            .events
            .iter()
            .map(|event| format!("{}: {} ({})", event.date, event.text, event.document))
            .collect();
        let text = if lines.is_empty() { "No dated events.".into() } else { lines.join("\n") };
        let data = serde_json::to_value(&timeline).map_err(|e| Problem::internal(&e))?;
        Ok(ToolOutput { text, data })
    })
    .await
}

async fn explain_answer(caller: Caller, arguments: Value) -> Result<ToolOutput, Problem> {
    let arguments: ExplainArguments = read(arguments)?;
    run_queued(caller, move |caller| {
        let missing = || Problem::not_found("such answer; its trace may have been deleted");
        let StoredTrace { head, body } = caller.trace(&arguments.id).ok_or_else(missing)?;
        let steps: Vec<String> = body.trace.0.iter().filter_map(Event::describe).collect();
        let text = format!("{}\n\n{}", head.question, steps.join("\n"));
        let data = json!({"question": head.question, "strategy": head.strategy, "steps": steps,
            "answer": body.answer, "hops": head.hops, "usage": head.usage,
            "elapsed_ms": head.elapsed_ms});
        Ok(ToolOutput { text, data })
    })
    .await
}

async fn give_feedback(caller: Caller, arguments: Value) -> Result<ToolOutput, Problem> {
    let FeedbackArguments { id, verdict, correction, note } = read(arguments)?;
    let request = GiveFeedback { run: id, verdict, correction, note };
    run_queued(caller, move |caller| {
        let given = feedback::give(&caller, request)?;
        let text =
            format!("Stored as feedback {}. It changes nothing until it is accepted.", given.id);
        let data = serde_json::to_value(&given).map_err(|e| Problem::internal(&e))?;
        Ok(ToolOutput { text, data })
    })
    .await
}

fn tools() -> Result<Vec<Tool>, ErrorData> {
    let described = |mode: Mode| format!("`{}`: {}", mode.name(), mode.description());
    let text = TOOLS
        .replace("\"$MODES\"", &json!(Mode::ALL.map(Mode::name)).to_string())
        .replace("$MODE_DESCRIPTIONS", &Mode::ALL.map(described).join("; "))
        .replace("$DEFAULT_MODE", Mode::default().name())
        .replace("\"$FILTER\"", FILTER);
    serde_json::from_str(&text).map_err(|e| ErrorData::internal_error(e.to_string(), None))
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let info = Implementation::new("halma", env!("CARGO_PKG_VERSION"));
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(info)
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
            Ok(ToolOutput { text, data }) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = Some(data);
                result
            }
            Err(problem) => {
                let hint = problem.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                let message = format!("{}{hint}", problem.detail);
                CallToolResult::error(vec![ContentBlock::text(message)])
            }
        };
        Ok(result.into())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use halma_engine::AskRequest;

    use super::*;

    #[test]
    fn steps_that_no_one_takes_fill_a_bounded_queue() {
        let (watcher, mut steps) = described_steps();
        for n in 0..3 * MAX_WAITING {
            watcher(&Event::Note { span: 0, note: n.to_string() });
        }
        let taken = std::iter::from_fn(|| steps.try_recv().ok()).count();
        assert_eq!(taken, MAX_WAITING);
    }

    /// The fields of a request type, as its error for an unknown one lists them.
    fn fields<T: DeserializeOwned>() -> BTreeSet<String> {
        let error = serde_json::from_value::<T>(json!({"?": 1})).err().unwrap().to_string();
        let (_, names) = error.split_once("expected ").unwrap();
        names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn each_schema_has_the_fields_of_its_request_type() {
        // Answers over MCP are never streamed, whatever this field says.
        let mut ask = fields::<AskRequest>();
        assert!(ask.remove("stream"));
        let expected = [
            ask,
            fields::<SearchArguments>(),
            fields::<GrepArguments>(),
            fields::<ReadArguments>(),
            fields::<DocumentQuery>(),
            fields::<TimelineArguments>(),
            fields::<ExplainArguments>(),
            fields::<FeedbackArguments>(),
        ];
        for (tool, fields) in tools().unwrap().iter().zip(expected) {
            let properties = tool.input_schema["properties"].as_object().unwrap().keys();
            assert_eq!(properties.cloned().collect::<BTreeSet<_>>(), fields, "{}", tool.name);
        }
    }

    #[test]
    fn numbers_and_lists_that_a_model_writes_as_texts_are_read() {
        let fitted = |name: &str, mut arguments: Value| {
            let tool = tools().unwrap().into_iter().find(|tool| tool.name == name).unwrap();
            read_texts(&mut arguments, &json!(tool.input_schema));
            arguments
        };
        let filter = json!({"feedback": "true", "documents": "[\"a.md\"]", "since": "2023"});
        let read = json!({"feedback": true, "documents": ["a.md"], "since": "2023"});
        for (name, arguments, expected) in [
            ("search", json!({"query": "3", "limit": "3"}), json!({"query": "3", "limit": 3})),
            ("search", json!({"limit": "3.5"}), json!({"limit": 3.5})),
            ("search", json!({"limit": "many"}), json!({"limit": "many"})),
            ("search", json!({"filter": filter}), json!({"filter": read})),
            ("search", json!({"filter": filter.to_string()}), json!({"filter": read})),
            ("ask", json!({"budget": "{\"usd\": \"0.5\"}"}), json!({"budget": {"usd": 0.5}})),
            (
                "ask",
                json!({"history": "null", "options": ["1"]}),
                json!({"history": null, "options": ["1"]}),
            ),
            (
                "read_document",
                json!({"start": "0", "document": "0"}),
                json!({"start": 0, "document": "0"}),
            ),
        ] {
            assert_eq!(fitted(name, arguments), expected);
        }
    }

    #[test]
    fn every_tool_is_described() {
        let names: Vec<String> =
            tools().unwrap().into_iter().map(|tool| tool.name.into_owned()).collect();
        assert_eq!(
            names,
            [
                "ask",
                "search",
                "grep",
                "read_document",
                "list_documents",
                "entity_timeline",
                "explain_answer",
                "give_feedback"
            ]
        );
    }
}
