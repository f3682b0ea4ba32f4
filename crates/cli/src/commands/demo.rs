//! `halma demo`: a small library, indexed and asked.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use console::style;
use halma_core::{ConfigError, Outcome, Question, Strategy};
use halma_engine::{Engine, IndexOptions};
use include_dir::{Dir, include_dir};
use serde::Deserialize;

use super::index::summary;
use super::setup::{create_or_open, loaded};
use crate::args::{Common, Demo};
use crate::view::{self, duration, progress};

static LIBRARY: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../demo/library");
const QUESTIONS: &str = include_str!("../../../../demo/questions.jsonl");
const STRATEGY: &str = "kar3";

/// A question of the demo with its kind (factual, bridging, comparative, …).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DemoQuestion {
    id: String,
    kind: String,
    question: String,
    /// Accepted answers; none where there is no single right one.
    answers: Option<Vec<String>>,
    needs: Needs,
    /// Why it needs what it needs.
    why: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Needs {
    Offline,
    Model,
}

#[derive(Default)]
struct Tally {
    asked: usize,
    right: usize,
    checkable: usize,
    failed: usize,
    skipped: usize,
}

pub(crate) async fn run(args: &Demo, common: &Common) -> anyhow::Result<()> {
    let config = loaded(common, vec![])?.config;
    let has_model = !config.models.is_empty();
    let library = args.dir.join("library");
    write_library(&library)?;
    let base = args.dir.join("base");
    let engine = create_or_open(config, &base)?;
    view::say(&heading("A library of notes on FDA-approved biosimilars"))?;
    let report = engine
        .index(std::slice::from_ref(&library), &IndexOptions::default(), progress::of_index())
        .await?;
    view::say(&summary(&report, &base))?;
    let strategy = engine.strategy(STRATEGY)?;
    if let Some(text) = &args.ask {
        let asked = engine.ask(&Question::new(text.trim()), strategy.as_ref(), None).await?;
        return show(&asked.outcome, asked.elapsed_ms);
    }
    let mut tally = Tally::default();
    for question in questions()? {
        one(&engine, &strategy, &question, has_model, args.smoke, &mut tally).await?;
    }
    closing(&tally, &base, has_model)?;
    if tally.failed > 0 || tally.asked == 0 {
        anyhow::bail!("{} of {} questions did not run", tally.failed, tally.asked);
    }
    Ok(())
}

fn questions() -> anyhow::Result<Vec<DemoQuestion>> {
    let lines = QUESTIONS.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).context("a demo question is malformed")).collect()
}

/// Puts the sample library on disk, so that its documents can be opened where citations point.
pub(crate) fn write_library(into: &Path) -> anyhow::Result<()> {
    let fail = |path: &PathBuf| ConfigError {
        file: path.display().to_string(),
        key: "--dir".into(),
        reason: "the demo's library cannot be written there".into(),
        hint: "name a folder you can write to with --dir".into(),
    };
    let mut open = vec![&LIBRARY];
    while let Some(dir) = open.pop() {
        for file in dir.files() {
            let path = into.join(file.path());
            let parent = path.parent().unwrap_or(into);
            let written = std::fs::create_dir_all(parent)
                .and_then(|()| std::fs::write(&path, file.contents()));
            written.with_context(|| fail(&path))?;
        }
        open.extend(dir.dirs());
    }
    Ok(())
}

async fn one(
    engine: &Engine,
    strategy: &Arc<dyn Strategy>,
    question: &DemoQuestion,
    has_model: bool,
    smoke: bool,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let DemoQuestion { id, kind, question: text, answers, needs, why } = question;
    if !smoke {
        view::say(&heading(&format!("{kind}: {text}")))?;
    }
    if *needs == Needs::Model && !has_model {
        tally.skipped += 1;
        let told = format!("needs a model: {why}");
        let line = if smoke { format!("{id:<4} {kind}: {told}") } else { told };
        return view::say(&style(line).dim().to_string());
    }
    let asked = engine.ask(&Question::new(text.as_str()), strategy.as_ref(), None).await?;
    tally.asked += 1;
    let Ok(answer) = &asked.outcome.answer else {
        tally.failed += 1;
        return show(&asked.outcome, asked.elapsed_ms);
    };
    let right = answers.as_ref().map(|wanted| is_right(&answer.text, wanted));
    tally.checkable += usize::from(right.is_some());
    tally.right += usize::from(right == Some(true));
    let verdict = match right {
        Some(true) => style("right".to_owned()).green(),
        Some(false) => {
            style(format!("expected {}", answers.iter().flatten().next().map_or("", |e| e))).red()
        }
        None => style("no single right answer".to_owned()).dim(),
    };
    if smoke {
        let said = if answer.abstained { "(abstains)" } else { &answer.text };
        let took = duration(asked.elapsed_ms);
        return view::say(&format!("{id:<4} {kind}: {said} [{verdict}, {took}]"));
    }
    show(&asked.outcome, asked.elapsed_ms)?;
    view::say(&verdict.to_string())
}

fn show(outcome: &Outcome, elapsed_ms: f64) -> anyhow::Result<()> {
    match &outcome.answer {
        Ok(answer) => {
            view::say(&view::answer::answer(answer, &outcome.trace, STRATEGY, elapsed_ms))
        }
        Err(error) => view::say(&format!("{} {error}", style("failed:").red().bold())),
    }
}

/// Right when it is one of the accepted answers, or names one among few other words.
fn is_right(answer: &str, accepted: &[String]) -> bool {
    let words = |text: &str| halma_core::text::words(text);
    let said = words(answer);
    accepted.iter().map(|wanted| words(wanted)).any(|wanted| {
        !wanted.is_empty()
            && said.len() <= wanted.len() + 6
            && said.windows(wanted.len()).any(|window| window == wanted)
    })
}

fn closing(tally: &Tally, base: &Path, has_model: bool) -> anyhow::Result<()> {
    view::say(&heading("What you have seen"))?;
    view::say(&format!(
        "{} questions answered, {} of {} with a known answer right; {} left out because they need \
         a model.",
        tally.asked, tally.right, tally.checkable, tally.skipped
    ))?;
    if !has_model {
        view::say(
            "The offline model extracts words from the documents: it can find, follow and compare \
             facts, not count, summarise, forecast or invent. Configure a model with `halma init`.",
        )?;
    }
    view::say(&format!(
        "Ask your own:  halma ask --kb {} \"Which company makes Cyltezo?\"\nYour documents: halma \
         index FOLDER",
        base.display()
    ))
}

fn heading(text: &str) -> String {
    format!("\n{}", style(text).bold().underlined())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_questions_are_well_formed() {
        let questions = questions().unwrap();
        assert_eq!(questions.len(), 12);
        assert!(questions.iter().filter(|q| q.needs == Needs::Offline).count() >= 6);
        assert!(questions.iter().all(|q| q.needs == Needs::Model || q.answers.is_some()));
    }

    #[test]
    fn an_answer_is_right_when_it_names_the_expected_one() {
        let wanted = ["March 6, 2015".to_owned(), "2015-03-06".to_owned()];
        assert!(is_right("on March 6, 2015", &wanted));
        assert!(!is_right("March 2015", &wanted));
        assert!(!is_right("", &wanted));
    }
}
