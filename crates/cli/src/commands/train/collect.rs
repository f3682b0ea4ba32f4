//! `halma train collect`: trajectories of a decomposer.
use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use halma_engine::Engine;
use halma_eval::train::{CollectionSummary, Collector, Stopped};
use halma_eval::{SystemUnderTest, recognise};

use super::from_feedback;
use crate::args::{Common, TrainCollect};
use crate::commands::eval::session::{Questions, Session, default_folder, print_forecasts};
use crate::view::{self, progress};

/// N of Algorithm 2 (PIKE-RAG, Section 6.4), where the configuration does not say otherwise.
const HOPS: &str = "10";

pub(super) async fn run(args: TrainCollect, common: &Common) -> anyhow::Result<()> {
    let TrainCollect { file, questions, out, rounds, right, judge, estimate, probe, .. } = args;
    make_parent(&out)?;
    let file = match file {
        Some(file) => file,
        None => from_feedback::write_questions(questions.kb.as_deref(), &out, common)?,
    };
    let format = questions.data_format.map_or_else(|| recognise(&file), Ok)?;
    let seed = questions.chosen.seed;
    let how = questions.into_how(judge);
    let questions = Questions::new(&file, format);
    let session = if estimate {
        Session::open_to_estimate(questions, &how, common, default_folder).await?
    } else {
        Some(Session::open(questions, &how, common, default_folder).await?)
    };
    let Some(session) = session else { return Ok(()) };
    let Session { engine, data, runner, bench, .. } = &session;
    let collector = Collector {
        rounds: systems(engine, useful(engine, rounds), seed)?,
        bench: bench.clone(),
        budget: runner.budget.clone(),
        concurrency: runner.concurrency,
        least: right,
        settings: BTreeMap::new(),
    };
    if estimate {
        let forecast =
            collector.forecast(data, &out, (probe.into(), &progress::evaluation())).await?;
        return print_forecasts(&[forecast], runner, how.json);
    }
    let summary = collector.run(data, &out, &progress::evaluation()).await?;
    if how.json {
        view::print_json(&summary)?;
    } else {
        view::print(&lines(&summary, &out))?;
    }
    for warning in summary.warnings() {
        view::warn(&warning);
    }
    match &summary.stopped {
        Some(Stopped::Failing { reason, .. }) => anyhow::bail!("no round succeeds: {reason}"),
        _ => Ok(()),
    }
}

fn make_parent(out: &Path) -> anyhow::Result<()> {
    let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: the folder cannot be created", folder.display()))
}

/// Without cosines nothing is near but not near enough, so that the pool to sample from stays empty
/// and all sampled rounds are the same.
fn useful(engine: &Engine, rounds: u16) -> u16 {
    if engine.embedder().is_some() || rounds <= 2 {
        return rounds;
    }
    view::warn(
        "without an embedder no context can be sampled: at most 2 rounds are made, the second with \
         more candidates; `halma doctor --fetch` gets the local embedder",
    );
    2
}

/// The first round is the method without sampling, so that the share it solves is known.
fn systems(engine: &Engine, rounds: u16, seed: u64) -> anyhow::Result<Vec<SystemUnderTest>> {
    let configured = engine.config().strategy.get("kar3");
    let mut plain = BTreeMap::from([("sub_answers".to_owned(), "true".to_owned())]);
    if !configured.is_some_and(|table| table.contains_key("n")) {
        plain.insert("n".into(), HOPS.into());
    }
    let mut systems = vec![engine.system_under_test("kar3", "first".into(), plain.clone())?];
    for round in 1..u64::from(rounds) {
        let mut point = plain.clone();
        point.insert("sample".into(), "true".into());
        point.insert("sample_seed".into(), (seed + round - 1).to_string());
        systems.push(engine.system_under_test("kar3", "sampling".into(), point)?);
    }
    Ok(systems)
}

fn lines(summary: &CollectionSummary, out: &Path) -> String {
    let mut lines = summary.lines();
    let out = out.display();
    lines.push(format!("Rounds: {out}; traces: {out}.traces"));
    if summary.solved > 0 {
        lines.push(format!("Next: halma train pairs {out} --format trl --kind sft --out DIR"));
    }
    lines.join("\n")
}
