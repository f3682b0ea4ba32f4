//! Arguments of `halma kb`.
use std::path::PathBuf;

use clap::Subcommand;
use halma_core::Layer;

use super::choice;
use super::{BudgetArgs, FilterArgs, KbDir};

#[derive(clap::Args)]
pub(crate) struct Kb {
    #[command(subcommand)]
    pub(crate) command: KbCommand,
}

#[derive(Subcommand)]
pub(crate) enum KbCommand {
    /// Print statistics of the base
    Stats(KbStats),
    /// List the nodes of a layer
    List(KbList),
    /// Print a node with its edges
    Show(KbShow),
    /// Write all nodes and edges to a file
    Export(KbExport),
    /// Check the consistency of the base
    Verify(KbVerify),
    /// Copy a base into a database, or out of one, without asking any model again
    Copy(KbCopy),
    /// Delete documents with everything derived from them
    Delete(KbDelete),
    /// Print what the cached replies of models take, or remove them
    Cache(KbCache),
    /// Print or change the fields of a document, without indexing it again
    Meta(KbMeta),
    /// List the tables that can be queried
    Tables(KbTables),
    /// Query the tables with SQL (read-only)
    Sql(KbSql),
    /// List merged entities with the evidence, or undo a merge
    Merges(KbMerges),
    /// List the dated events of an entity
    Timeline(KbTimeline),
    /// Learn from sample questions which everyday words stand for which tags
    LearnTags(KbLearnTags),
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
pub(crate) struct KbCopy {
    /// Base to copy: a folder or an address
    #[arg(value_name = "FROM")]
    pub(crate) from: PathBuf,
    /// Base that does not exist yet or holds nothing: a folder or an address
    #[arg(value_name = "TO")]
    pub(crate) to: PathBuf,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KbList {
    /// Kind of node to list
    #[arg(value_parser = choice::layer(), default_value = Layer::Document.name())]
    pub(crate) layer: Layer,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Only nodes of documents with this name; `*` matches any characters
    #[arg(long, value_name = "NAME")]
    pub(crate) document: Option<String>,
    /// Start after this node (for paging)
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<String>,
    /// Maximum number of nodes
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) top: u32,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KbShow {
    /// Id of a node, as printed by `halma search --json` and `halma kb list`, or name of a document
    pub(crate) node: String,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Maximum number of edges
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) edges: u32,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KbExport {
    /// File to write [default: standard output]
    pub(crate) file: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "file")]
    pub(crate) force: bool,
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
    /// Names or ids of documents; `*` matches any characters
    #[arg(required = true)]
    pub(crate) documents: Vec<String>,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KbCache {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Remove all cached replies of models with their files. Calls that were paid for are paid for
    /// again
    #[arg(long)]
    pub(crate) clear: bool,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KbMeta {
    /// Name or id of a document
    pub(crate) document: String,
    /// Set a field; may be repeated
    #[arg(long, value_name = "FIELD=VALUE")]
    pub(crate) set: Vec<String>,
    /// Remove a field; may be repeated
    #[arg(long, value_name = "FIELD")]
    pub(crate) unset: Vec<String>,
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
    /// A SELECT statement over the tables listed by `halma kb tables`
    pub(crate) query: String,
    /// Id of a run that made a forecast: its series (of a long one the latest periods) is the table
    /// `series`
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) rows: u32,
    /// Time limit in seconds
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
    /// Undo the merge with this id permanently
    #[arg(long, value_name = "ID")]
    pub(crate) undo: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KbLearnTags {
    /// File of samples, one JSON object a line: `question`, and `answer` (or `answers`) or
    /// `documents` (names of those that answer it)
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Forget what was learned from samples that are not in the file
    #[arg(long, conflicts_with = "estimate")]
    pub(crate) replace: bool,
    /// Print what it would cost; asks no model and stores nothing
    #[arg(long)]
    pub(crate) estimate: bool,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
}

#[derive(clap::Args)]
pub(crate) struct KbTimeline {
    /// A name of the entity, as `halma kb list entity` shows it, or one of its aliases
    pub(crate) entity: String,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Maximum number of events
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) top: u32,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
