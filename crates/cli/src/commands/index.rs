//! `halma index`: indexes documents into a knowledge base.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use console::style;
use halma_core::ConfigError;
use halma_engine::{
    CallSharing, Config, Engine, EngineError, Flags, IndexOptions, IndexReport, IndexRun, KbError,
    Place, Watch, Workforce, base_folder,
};
use serde_json::json;
use toml::Value;

use super::setup::{budget_flags, create_or_open, load_config, metadata_of, open_chosen};
use crate::args::{Common, Index};
use crate::view::{self, duration, plural, progress, thousands};

pub(crate) async fn run(args: Index, common: &Common) -> anyhow::Result<()> {
    // Checked before anything is created on disk: a misspelled path must not create an empty base.
    if let Some(missing) = args.paths.iter().find(|path| !path.exists()) {
        return Err(no_such_path(missing).into());
    }
    let mut flags: Flags = budget_flags(&args.budget, "index");
    let settings = [
        ("kb.level", args.level.map(Value::try_from), "--level"),
        ("kb.atoms", args.atoms.map(Value::try_from), "--atoms"),
        ("kb.chunks", args.chunks.map(Value::try_from), "--chunks"),
        ("kb.entities", args.entities.map(Value::try_from), "--entities"),
    ];
    for (key, value, flag) in settings {
        if let Some(value) = value {
            flags.push((key.into(), value?, flag.into()));
        }
    }
    let config = load_config(common, flags)?.config;
    let kb = args.kb.chosen(&config);
    if args.only_workers && Place::new(&kb)?.address().is_none() {
        return Err(no_workers(&kb).into());
    }
    let options = IndexOptions {
        format: args.format,
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        prune: args.prune,
        rehash: args.rehash,
        rebuild: args.rebuild.clone(),
        metadata: metadata_of(&args.meta)?,
        ..IndexOptions::default()
    };
    if args.estimate {
        return estimate(&args, &options, config).await;
    }
    let engine = create_or_open(config, &kb)?;
    let done = once(&engine, &args, &options).await;
    if !args.watch {
        return done;
    }
    if let Err(error) = done {
        view::warn(&format!("{error:#}"));
    }
    // What was asked for once is done once.
    watch(&engine, &args, &IndexOptions { rebuild: vec![], ..options }).await
}

/// Indexes the folders once.
async fn once(engine: &Engine, args: &Index, options: &IndexOptions) -> anyhow::Result<()> {
    // Layers of a base that is rebuilt, to see whether anything of them is gone afterwards.
    let layers = || {
        let stats = engine.base().inspector().stats();
        stats.map(|stats| json!([stats.chunks, stats.atoms, stats.figures]))
    };
    let before = (!options.rebuild.is_empty()).then(layers).transpose()?;
    let run = IndexRun { progress: progress::index(), parent: None, sharing: sharing(args) };
    let report = engine.index_by(&args.paths, options, run).await?;
    if args.json {
        view::print_json(&report)?;
    } else if report.documents_new + report.documents_unchanged + report.documents_replaced > 0
        || !report.refused.is_empty()
    {
        view::print(&summary(&report, &args.kb.shown(engine.config())?))?;
        if !options.rebuild.is_empty() && report.failed_units + report.pending_units == 0 {
            let parts: Vec<&str> = options.rebuild.iter().map(|part| part.name()).collect();
            let made = report.documents_new + report.documents_replaced + report.atoms;
            let done =
                made + report.embedded + report.extracted.units + report.documents_removed.len();
            let said = if done > 0 || before != Some(layers()?) {
                "Rebuilt as configured"
            } else {
                "Already as configured"
            };
            view::print(&format!("{said}: {}.", parts.join(", ")))?;
        }
    }
    outcome(&report, &args.paths)
}

/// Who does the calls. With a folder it is always this process.
fn sharing(args: &Index) -> CallSharing {
    let report = |Workforce { workers, is_stalled }: Workforce| match (workers, is_stalled) {
        (0, _) => view::warn(
            "no worker is live, and this process leaves the calls to workers; waiting. Start \
             `halma worker` with the same `--kb` on any machine",
        ),
        (_, true) => view::warn(
            "no worker has answered for half a minute: see that one of them has the models that \
             this configuration names, under the same names, and that their servers answer",
        ),
        (workers, false) => {
            let workers = plural(workers as u64, "worker is", "workers are");
            view::note(&format!("{workers} live."));
        }
    };
    CallSharing { takes_part: !args.only_workers, report: Arc::new(report) }
}

