use std::path::PathBuf;

use clap::Subcommand;
use halma_eval::Format;

#[derive(clap::Args)]
pub(crate) struct Data {
    #[command(subcommand)]
    pub(crate) command: DataCommand,
}

#[derive(Subcommand)]
pub(crate) enum DataCommand {
    /// The question sets that `halma eval` reads, a line each
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Where to get a set, what its files look like, how it is scored
    Show {
        /// A name from `halma data list`
        #[arg(value_parser = super::eval::format)]
        set: Format,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Read a downloaded file whole: which set it is, what can be used, whether it is the
    /// published one
    Check {
        file: PathBuf,
        /// The set [default: told by the keys of the records]
        #[arg(long, value_name = "SET", value_parser = super::eval::format)]
        format: Option<Format>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}
