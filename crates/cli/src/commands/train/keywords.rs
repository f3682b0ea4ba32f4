//! `halma train keywords`: training data for the keywords of DEC.
use std::collections::BTreeMap;

use halma_core::Layer;
use halma_engine::{Engine, ListQuery, configured_prompts};
use halma_eval::train::{KeywordCollector, KeywordStatistics, LabelRules, Stopped, label_keywords};
use halma_eval::{Passage, recognise};
use serde_json::json;

use super::held_out;
use crate::args::{Common, TrainKeywords};
use crate::commands::eval::session::{Questions, Session, default_folder};
use crate::commands::setup::load_config;
use crate::view::{self, progress};

pub(super) async fn run(args: TrainKeywords, common: &Common) -> anyhow::Result<()> {
    let TrainKeywords { file, questions, out, max_passages, files } = args;
    let held_out = held_out(&files.held_out)?;
    let prompts = configured_prompts(&load_config(common, vec![])?.config)?;
    let format = questions.data_format.map_or_else(|| recognise(&file), Ok)?;
    let how = questions.into_how(None);
    let session =
        Session::open(Questions::new(&file, format), &how, common, default_folder).await?;
    let Session { engine, data, runner, bench, .. } = &session;
    let only = BTreeMap::from([("keywords".to_owned(), "only".to_owned())]);
    let collector = KeywordCollector {
        system: engine.system_under_test("dec", "dec".into(), only)?,
        bench: bench.clone(),
        budget: runner.budget.clone(),
        concurrency: runner.concurrency,
    };
    let summary = collector.run(data, &out, &progress::evaluation()).await?;
    for warning in summary.warnings() {
        view::warn(&warning);
    }
    if let Some(Stopped::Failing { reason, .. }) = &summary.stopped {
        anyhow::bail!("no question succeeds: {reason}");
    }
    let done = format!(
        "{} of {} questions run",
        view::thousands(summary.done as u64),
        view::thousands(summary.questions as u64)
    );
    if summary.stopped.is_some() {
        // Labels of a part would be replaced by those of all, which the same command makes.
        if how.json {
            return view::print_json(&json!({ "collected": summary, "labels": null }));
        }
        return view::print(&format!("{done}; no labels are made before the end"));
    }
    let rules = LabelRules {
        format: files.format,
        prompts: &prompts,
        passages: &passages(engine)?,
        max_passages: max_passages.into(),
        held_out: held_out.as_ref(),
        share: files.share,
        force: files.force,
    };
    let statistics = label_keywords(&out, &rules)?;
    if how.json {
        return view::print_json(&json!({ "collected": summary, "labels": statistics }));
    }
    view::print(&format!("{done}\n{}\nFiles: {}", lines(&statistics), out.display()))
}

fn passages(engine: &Engine) -> anyhow::Result<Vec<Passage>> {
    let query = ListQuery { layer: Layer::Chunk, document: None, after: None, limit: usize::MAX };
    let listed = engine.base().inspector().list(&query)?.into_iter();
    Ok(listed.map(|node| Passage { title: node.title, text: node.text, html: false }).collect())
}

fn lines(statistics: &KeywordStatistics) -> String {
    let labels = view::plural((statistics.train + statistics.held_out) as u64, "label", "labels");
    let mut lines = vec![format!(
        "{labels} for {} searched for ({} to train on, {} held out); {:.0} % of the passages that \
         they bring are gold",
        view::plural(statistics.sub_questions as u64, "sub-question", "sub-questions"),
        view::thousands(statistics.train as u64),
        view::thousands(statistics.held_out as u64),
        100.0 * statistics.precision,
    )];
    for (why, n) in &statistics.left_out {
        lines.push(format!("left out: {why}: {}", view::thousands(*n as u64)));
    }
    lines.join("\n")
}
