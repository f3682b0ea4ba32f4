//! What can be written after `halma kb`.
use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use super::{KbDir, LayerArg};

#[derive(clap::Args)]
pub(crate) struct Kb {
    #[command(subcommand)]
    pub(crate) command: KbCommand,
}

#[derive(Subcommand)]
pub(crate) enum KbCommand {
    /// What the base holds, in figures
    Stats(KbStats),
    /// What one layer holds, or one document
    List(KbList),
    /// One node with its edges
    Show(KbShow),
    /// Write all nodes and edges to a file
    Export(KbExport),
    /// Check that everything in the base fits together
    Verify(KbVerify),
    /// Remove documents with every trace of them
    Delete(KbDelete),
    /// The tables that can be queried
    Tables(KbTables),
    /// Query the tables in SQL (read only)
    Sql(KbSql),
    /// Entities that were merged, with the evidence; a merge can be undone
    Merges(KbMerges),
}

#[derive(clap::Args)]
pub(crate) struct KbStats {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KbList {
    /// What to list
    #[arg(value_enum, default_value = "document")]
    pub(crate) layer: LayerArg,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Only what belongs to these documents; `*` stands for any characters
    #[arg(long, value_name = "NAME")]
    pub(crate) document: Option<String>,
    /// Go on behind this node
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<String>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) top: u32,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KbShow {
    /// Id of a node (`halma search` and `kb list` print them), or name of a document
    pub(crate) node: String,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// At most this many edges
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) edges: u32,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ExportArg {
    /// One JSON object a line: nodes, then edges
    Jsonl,
    /// For Gephi, yEd, networkx and their kin
    Graphml,
}

#[derive(clap::Args)]
pub(crate) struct KbExport {
    /// Where to write it [default: standard output]
    pub(crate) file: Option<PathBuf>,
    #[arg(long, value_enum, default_value = "jsonl")]
    pub(crate) format: ExportArg,
    #[command(flatten)]
    pub(crate) kb: KbDir,
}

#[derive(clap::Args)]
pub(crate) struct KbVerify {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KbDelete {
    /// Names or ids of documents; `*` stands for any characters
    #[arg(required = true)]
    pub(crate) documents: Vec<String>,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KbTables {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KbSql {
    /// One SELECT over the tables that `halma kb tables` lists
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// At most this many rows
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) rows: u32,
    /// At most this many seconds
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    pub(crate) seconds: f64,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KbMerges {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Take the merge with this id apart again, for good
    #[arg(long, value_name = "ID")]
    pub(crate) undo: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
