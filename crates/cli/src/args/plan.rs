//! Arguments of `halma plan`.
use std::path::PathBuf;

use clap::Subcommand;

#[derive(clap::Args)]
pub(crate) struct Plan {
    #[command(subcommand)]
    pub(crate) command: PlanCommand,
}

#[derive(Subcommand)]
pub(crate) enum PlanCommand {
    /// Check every plan of a file: which are valid, which were repaired, which are refused and why
    Check {
        /// JSON lines with `reasoning_tree` or `plan`
        file: PathBuf,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Draw one plan as a tree
    Show {
        /// FILE.jsonl:LINE, or a file with one plan; `-` reads one from standard input
        plan: String,
        /// Line of the file
        #[arg(long, value_name = "N")]
        line: Option<usize>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}
