//! `halma eval`: strategies on a question set, measured and compared.
mod asking;
mod assessing;
pub(super) mod bars;
mod base;
mod base_cost;
mod compare;
mod preset;
mod retrieval;
pub(super) mod session;
mod systems;

use crate::args::{Common, Eval, EvalCommand};

pub(crate) async fn run(args: Eval, common: &Common) -> anyhow::Result<()> {
    match args.command {
        Some(EvalCommand::Compare(own)) => compare::run(&own),
        Some(EvalCommand::Preset(own)) => preset::run(own, common).await,
        None => asking::run(args.run, common).await,
    }
}
