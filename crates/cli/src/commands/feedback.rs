//! `halma feedback`: what people say of answers, and what becomes knowledge of it.
use halma_engine::{Engine, EngineError, FeedbackQuery, FeedbackRequest, VerifiedFeedback};

use super::setup::{load_config, open_base, open_chosen};
use crate::args::{
    Common, Feedback, FeedbackAccept, FeedbackAdd, FeedbackCommand, FeedbackDecide, FeedbackList,
};
use crate::view::{self, plural};

/// Stands for the latest run.
const LAST: &str = "last";

pub(crate) async fn run(args: Feedback, common: &Common) -> anyhow::Result<()> {
    match args.command {
        FeedbackCommand::Add(args) => add(args, common),
        FeedbackCommand::List(args) => list(args, common),
        FeedbackCommand::Show(args) => {
            let shown = open_base(&args.kb, common)?.base().feedback(&args.id)?;
            print(&shown, args.json)
        }
        FeedbackCommand::Accept(args) => accept(args, common).await,
        FeedbackCommand::Reject(args) => {
            let (engine, decision) = decision(&args, common)?;
            print(&engine.base().reject_feedback(&args.id, &decision)?, args.json)
        }
        FeedbackCommand::Undo(args) => {
            let (engine, decision) = decision(&args, common)?;
            print(&engine.base().undo_feedback(&args.id, &decision)?, args.json)
        }
        FeedbackCommand::Delete(args) => {
            open_base(&args.kb, common)?.base().delete_feedback(&args.id)?;
            view::print(&format!("Deleted feedback {} with what was accepted of it.", args.id))
        }
    }
}

fn add(args: FeedbackAdd, common: &Common) -> anyhow::Result<()> {
    let engine = open_base(&args.kb, common)?;
    let FeedbackAdd { run, verdict, correction, note, json, .. } = args;
    let run = if run == LAST { latest(&engine)? } else { run };
    let request = FeedbackRequest { run, verdict, correction, note, key: None };
    print(&engine.give_feedback(request)?, json)
}

fn latest(engine: &Engine) -> Result<String, EngineError> {
    let latest = engine.traces().list(None, 1, |_| true).pop();
    latest.map(|head| head.id).ok_or_else(|| EngineError::NoRun { id: LAST.to_owned() })
}

fn list(args: FeedbackList, common: &Common) -> anyhow::Result<()> {
    let engine = open_base(&args.kb, common)?;
    let listed = engine.base().list_feedback(&FeedbackQuery {
        after: args.after,
        limit: args.top as usize,
        by: args.by,
        given_by: None,
        about: args.about,
        run: args.run,
        verdict: args.verdict,
        state: args.state,
        contradicted: args.contradicted.then_some(true),
    })?;
    if args.json {
        return view::print_json(&listed);
    }
    if listed.is_empty() {
        return view::print("No feedback.");
    }
    let lines: Vec<String> = listed.iter().map(view::feedback::line).collect();
    view::print(&lines.join("\n"))
}

async fn accept(args: FeedbackAccept, common: &Common) -> anyhow::Result<()> {
    let (engine, decision) = decision(&args.decide, common)?;
    let FeedbackDecide { id, json, .. } = args.decide;
    if !args.verify {
        let decision = halma_engine::Decision { despite: args.despite, ..decision };
        return print(&engine.accept_feedback(&id, decision).await?, json);
    }
    let verified = engine.verify_feedback(&id, None).await?;
    if json {
        return view::print_json(&verified);
    }
    let VerifiedFeedback { feedback, accepted, deferred, usage } = &verified;
    let mut lines = vec![view::feedback::full(feedback)];
    lines.extend(deferred.iter().map(|one| format!("Held back {}: {}", one.candidate, one.reason)));
    lines.push(format!(
        "{} accepted, {} held back; {}, ${:.4}.",
        accepted.len(),
        deferred.len(),
        plural(usage.llm_calls, "call", "calls"),
        usage.usd
    ));
    view::print(&lines.join("\n"))
}

fn decision(
    args: &FeedbackDecide,
    common: &Common,
) -> anyhow::Result<(Engine, halma_engine::Decision)> {
    // What is accepted is embedded, and with `--verify` a model is asked.
    let engine = open_chosen(load_config(common, vec![])?.config, &args.kb)?;
    let decision = engine.decision(args.candidate.clone(), None);
    Ok((engine, decision))
}

fn print(feedback: &halma_engine::Feedback, json: bool) -> anyhow::Result<()> {
    if json { view::print_json(feedback) } else { view::print(&view::feedback::full(feedback)) }
}
