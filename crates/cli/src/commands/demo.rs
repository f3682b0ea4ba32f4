//! `halma demo`: indexes a small sample library and asks questions about it.
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use console::style;
use halma_core::ConfigError;
use halma_engine::{AskRequest, AskResult, Engine, IndexOptions};
use halma_server::Suggestion;
use include_dir::{Dir, include_dir};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::setup::{create_or_open, load_config};
use crate::args::{Common, Demo};
use crate::view::index_report::summary;
use crate::view::{self, duration, progress};

static LIBRARY: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../demo/library");
const QUESTIONS: &str = include_str!("../../../../demo/questions.jsonl");
/// Questions as strangers type them; those of the library are asked as well.
const EVERYDAY: &str = include_str!("../../../../demo/everyday/questions.jsonl");
const STRATEGY: &str = "kar3";
/// For questions about the future.
const FORECASTING: &str = "pike_l3";

/// A question of the demo with its kind (factual, bridging, comparative, …).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DemoQuestion {
    id: String,
    kind: String,
    question: String,
    /// Accepted answers; `None` if there is no single correct one.
    answers: Option<Vec<String>>,
    needs: Needs,
    /// Why it needs a model, or does not.
    why: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Needs {
    Offline,
    Model,
}

/// An everyday question (`demo/everyday`). Without accepted answers, the documents do not say it.
#[derive(Deserialize)]
struct EverydayQuestion {
    folder: String,
    question: String,
    answers: Vec<String>,
}

#[derive(Default)]
struct Everyday {
    right: usize,
    wrong: usize,
    unanswered: usize,
}

#[derive(Default)]
struct Tally {
    answered: usize,
    correct: usize,
    checkable: usize,
    failed: usize,
    skipped: usize,
}

pub(crate) async fn run(args: &Demo, common: &Common) -> anyhow::Result<()> {
    let config = load_config(common, vec![])?.config;
    let has_model = !config.models.is_empty();
    let library = args.dir.join("library");
    write_library(&library)?;
    let base = args.dir.join("base");
    let engine = create_or_open(config, &base)?;
    view::print(&heading("A library of notes on FDA-approved biosimilars"))?;
    let report = engine
        .index(std::slice::from_ref(&library), &IndexOptions::default(), progress::index())
        .await?;
    view::print(&summary(&report, &base.display().to_string()))?;
    if let Some(text) = &args.ask {
        return print_result(&engine.ask(request(text, "")).await?);
    }
    let mut session = Session { engine, has_model, smoke: args.smoke, tally: Tally::default() };
    for question in questions()? {
        session.ask(&question).await?;
    }
    let everyday = session.ask_everyday().await?;
    let tally = session.tally;
    closing(&tally, &everyday, (&base, has_model))?;
    if tally.failed > 0 || tally.answered == 0 {
        anyhow::bail!("{} of {} questions did not run", tally.failed, tally.answered);
    }
    Ok(())
}

fn questions() -> anyhow::Result<Vec<DemoQuestion>> {
    read(QUESTIONS)
}

/// Everyday questions about the sample library.
fn everyday_questions() -> anyhow::Result<Vec<EverydayQuestion>> {
    let mut questions: Vec<EverydayQuestion> = read(EVERYDAY)?;
    questions.retain(|question| question.folder == "demo/library");
    Ok(questions)
}

fn read<T: DeserializeOwned>(text: &str) -> anyhow::Result<Vec<T>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).context("a demo question is malformed")).collect()
}

/// Questions that the web UI offers over the sample library: one of each kind of which the offline
/// model is sure, with the strategy under which a test found its answer right.
pub(crate) fn suggestions() -> anyhow::Result<Vec<Suggestion>> {
    let mut kinds = HashSet::new();
    let offline =
        questions()?.into_iter().filter(|question| question.needs == Needs::Offline).rev();
    let sure = |question: &DemoQuestion| ["factual", "predictive"].contains(&&*question.kind);
    let chosen = offline.filter(sure).filter(|question| kinds.insert(question.kind.clone()));
    let suggest = |question: DemoQuestion| Suggestion {
        strategy: Some(strategy_for(&question.kind).into()),
        question: question.question,
    };
    Ok(chosen.map(suggest).collect())
}

