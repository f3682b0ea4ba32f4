//! `halma ask`: answers a question from a knowledge base.
use std::io::Read as _;
use std::sync::Arc;

use anyhow::Context as _;
use halma_core::{Answer, Event, Filter, Trace, Watcher};
use halma_engine::{AskRequest, AskResult, EngineError};
use halma_server::stop_signal;
use parking_lot::Mutex;
use serde_json::json;

use super::search::no_result;
use super::setup::{budget_flags, load_config, open_chosen, set_flags};
use crate::args::{Ask, Common};
use crate::exit::Interrupted;
use crate::view::{self, progress};

pub(crate) async fn run(args: Ask, common: &Common) -> anyhow::Result<()> {
    let mut flags = set_flags(&args.set.set)?;
    flags.extend(budget_flags(&args.budget, "ask"));
    let config = load_config(common, flags)?.config;
    // Without quotes every word is an argument.
    let question = match args.question.join(" ") {
        text if text == "-" => read_stdin()?,
        text => text,
    };
    let metadata = args.fields.filter()?;
    let engine = open_chosen(config, &args.kb)?;
    let feedback = args.no_feedback.then_some(false);
    let filter = Filter { metadata, ..Filter::default() };
    let (line, watcher) = progress::question();
    let paid = Arc::new(Mutex::new(Trace::default()));
    let Ask { effort, strategy, asked_at, answer_style, log, .. } = args;
    let request = AskRequest {
        strategy,
        effort,
        asked_at: asked_at.map(String::from),
        answer_style,
        filter: Some(Filter { feedback, ..filter.clone() }),
        watcher: Some(counted(watcher, &paid)),
        ..AskRequest::new(question)
    };
    let result = tokio::select! {
        result = engine.ask(request) => result,
        () = stop_signal() => {
            line.finish_and_clear();
            return Err(interrupted(&paid).into());
        }
    };
    line.finish_and_clear();
    let result = result?;
    match &result.outcome.answer {
        Ok(answer) if args.json => view::print_json(&as_json(answer, &result)),
        Ok(answer) => {
            view::print(&view::answer::answer(answer, &result, log))?;
            if answer.abstained
                && let Some(reason) = no_result::explain(&engine, &filter)?
            {
                view::note(&reason);
            }
            Ok(())
        }
        Err(_) => result.outcome.answer.map(drop).map_err(|e| EngineError::Run(e).into()),
    }
}

/// A watcher that keeps the calls as well, of which the cost is known when the question is stopped.
fn counted(watcher: Watcher, calls: &Arc<Mutex<Trace>>) -> Watcher {
    let calls = Arc::clone(calls);
    Arc::new(move |event: &Event| {
        if matches!(event, Event::ModelCalled { .. } | Event::ModelCallFailed { .. }) {
            calls.lock().0.push(event.clone());
        }
        watcher(event);
    })
}

/// What is said of a question that the user has stopped: the calls until then.
fn interrupted(calls: &Mutex<Trace>) -> Interrupted {
    let usage = calls.lock().usage();
    if usage.llm_calls == 0 {
        return Interrupted("Interrupted.".into());
    }
    Interrupted(format!("Interrupted after {}.", view::usage(&usage)))
}

fn read_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .context("cannot read the question from standard input")?;
    Ok(text)
}

/// The object that other programs rely on; its keys are documented in `docs/reference/cli.md`.
fn as_json(answer: &Answer, result: &AskResult) -> serde_json::Value {
    let trace = &result.outcome.trace;
    json!({
        "id": result.id,
        "question": result.question,
        "kind": answer.kind,
        "answer": answer.text,
        "full": answer.full,
        "steps": answer.steps,
        "reason": answer.reason,
        "computation": answer.computation,
        "limitation": answer.limitation,
        "passages": answer.passages,
        "confidence": answer.confidence,
        "abstained": answer.abstained,
        "partial": answer.partial,
        "strategy": result.strategy,
        "citations": answer.citations,
        "hops": trace.hops(),
        "usage": trace.usage(),
        "elapsed_ms": result.elapsed_ms,
        "first_word_ms": trace.first_word_ms(),
        "trace_version": halma_core::TRACE_VERSION,
        "trace": trace,
    })
}
