//! `halma completions`: prints a completion script for a shell, made of the arguments.
use clap::CommandFactory as _;

use crate::args::{Args, Completions};
use crate::view;

pub(crate) fn run(args: &Completions) -> anyhow::Result<()> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Args::command(), "halma", &mut script);
    view::print(String::from_utf8(script)?.trim_end())?;
    Ok(())
}