/// Writes the sample library to disk, so that cited documents can be opened.
pub(crate) fn write_library(into: &Path) -> anyhow::Result<()> {
    let fail = |path: &PathBuf| ConfigError {
        file: path.display().to_string(),
        key: "--dir".into(),
        reason: "the sample library cannot be written there".into(),
        hint: "name a writable folder with --dir".into(),
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

fn strategy_for(kind: &str) -> &'static str {
    if kind == "predictive" { FORECASTING } else { STRATEGY }
}

fn request(question: &str, kind: &str) -> AskRequest {
    AskRequest { strategy: Some(strategy_for(kind).into()), ..AskRequest::new(question) }
}

struct Session {
    engine: Engine,
    has_model: bool,
    /// One line per question.
    smoke: bool,
    tally: Tally,
}

impl Session {
    async fn ask(&mut self, question: &DemoQuestion) -> anyhow::Result<()> {
        let DemoQuestion { id, kind, question: text, answers, needs, why } = question;
        if !self.smoke {
            view::print(&heading(&format!("{kind}: {text}")))?;
        }
        if *needs == Needs::Model && !self.has_model {
            self.tally.skipped += 1;
            let reason = format!("needs a model: {why}");
            let line = if self.smoke { format!("{id:<4} {kind}: {reason}") } else { reason };
            return view::print(&style(line).dim().to_string());
        }
        let result = self.engine.ask(request(text, kind)).await?;
        self.tally.answered += 1;
        let Ok(answer) = &result.outcome.answer else {
            self.tally.failed += 1;
            return print_result(&result);
        };
        let correct = answers.as_ref().map(|accepted| is_correct(&answer.text, accepted));
        self.tally.checkable += usize::from(correct.is_some());
        self.tally.correct += usize::from(correct == Some(true));
        let verdict = verdict(correct, answers.as_deref().unwrap_or_default());
        if self.smoke {
            let text = if answer.abstained { "(abstains)" } else { &answer.text };
            let took = duration(result.elapsed_ms);
            return view::print(&format!("{id:<4} {kind}: {text} [{verdict}, {took}]"));
        }
        print_result(&result)?;
        view::print(&verdict)
    }

    /// Asks the everyday questions with the default strategy and counts what a person would get. A
    /// language model is not paid for that.
    async fn ask_everyday(&self) -> anyhow::Result<Everyday> {
        let mut everyday = Everyday::default();
        if self.has_model {
            return Ok(everyday);
        }
        for EverydayQuestion { question, answers, .. } in everyday_questions()? {
            let answer = self.engine.ask(AskRequest::new(question)).await?.outcome.answer;
            match answer {
                Ok(answer) if !answer.abstained && !answer.text.trim().is_empty() => {
                    let right = is_correct(&answer.text, &answers);
                    everyday.right += usize::from(right);
                    everyday.wrong += usize::from(!right);
                }
                _ => everyday.unanswered += 1,
            }
        }
        Ok(everyday)
    }
}

fn verdict(correct: Option<bool>, accepted: &[String]) -> String {
    let verdict = match correct {
        Some(true) => style("correct".to_owned()).green(),
        Some(false) => style(format!("expected {}", accepted.first().map_or("", |a| a))).red(),
        None => style("no single correct answer".to_owned()).dim(),
    };
    verdict.to_string()
}

fn print_result(result: &AskResult) -> anyhow::Result<()> {
    match &result.outcome.answer {
        Ok(answer) => view::print(&view::answer::answer(answer, result, false)),
        Err(error) => view::print(&format!("{} {error}", style("failed:").red().bold())),
    }
}

/// An answer is correct if it is one of the accepted answers, or contains one among few other words.
fn is_correct(answer: &str, accepted: &[String]) -> bool {
    let words = |text: &str| halma_core::text::words(text);
    let given = words(answer);
    accepted.iter().map(|text| words(text)).any(|expected| {
        !expected.is_empty()
            && given.len() <= expected.len() + 6
            && given.windows(expected.len()).any(|window| window == expected)
    })
}

fn closing(
    tally: &Tally,
    everyday: &Everyday,
    (base, has_model): (&Path, bool),
) -> anyhow::Result<()> {
    view::print(&heading("Summary"))?;
    view::print(&format!(
        "{} questions answered; {} of {} with a known answer correct; {} skipped because they need \
         a model.",
        tally.answered, tally.correct, tally.checkable, tally.skipped
    ))?;
    if !has_model {
        let Everyday { right, wrong, unanswered } = everyday;
        view::print(&format!(
            "Everyday questions, a third of which the library cannot answer: {right} right, {wrong} \
             wrong, {unanswered} not answered. `make everyday` measures 200 of them.",
        ))?;
        view::print(
            "The offline model extracts its answers from the documents: it can find, follow, compare and count \
             facts, and continue the series of a table, but not summarize or create. Configure a model with `halma init`.",
        )?;
    }
    view::print(&format!(
        "Ask a question:       halma ask --kb {} \"Which company makes Cyltezo?\"\nIndex your documents: \
         halma index FOLDER",
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
    fn an_answer_is_correct_when_it_contains_the_expected_one() {
        let wanted = ["March 6, 2015".to_owned(), "2015-03-06".to_owned()];
        assert!(is_correct("on March 6, 2015", &wanted));
        assert!(!is_correct("March 2015", &wanted));
        assert!(!is_correct("", &wanted));
    }
}
