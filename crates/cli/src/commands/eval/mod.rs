//! `halma eval`: strategies on a question set, measured and compared.
mod asking;
mod assessing;
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
        Some(EvalCommand::Compare(args)) => compare::run(&args),
        Some(EvalCommand::Preset(args)) => preset::run(args, common).await,
        None => asking::run(args.run, common).await,
    }
}
