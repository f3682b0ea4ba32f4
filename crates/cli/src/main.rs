//! The program `halma`.
mod args;
mod commands;
mod exit;
mod logging;
#[cfg(test)]
mod reference;
mod view;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;

use crate::args::{Args, Command};
use crate::logging::LogStyle;

/// How long blocking work may take after the command has ended.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long it may take after the user has stopped the command: what is begun is as safe as when
/// the program is killed.
const INTERRUPTED_TIMEOUT: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    let args = Args::parse();
    let library_warnings = logging::start(log_style(&args));
    if let Command::Sandbox(own) = &args.command {
        // Without a runtime: its threads would only use up memory.
        return match halma_engine::serve_worker(own.kind) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => {
            let done = runtime.block_on(run(args));
            // Writes may finish, such as that of a trace; reading a huge folder may not.
            let interrupted = done.as_ref().is_err_and(anyhow::Error::is::<exit::Interrupted>);
            runtime.shutdown_timeout(if interrupted {
                INTERRUPTED_TIMEOUT
            } else {
                SHUTDOWN_TIMEOUT
            });
            done
        }
        Err(e) => Err(anyhow::anyhow!("cannot start the async runtime: {e}")),
    };
    if let Some(summary) = library_warnings.summary() {
        view::note(&summary);
    }
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::report(&error),
    }
}

async fn run(args: Args) -> anyhow::Result<()> {
    let Args { command, common } = args;
    match command {
        Command::Init(own) => commands::init::run(&own).await,
        Command::Index(own) => commands::index::run(own, &common).await,
        Command::Ask(own) => commands::ask::run(own, &common).await,
        Command::Search(own) => commands::search::run(own, &common).await,
        Command::Eval(own) => commands::eval::run(*own, &common).await,
        Command::Feedback(own) => commands::feedback::run(own, &common).await,
        Command::Train(own) => commands::train::run(own, &common).await,
        Command::Strategies(own) => commands::strategies::run(&own),
        Command::Data(own) => commands::data::run(own),
        Command::Demo(own) => commands::demo::run(&own, &common).await,
        Command::Doctor(own) => commands::operate::doctor(&own, &common).await,
        Command::Config(own) => commands::config::run(&own, &common),
        Command::Prompts(own) => commands::prompts::run(&own, &common),
        Command::Kb(own) => commands::kb::run(own, &common).await,
        Command::Kg(own) => commands::kg::run(own, &common).await,
        Command::Serve(own) => commands::serve::run(own, &common).await,
        Command::Keys(own) => commands::keys::run(own, &common),
        Command::Mcp(own) => Box::pin(commands::serve::mcp(own, &common)).await,
        Command::Backup(own) => commands::operate::backup::run(&own, &common),
        Command::Restore(own) => commands::operate::backup::run_restore(&own, &common),
        Command::Health(own) => commands::operate::health(&own, &common).await,
        Command::Completions(own) => commands::operate::completions(&own),
        Command::Man(own) => commands::operate::man(&own),
        Command::Worker(own) => commands::operate::worker(own, &common).await,
        Command::Sandbox(_) => Ok(()),
    }
}

/// The server logs requests, with the time unless the system's journal adds it; other commands log
/// warnings only.
fn log_style(args: &Args) -> LogStyle {
    let serves = matches!(args.command, Command::Serve(_));
    let format = args.common.log_format.or_else(|| {
        // A configuration that cannot be read is reported by the command.
        serves
            .then(|| commands::load_config(&args.common, vec![]).ok())?
            .map(|loaded| loaded.config.serve.log)
    });
    LogStyle {
        format: format.unwrap_or_default(),
        serves,
        time: serves && std::env::var_os("JOURNAL_STREAM").is_none(),
        filter: if serves {
            "error,halma=warn,halma::commands::serve=info,halma_server=info"
        } else {
            "error,halma=warn"
        },
    }
}
