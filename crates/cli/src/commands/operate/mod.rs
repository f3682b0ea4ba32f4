//! Commands about the program and its server rather than about documents and questions.
pub(crate) mod backup;

use anyhow::Context as _;
use clap::CommandFactory as _;
use console::style;
use halma_core::ConfigError;
use halma_engine::{
    CallWorker, Finding, Health, ServerState, ShownValue, WorkerReport, examine, fetch_weights,
    show,
};
use halma_server::stop_signal;

use crate::args::{
    Args, Common, Completions, Config, ConfigCommand, Doctor, HealthArgs, Man, Worker,
};
use crate::commands::setup::{load_config, server_address};
use crate::view::{self, plural, table};

/// `halma doctor`: checks configuration, models, embedder and knowledge base.
pub(crate) async fn doctor(args: &Doctor, common: &Common) -> anyhow::Result<()> {
    if args.fetch {
        let dir = tokio::task::spawn_blocking(fetch_weights).await??;
        view::note(&format!("The weights of the local embedder are in {}.", dir.display()));
    }
    let loaded = load_config(common, vec![])?;
    let config = &loaded.config;
    let mut findings = Box::pin(examine(config, &args.kb.chosen(config))).await;
    if let Err(e) = halma_server::check_settings(&loaded) {
        let message = format!("{e}. {}", e.hint);
        findings.push(Finding { component: "serve".into(), health: Health::Bad, message });
    }
    if args.json {
        view::print_json(&findings)?;
    } else {
        for finding in &findings {
            let mark = match finding.health {
                Health::Good => style("ok  ").green(),
                Health::Warning => style("warn").yellow(),
                Health::Bad => style("bad ").red(),
            };
            view::print(&format!("{mark}  {:<18} {}", finding.component, finding.message))?;
        }
    }
    let bad = findings.iter().filter(|finding| finding.health == Health::Bad).count();
    if bad > 0 {
        anyhow::bail!("{bad} of {} checks failed", findings.len());
    }
    Ok(())
}

/// `halma health`: asks a running server whether it can answer, for the health checks of containers
/// and load balancers that run a program.
pub(crate) async fn health(args: &HealthArgs, common: &Common) -> anyhow::Result<()> {
    let addr = server_address(args.addr.as_ref(), common)?;
    match ServerState::of(&addr).await? {
        ServerState::Ready { version } => view::print(&format!("ready, version {version}"))?,
        ServerState::NotReady { reason } => anyhow::bail!("{addr}: {reason}"),
    }
    Ok(())
}

/// `halma worker`: does model calls and embeddings for the builds of a shared base.
pub(crate) async fn worker(args: Worker, common: &Common) -> anyhow::Result<()> {
    let config = load_config(common, vec![])?.config;
    let mut worker = CallWorker::start(&config, &args.kb.chosen(&config), args.max_usd)?;
    view::note(&format!("Doing calls of {}; stop with Ctrl-C.", worker.models().join(", ")));
    let report = tokio::select! {
        report = worker.ended() => {
            view::note("Stopped: the next call could pass the limit of costs (--max-usd).");
            report
        }
        () = stop_signal() => {
            view::note("Stopping: calls in progress are finished, those that wait are left to other workers.");
            worker.stop().await
        }
    };
    if args.json {
        return view::print_json(&report);
    }
    let WorkerReport { calls, usd } = report;
    view::print(&format!("{} done, ${usd:.4}.", plural(calls, "call", "calls")))
}

/// `halma completions`: prints a completion script for a shell, made of the arguments.
pub(crate) fn completions(args: &Completions) -> anyhow::Result<()> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Args::command(), "halma", &mut script);
    view::print(String::from_utf8(script)?.trim_end())?;
    Ok(())
}

/// `halma man`: writes a manual page for the program and one for each command.
pub(crate) fn man(args: &Man) -> anyhow::Result<()> {
    let dir = &args.dir;
    let failed = || format!("the manual pages cannot be written to {}", dir.display());
    std::fs::create_dir_all(dir).with_context(failed)?;
    clap_mangen::generate_to(Args::command(), dir).with_context(failed)?;
    let pages = std::fs::read_dir(dir).with_context(failed)?.count();
    view::note(&format!("{pages} pages are in {}.", dir.display()));
    Ok(())
}

fn no_such_table(name: &str) -> anyhow::Error {
    let error = ConfigError {
        file: "halma config show".into(),
        key: name.to_owned(),
        reason: "there is no table and no key of this name".into(),
        hint: "`halma config show --all` lists every key".into(),
    };
    error.into()
}

/// `halma config show`: prints values with their origin.
pub(crate) fn config(args: &Config, common: &Common) -> anyhow::Result<()> {
    let ConfigCommand::Show { table: part, all, json } = &args.command;
    let loaded = load_config(common, vec![])?;
    let mut values = show(&loaded)?;
    if let Some(part) = part {
        let is_within = |rest: &str| rest.is_empty() || rest.starts_with('.');
        values.retain(|value| value.key.strip_prefix(part.as_str()).is_some_and(is_within));
        if values.is_empty() {
            return Err(no_such_table(part));
        }
    }
    if *json {
        return view::print_json(&values);
    }
    if !all && part.is_none() {
        values.retain(|value| value.origin != "default");
        if values.is_empty() {
            view::note("Every value is the default; `halma config show --all` prints them.");
            return Ok(());
        }
    }
    let row = |value: &ShownValue| {
        vec![
            value.key.clone(),
            value.value.to_string(),
            style(value.origin.clone()).dim().to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = values.iter().map(row).collect();
    view::print(&table(&rows))
}
