//! `halma index`: documents into a base.
use std::path::Path;

use console::style;
use halma_core::ConfigError;
use halma_engine::{Config, Engine, Flags, IndexOptions, IndexReport, InputFormat, Watch};
use toml::Value;

use super::setup::{budget_flags, create_or_open, loaded};
use crate::args::{ChunksArg, Common, EntitiesArg, FileFormat, Index};
use crate::view::{self, duration, plural, progress, thousands};

pub(crate) async fn run(args: Index, common: &Common) -> anyhow::Result<()> {
    // Before anything is made on disk: a misspelt path makes no empty base.
    if let Some(missing) = args.paths.iter().find(|path| !path.exists()) {
        return Err(no_such_path(missing).into());
    }
    let mut flags: Flags = budget_flags(&args.budget, "index");
    if let Some(atoms) = args.atoms {
        flags.push(("kb.atoms".into(), Value::String(atoms.name().into()), "--atoms".into()));
    }
    let named = [
        ("kb.chunks", args.chunks.map(ChunksArg::name), "--chunks"),
        ("kb.entities", args.entities.map(EntitiesArg::name), "--entities"),
    ];
    for (key, value, flag) in named {
        flags.extend(value.map(|value| (key.into(), Value::String(value.into()), flag.into())));
    }
    let config = loaded(common, flags)?.config;
    let options = IndexOptions {
        format: args.format.into(),
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        prune: args.prune,
    };
    if args.estimate {
        return estimate(&args, &options, config).await;
    }
    let engine = create_or_open(config, &args.kb.kb)?;
    let done = once(&engine, &args, &options).await;
    if !args.watch {
        return done;
    }
    if let Err(error) = done {
        view::warn(&format!("{error:#}"));
    }
    watch(&engine, &args, &options).await
}

/// One run from the folders to the base.
async fn once(engine: &Engine, args: &Index, options: &IndexOptions) -> anyhow::Result<()> {
    let report = engine.index(&args.paths, options, progress::of_index()).await?;
    if args.json {
        view::say_json(&report)?;
    } else if report.documents_new + report.documents_unchanged + report.documents_replaced > 0
        || !report.refused.is_empty()
    {
        view::say(&summary(&report, &args.kb.kb))?;
    }
    outcome(&report)
}

/// A run whenever something changes, until the program is ended.
async fn watch(engine: &Engine, args: &Index, options: &IndexOptions) -> anyhow::Result<()> {
    let mut watch = Watch::new(&args.paths, &args.kb.kb)?;
    view::note("Watching for changes; end with Ctrl-C.");
    loop {
        for failure in watch.changed().await.failures {
            view::warn(&failure);
        }
        if let Err(error) = once(engine, args, options).await {
            view::warn(&format!("{error:#}"));
        }
    }
}

/// What the run would cost. A base that is not there yet is made in a place of its own, so that
/// nothing is left behind.
async fn estimate(args: &Index, options: &IndexOptions, config: Config) -> anyhow::Result<()> {
    let fresh = tempfile::tempdir()?;
    let there = halma_engine::Base::exists(&args.kb.kb);
    let dir = if there { args.kb.kb.as_path() } else { fresh.path() };
    let engine = create_or_open(config, dir)?;
    let estimate = engine.estimate(&args.paths, options).await?;
    if args.json {
        return view::say_json(&estimate);
    }
    view::say(&view::estimate::lines(&estimate))
}

fn no_such_path(path: &Path) -> ConfigError {
    ConfigError {
        file: path.display().to_string(),
        key: "index".into(),
        reason: "there is no such file or folder".into(),
        hint: "name files or folders that exist".into(),
    }
}

/// Nothing indexed at all is a failed run; some refused files are not.
fn outcome(report: &IndexReport) -> anyhow::Result<()> {
    let known = report.documents_new + report.documents_unchanged + report.documents_replaced;
    if known == 0 && report.duplicates == 0 {
        anyhow::bail!("nothing was indexed: no readable document in what was given");
    }
    if report.failed_units > 0 {
        anyhow::bail!(
            "{} failed ({}); run the same command again to retry them, everything else is kept",
            plural(report.failed_units as u64, "unit", "units"),
            report.failure.as_deref().unwrap_or("no reason given")
        );
    }
    Ok(())
}

pub(crate) fn summary(report: &IndexReport, dir: &Path) -> String {
    let mut lines = vec![];
    if report.documents_new + report.documents_unchanged + report.documents_replaced == 0 {
        lines.push("No document was indexed.".to_owned());
    } else if report.nothing_new() && report.failed_units + report.pending_units == 0 {
        lines.push(format!(
            "Nothing to do: {} already in {}.",
            plural(report.documents_unchanged as u64, "document is", "documents are"),
            dir.display()
        ));
    } else {
        let mut what = vec![plural(report.documents_new as u64, "new document", "new documents")];
        if report.documents_replaced > 0 {
            what.push(format!("{} replaced", thousands(report.documents_replaced as u64)));
        }
        if report.documents_unchanged > 0 {
            what.push(format!("{} unchanged", thousands(report.documents_unchanged as u64)));
        }
        lines.push(format!(
            "{} in {}: {} and {} in {}.",
            style(what.join(", ")).bold(),
            dir.display(),
            plural(report.chunks as u64, "chunk", "chunks"),
            plural(report.atoms as u64, "atom", "atoms"),
            duration(report.elapsed_ms)
        ));
    }
    if report.duplicates > 0 {
        lines.push(format!(
            "{} of the same text were kept once.",
            plural(report.duplicates as u64, "document", "documents")
        ));
    }
    let usage = &report.usage;
    if usage.prompt_tokens + usage.completion_tokens > 0 {
        lines.push(format!(
            "{}, {} tokens, ${:.4}.",
            plural(usage.llm_calls, "call", "calls"),
            thousands(usage.prompt_tokens + usage.completion_tokens),
            usage.usd
        ));
    }
    if let Some(limit) = report.spent {
        lines.push(format!(
            "{} Raise the budget and run the same command to go on.",
            style(format!("Stopped: out of {limit}.")).yellow()
        ));
    }
    for refused in &report.refused {
        let place = match refused.line {
            Some(line) => format!("{}:{line}", refused.file.display()),
            None => refused.file.display().to_string(),
        };
        let label = style("left out").yellow();
        lines.push(format!("{label} {place}: {} ({})", refused.reason, refused.hint));
    }
    lines.join("\n")
}

impl From<FileFormat> for InputFormat {
    fn from(format: FileFormat) -> Self {
        match format {
            FileFormat::Auto => Self::Auto,
            FileFormat::Hotpotqa => Self::Hotpotqa,
            FileFormat::TwoWiki => Self::TwoWiki,
            FileFormat::Musique => Self::Musique,
        }
    }
}
