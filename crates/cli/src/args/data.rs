//! Arguments of `halma data`.
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
    /// List the question sets that `halma eval` reads
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Describe a question set: source, file format, scoring
    Show {
        /// Name of the set, as printed by `halma data list`
        set: Format,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check a downloaded file: its question set, usable records, and whether it is the published
    /// file
    Check {
        /// Question file
        file: PathBuf,
        /// Question set [default: by the keys of the records]
        #[arg(long, value_name = "SET")]
        format: Option<Format>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Convert published collections of passages to documents for `halma index`: the abstracts of
    /// Wikipedia, PubMed as MedRAG publishes it, and others with a title and a text in each line
    Corpus {
        /// Unpacked files of the collection, JSON lines or tables with tabs; `-` for standard input
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// New folder for the documents
        #[arg(long, short, value_name = "DIR")]
        out: PathBuf,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}
