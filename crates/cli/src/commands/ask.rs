//! `halma ask`: one question, answered from a base.
use std::io::Read as _;

use anyhow::Context as _;
use halma_core::{Answer, Question, Trace};
use serde_json::json;

use super::setup::{budget_flags, loaded, open, set_flags};
use crate::args::{Ask, Common};
use crate::view::{self, progress};

pub(crate) async fn run(args: Ask, common: &Common) -> anyhow::Result<()> {
    let mut flags = set_flags(&args.set.set)?;
    flags.extend(budget_flags(&args.budget, "ask"));
    let config = loaded(common, flags)?.config;
    let name = args.strategy.unwrap_or_else(|| config.ask.strategy.clone());
    let text = match args.question.as_str() {
        "-" => from_stdin()?,
        text => text.to_owned(),
    };
    let engine = open(config, &args.kb.kb)?;
    let strategy = engine.strategy(&name)?;
    let question = Question::new(text.trim());
    let (line, watcher) = progress::of_question();
    let asked = engine.ask(&question, strategy.as_ref(), Some(watcher)).await;
    line.finish_and_clear();
    let asked = asked?;
    let trace = asked.outcome.trace;
    let answer = asked.outcome.answer.map_err(halma_engine::EngineError::Run)?;
    if args.json {
        view::say_json(&as_json(&question, &name, &answer, &trace, asked.elapsed_ms))
    } else {
        view::say(&view::answer::answer(&answer, &trace, &name, asked.elapsed_ms))
    }
}

fn from_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read the question from stdin")?;
    Ok(text)
}

/// The object that tools rely on; its keys are documented in `docs/reference/cli.md`.
fn as_json(
    question: &Question,
    strategy: &str,
    answer: &Answer,
    trace: &Trace,
    elapsed_ms: f64,
) -> serde_json::Value {
    json!({
        "question": question.text,
        "answer": answer.text,
        "reason": answer.reason,
        "abstained": answer.abstained,
        "partial": answer.partial,
        "strategy": strategy,
        "citations": answer.citations,
        "hops": trace.hops(),
        "usage": trace.usage(),
        "elapsed_ms": elapsed_ms,
        "trace_version": halma_core::TRACE_VERSION,
        "trace": trace,
    })
}
