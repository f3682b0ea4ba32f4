//! `halma man`: writes a manual page for the program and one for each command.
use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::args::{Args, Man};
use crate::view;

pub(crate) fn run(args: &Man) -> anyhow::Result<()> {
    let dir = &args.dir;
    let failed = || format!("the manual pages cannot be written to {}", dir.display());
    std::fs::create_dir_all(dir).with_context(failed)?;
    clap_mangen::generate_to(Args::command(), dir).with_context(failed)?;
    let pages = std::fs::read_dir(dir).with_context(failed)?.count();
    view::note(&format!("{pages} pages are in {}.", dir.display()));
    Ok(())
}
