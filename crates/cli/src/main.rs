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
    if let Command::Sandbox(sandbox) = &args.command {
        // Without a runtime: its threads would only use up memory.
        return match halma_engine::serve_worker(sandbox.kind) {
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
        Command::Init(args) => commands::init::run(&args).await,
        Command::Index(args) => commands::index::run(args, &common).await,
        Command::Ask(args) => commands::ask::run(args, &common).await,
        Command::Search(args) => commands::search::run(args, &common).await,
        Command::Eval(args) => commands::eval::run(*args, &common).await,
        Command::Feedback(args) => commands::feedback::run(args, &common).await,
        Command::Train(args) => commands::train::run(args, &common).await,
        Command::Strategies(args) => commands::strategies::run(&args),
        Command::Data(args) => commands::data::run(args),
        Command::Demo(args) => commands::demo::run(&args, &common).await,
        Command::Doctor(args) => commands::operate::doctor(&args, &common).await,
        Command::Config(args) => commands::operate::config(&args, &common),
        Command::Prompts(args) => commands::prompts::run(&args, &common),
        Command::Kb(args) => commands::kb::run(args, &common).await,
        Command::Kg(args) => commands::kg::run(args, &common).await,
        Command::Serve(args) => commands::serve::run(args, &common).await,
        Command::Keys(args) => commands::keys::run(args, &common),
        Command::Mcp(args) => Box::pin(commands::serve::mcp(args, &common)).await,
        Command::Backup(args) => commands::operate::backup::run(&args, &common),
        Command::Restore(args) => commands::operate::backup::run_restore(&args, &common),
        Command::Health(args) => commands::operate::health(&args, &common).await,
        Command::Completions(args) => commands::operate::completions(&args),
        Command::Man(args) => commands::operate::man(&args),
        Command::Worker(args) => commands::operate::worker(args, &common).await,
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
