//! `halma kb learn-tags`: learns from sample questions which everyday words stand for which tags.
use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use console::style;
use halma_core::ConfigError;
use halma_engine::{TagLearning, TagSample};

use crate::args::{Common, KbLearnTags};
use crate::commands::setup::{budget_flags, load_config, open_chosen};
use crate::view::{self, plural, progress, shorten, thousands};

pub(super) async fn run(args: &KbLearnTags, common: &Common) -> anyhow::Result<()> {
    let samples = read(&args.file)?;
    let config = load_config(common, budget_flags(&args.budget, "index"))?.config;
    let config = if args.estimate { config.without_unset_keys() } else { config };
    let engine = open_chosen(config, &args.kb)?;
    if args.estimate {
        let estimate = engine.estimate_learning(&samples).await?;
        return if args.json {
            view::print_json(&estimate)
        } else {
            view::print(&view::estimate::lines(&estimate))
        };
    }
    let report = engine.learn_tags(&samples, args.replace, progress::index(), None).await?;
    if args.json {
        view::print_json(&report)?;
    } else {
        view::print(&lines(&report))?;
    }
    outcome(&report)
}

/// The samples of a file; the first line that is none is an error.
fn read(file: &Path) -> anyhow::Result<Vec<TagSample>> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read `{}`", file.display()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut samples = vec![];
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let sample = serde_json::from_str::<TagSample>(line).map_err(|e| e.to_string());
        let checked = sample.and_then(|sample| sample.check().map(|()| sample));
        samples.push(checked.map_err(|reason| refused(file, Some(number), reason))?);
    }
    if samples.is_empty() {
        return Err(refused(file, None, "it holds no sample".into()).into());
    }
    Ok(samples)
}

fn refused(file: &Path, line: Option<usize>, reason: String) -> ConfigError {
    ConfigError {
        file: file.display().to_string(),
        key: line.map_or_else(|| "samples".into(), |line| format!("line {line}")),
        reason,
        hint: r#"write one sample a line, as {"question": "…", "answer": "…"}"#.into(),
    }
}

fn lines(report: &TagLearning) -> String {
    let mut lines = vec![format!(
        "{} in {}: {} asked about, {} known before.",
        style(plural(report.pairs as u64, "pair", "pairs")).bold(),
        plural(report.terms as u64, "term", "terms"),
        plural(report.samples_read as u64, "sample", "samples"),
        thousands(report.unchanged as u64),
    )];
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for skipped in &report.skipped {
        reasons.entry(&skipped.reason).or_default().push(&skipped.question);
    }
    for (reason, questions) in reasons {
        let count = plural(questions.len() as u64, "sample", "samples");
        let first = shorten(questions[0], 80);
        lines.push(format!("{} {count}: {reason} ({first})", style("skipped").yellow()));
    }
    if report.usage.llm_calls > 0 {
        lines.push(format!("{}.", view::usage(&report.usage)));
    }
    if let Some(limit) = report.spent {
        let stopped = style(format!("Stopped: the limit of {limit} is reached.")).yellow();
        lines.push(format!("{stopped} Raise the budget and run the same command to resume."));
    }
    lines.join("\n")
}

/// A run that could not ask about samples has failed; one that skipped some has not, unless it
/// skipped all.
fn outcome(report: &TagLearning) -> anyhow::Result<()> {
    if report.failed + report.pending > 0 && report.spent.is_none() {
        anyhow::bail!(
            "{} failed ({}); run the same command again to retry only these",
            plural((report.failed + report.pending) as u64, "sample", "samples"),
            report.failure.as_deref().unwrap_or("no reason given")
        );
    }
    if report.samples_read + report.unchanged + report.pending == 0 {
        anyhow::bail!(
            "nothing was learned: every sample was skipped; index with `tags = true` below [kb], \
             and give answers that stand in the documents"
        );
    }
    Ok(())
}
