//! `halma index`: indexes documents into a knowledge base.
mod inputs;
mod new_base;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_engine::{
    CallSharing, Config, Engine, Flags, IndexOptions, IndexReport, IndexRun, Place, Watch,
    Workforce, base_folder,
};
use halma_server::stop_signal;
use serde_json::json;
use toml::Value;

use self::new_base::NewBase;
use super::setup::{budget_flags, create_or_open, load_config, metadata_of, open_chosen};
use crate::args::{Common, Index};
use crate::exit::{Interrupted, is_wrong_use};
use crate::view::index_report::summary;
use crate::view::{self, plural, progress};

pub(crate) async fn run(args: Index, common: &Common) -> anyhow::Result<()> {
    inputs::check(&args)?;
    let config = load_config(common, flags(&args)?)?.config;
    let kb = args.kb.chosen(&config);
    if args.only_workers && Place::new(&kb)?.address().is_none() {
        return Err(inputs::no_workers(&kb).into());
    }
    let options = IndexOptions {
        format: args.format,
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        prune: args.prune,
        rehash: args.rehash,
        rebuild: args.rebuild.clone(),
        metadata: metadata_of(&args.meta, "--meta")?,
        ..IndexOptions::default()
    };
    if args.estimate {
        return estimate(&args, &options, config).await;
    }
    let new_base = NewBase::before(&kb)?;
    let engine = if args.paths.is_empty() {
        inputs::open_to_resume(config, &args.kb)?
    } else {
        create_or_open(config, &kb)?
    };
    let done = tokio::select! {
        done = index(&engine, &args, options) => done,
        () = stop_signal() => return Err(interrupted(&engine).into()),
    };
    let Err(failed) = done else { return Ok(()) };
    // Replies that were paid for are in the cache of the base.
    if let Some(new_base) = new_base.filter(|_| failed.is_free)
        && let Err(error) = new_base.remove_if_empty(engine)
    {
        view::warn(&format!("the empty base `{}` cannot be removed: {error}", kb.display()));
    }
    Err(failed.error)
}

/// Flags of the configuration.
fn flags(args: &Index) -> anyhow::Result<Flags> {
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
    Ok(flags)
}

/// A run that failed.
struct Failed {
    error: anyhow::Error,
    /// Whether no model was called.
    is_free: bool,
}

/// Indexes the folders once, or with `--watch` until the program is stopped.
async fn index(engine: &Engine, args: &Index, options: IndexOptions) -> Result<(), Failed> {
    let done = once(engine, args, &options).await;
    if args.watch {
        if let Err(error) = done.and_then(|report| outcome(&report, &args.paths)) {
            view::warn(&format!("{error:#}"));
        }
        // What was asked for once is done once.
        let options = IndexOptions { rebuild: vec![], ..options };
        let watched = watch(engine, args, &options).await;
        return watched.map_err(|error| Failed { error, is_free: false });
    }
    match done {
        Ok(report) => {
            let is_free = report.usage.llm_calls == 0;
            outcome(&report, &args.paths).map_err(|error| Failed { error, is_free })
        }
        Err(error) => {
            let is_free = is_wrong_use(&error);
            Err(Failed { error, is_free })
        }
    }
}

/// What is said of a run that the user has stopped.
fn interrupted(engine: &Engine) -> Interrupted {
    let documents = inputs::count_documents(engine).map_or_else(
        |_| String::new(),
        |count| format!("{} in the base; ", plural(count, "document is", "documents are")),
    );
    Interrupted(format!("Interrupted: {documents}run the same command again to continue."))
}

/// Indexes the folders once.
async fn once(
    engine: &Engine,
    args: &Index,
    options: &IndexOptions,
) -> anyhow::Result<IndexReport> {
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
    } else if args.paths.is_empty() || documents(&report) > 0 || !report.refused.is_empty() {
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
    Ok(report)
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
        let done = once(engine, args, options).await;
        if let Err(error) = done.and_then(|report| outcome(&report, &args.paths)) {
            view::warn(&format!("{error:#}"));
        }
    }
}

/// What the run would cost. A base that is not there yet is made in a place of its own, so that
/// nothing is left behind.
async fn estimate(args: &Index, options: &IndexOptions, config: Config) -> anyhow::Result<()> {
    let (fresh, config) = (tempfile::tempdir()?, config.without_unset_keys());
    let engine = if args.paths.is_empty() {
        inputs::open_to_resume(config, &args.kb)?
    } else {
        match open_chosen(config.clone(), &args.kb) {
            Err(error) if inputs::is_no_base(&error) => create_or_open(config, fresh.path())?,
            opened => opened?,
        }
    };
    let estimate = engine.estimate(&args.paths, options).await?;
    if args.json {
        return view::print_json(&estimate);
    }
    view::print(&view::estimate::lines(&estimate))
}

/// Documents that the run has met.
fn documents(report: &IndexReport) -> usize {
    report.documents_new + report.documents_unchanged + report.documents_replaced
}

/// A run that indexed nothing, left units undone or was stopped by a limit has failed; a run with
/// some refused files has not.
fn outcome(report: &IndexReport, paths: &[PathBuf]) -> anyhow::Result<()> {
    if !paths.is_empty() && documents(report) == 0 && report.duplicates == 0 {
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
    if let Some(limit) = report.spent {
        anyhow::bail!(
            "the base is not complete: the limit of {limit} stopped the run; allow more with \
             `--max-{limit}`, or raise `{limit}` under [budget.index], and run the same command again"
        );
    }
    Ok(())
}