/// Indexes the folders again whenever a file changes, until the program is stopped.
async fn watch(engine: &Engine, args: &Index, options: &IndexOptions) -> anyhow::Result<()> {
    let config = engine.config();
    let mut watch = Watch::new(&args.paths, &base_folder(&args.kb.chosen(config))?)?
        .without_configuration(Path::new(&config.file));
    view::note("Watching for changes; stop with Ctrl-C.");
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
    let (fresh, config) = (tempfile::tempdir()?, config.without_unset_keys());
    let engine = match open_chosen(config.clone(), &args.kb) {
        Err(error) if is_no_base(&error) => create_or_open(config, fresh.path())?,
        opened => opened?,
    };
    let estimate = engine.estimate(&args.paths, options).await?;
    if args.json {
        return view::print_json(&estimate);
    }
    view::print(&view::estimate::lines(&estimate))
}

/// Whether there is no base yet.
fn is_no_base(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(EngineError::Kb(KbError::NoBase { .. } | KbError::NoSharedBase { .. }))
    )
}

fn no_workers(kb: &Path) -> ConfigError {
    ConfigError {
        file: "--only-workers".into(),
        key: kb.display().to_string(),
        reason: "a base in a folder has no workers".into(),
        hint: "omit the flag, or give the address of a shared base with `--kb`".into(),
    }
}

fn no_such_path(path: &Path) -> ConfigError {
    ConfigError {
        file: path.display().to_string(),
        key: "index".into(),
        reason: "there is no such file or folder".into(),
        hint: "name existing files or folders".into(),
    }
}

/// A run that indexed nothing has failed; a run with some refused files has not.
fn outcome(report: &IndexReport, paths: &[PathBuf]) -> anyhow::Result<()> {
    let known = report.documents_new + report.documents_unchanged + report.documents_replaced;
    if known == 0 && report.duplicates == 0 {
        if let Some(failure) = &report.failure {
            anyhow::bail!("nothing was indexed: {failure}");
        }
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        anyhow::bail!(
            "nothing was indexed: `{}` has no document that can be read and is not left out by \
             `--include` or `--exclude`; docs/reference/formats.md lists the formats",
            paths.join("`, `")
        );
    }
    if report.failed_units > 0 {
        anyhow::bail!(
            "{} failed ({}); run the same command again to retry only these",
            plural(report.failed_units as u64, "unit", "units"),
            report.failure.as_deref().unwrap_or("no reason given")
        );
    }
    Ok(())
}

/// Names, the first ones of many.
fn some_of(names: &[String], total: usize) -> String {
    const SHOWN: usize = 10;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match total.saturating_sub(names.len().min(SHOWN)) {
        0 => shown,
        more => format!("{shown} and {} more", thousands(more as u64)),
    }
}

pub(crate) fn summary(report: &IndexReport, base: &str) -> String {
    let mut lines = vec![];
    if report.documents_new + report.documents_unchanged + report.documents_replaced == 0 {
        lines.push("No document was indexed.".to_owned());
    } else if report.only_fields_new() && report.failed_units + report.pending_units == 0 {
        lines.extend(report.nothing_new().then(|| {
            format!(
                "Nothing to do: {} already in {}.",
                plural(report.documents_unchanged as u64, "document is", "documents are"),
                base
            )
        }));
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
            base,
            plural(report.chunks as u64, "chunk", "chunks"),
            plural(report.atoms as u64, "atom", "atoms"),
            duration(report.elapsed_ms)
        ));
    }
    if report.fields_changed > 0 {
        lines.push(format!(
            "Changed the fields of {} in {base}.",
            plural(report.fields_changed as u64, "document", "documents")
        ));
    }
    if !report.documents_removed.is_empty() {
        lines.push(format!(
            "Removed {} that no file has any more: {}.",
            plural(report.documents_removed.len() as u64, "document", "documents"),
            some_of(&report.documents_removed, report.documents_removed.len())
        ));
    }
    if report.duplicates > 0 {
        let skipped = plural(report.duplicates as u64, "document", "documents");
        let names = match report.duplicate_names.as_slice() {
            [] => String::new(),
            names => format!(": {}", some_of(names, report.duplicates)),
        };
        lines.push(format!("Skipped {skipped} with the text of another one{names}."));
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
            "{} Raise the budget and run the same command to resume.",
            style(format!("Stopped: the limit of {limit} is reached.")).yellow()
        ));
    }
    for refused in &report.refused {
        let place = match refused.line {
            Some(line) => format!("{}:{line}", refused.file.display()),
            None => refused.file.display().to_string(),
        };
        let label = style("skipped").yellow();
        lines.push(format!("{label} {place}: {} ({})", refused.reason, refused.hint));
    }
    lines.join("\n")
}
