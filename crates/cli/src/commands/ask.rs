//! `halma ask`: answers a question from a knowledge base.
use std::io::Read as _;
use std::sync::Arc;

use anyhow::Context as _;
use halma_core::{Answer, Filter};
use halma_engine::{AskRequest, AskResult, EngineError};
use serde_json::json;

use super::setup::{budget_flags, load_config, open_chosen, set_flags};
use crate::args::{Ask, Common};
use crate::view::{self, progress};

pub(crate) async fn run(args: Ask, common: &Common) -> anyhow::Result<()> {
    let mut flags = set_flags(&args.set.set)?;
    flags.extend(budget_flags(&args.budget, "ask"));
    let config = load_config(common, flags)?.config;
    let question = match args.question.as_str() {
        "-" => read_stdin()?,
        text => text.to_owned(),
    };
    let metadata = args.fields.filter()?;
    let engine = Arc::new(open_chosen(config, &args.kb)?);
    let feedback = args.no_feedback.then_some(false);
    let engine = engine.filtered(&Filter { metadata, feedback, ..Filter::default() })?;
    let (line, watcher) = progress::question();
    let Ask { strategy, asked_at, answer_style, log, .. } = args;
    let request = AskRequest {
        strategy,
        asked_at: asked_at.map(String::from),
        answer_style,
        watcher: Some(watcher),
        ..AskRequest::new(question)
    };
    let result = engine.ask(request).await;
    line.finish_and_clear();
    let result = result?;
    match &result.outcome.answer {
        Ok(answer) if args.json => view::print_json(&as_json(answer, &result)),
        Ok(answer) => view::print(&view::answer::answer(answer, &result, log)),
        Err(_) => result.outcome.answer.map(drop).map_err(|e| EngineError::Run(e).into()),
    }
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
        "answer": answer.text,
        "full": answer.full,
        "steps": answer.steps,
        "reason": answer.reason,
        "computation": answer.computation,
        "limitation": answer.limitation,
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
