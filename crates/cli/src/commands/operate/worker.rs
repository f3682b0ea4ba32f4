//! `halma worker`: does model calls and embeddings for the builds of a shared base.
use halma_engine::{CallWorker, WorkerReport};
use halma_server::stop_signal;

use crate::args::{Common, Worker};
use crate::commands::setup::load_config;
use crate::view::{self, plural};

pub(crate) async fn run(args: Worker, common: &Common) -> anyhow::Result<()> {
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
    print(report, args.json)
}

fn print(report: WorkerReport, json: bool) -> anyhow::Result<()> {
    if json {
        return view::print_json(&report);
    }
    let WorkerReport { calls, usd } = report;
    view::print(&format!("{} done, ${usd:.4}.", plural(calls, "call", "calls")))
}
