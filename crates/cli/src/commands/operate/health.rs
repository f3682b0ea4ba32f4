//! `halma health`: asks a running server whether it can answer, for the health checks of containers
//! and load balancers that run a program.
use halma_engine::ServerState;

use crate::args::{Common, HealthArgs};
use crate::commands::setup::load_config;
use crate::view;

pub(crate) async fn run(args: &HealthArgs, common: &Common) -> anyhow::Result<()> {
    let addr = match &args.addr {
        Some(addr) => addr.clone(),
        None => load_config(common, vec![])?.config.serve.addr,
    };
    match ServerState::of(&addr).await? {
        ServerState::Ready { version } => view::print(&format!("ready, version {version}"))?,
        ServerState::NotReady { reason } => anyhow::bail!("{addr}: {reason}"),
    }
    Ok(())
}
