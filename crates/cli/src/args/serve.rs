//! Arguments of `halma serve`, `halma keys`, `halma mcp`, `halma backup` and `halma restore`.
use std::path::PathBuf;

use clap::Subcommand;
use halma_server::Scope;

use super::choice::{self, Choice, one_of};
use super::{KbDir, Where};

#[derive(clap::Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Address to listen on [default: serve.addr of the configuration, 127.0.0.1:8765]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) addr: Option<String>,
    /// Port to listen on; 0 selects a free port
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Make an empty base where there is none, for files that are uploaded
    #[arg(long)]
    pub(crate) create: bool,
    /// Index the sample library (into .halma/demo/base, unless --kb is given) and serve it
    #[arg(long)]
    pub(crate) demo: bool,
    /// Allow a public address without API keys
    #[arg(long)]
    pub(crate) insecure: bool,
}

#[derive(clap::Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

#[derive(Subcommand)]
pub(crate) enum KeysCommand {
    /// Create a key and print it once
    Create(KeysCreate),
    /// List keys, without their secrets
    List {
        #[command(flatten)]
        kb: KbDir,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key and close its open streams
    Revoke {
        /// Id of the key, as printed by `halma keys list`
        id: String,
        #[command(flatten)]
        kb: KbDir,
    },
}

#[derive(clap::Args)]
pub(crate) struct KeysCreate {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Name of the user or program
    #[arg(long)]
    pub(crate) name: String,
    /// Permission of the key; may be repeated
    #[arg(long, value_parser = one_of(SCOPES), required = true)]
    pub(crate) scope: Vec<Scope>,
    /// Workspace that the key can access
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) workspace: String,
    /// Days until the key expires [default: never]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub(crate) days: Option<u32>,
    /// Spending limit per day, in US dollars
    #[arg(long, value_name = "USD", value_parser = choice::limit, allow_negative_numbers = true)]
    pub(crate) usd_per_day: Option<f64>,
    /// Limit of model calls per day
    #[arg(long, value_name = "N")]
    pub(crate) calls_per_day: Option<u64>,
    #[command(flatten)]
    pub(crate) fields: Where,
    /// Do nothing when there is a key already, also a revoked one
    #[arg(long)]
    pub(crate) unless_any: bool,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const SCOPES: &[Choice<Scope>] = &[
    Choice::new("ask", Scope::Ask, "Ask, search, read"),
    Choice::new("write", Scope::Write, "Upload, build, delete"),
    Choice::new("admin", Scope::Admin, "Workspaces, keys, prompts, models, configuration"),
    Choice::new("metrics", Scope::Metrics, "Metrics of the whole server, for Prometheus"),
];

#[derive(clap::Args)]
pub(crate) struct Mcp {
    #[command(flatten)]
    pub(crate) kb: KbDir,
}

#[derive(clap::Args)]
pub(crate) struct Backup {
    /// Folder to write, which is brought up to date if it is an earlier backup, or a file `NAME.tar`
    pub(crate) to: PathBuf,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Restore {
    /// What `halma backup` has written
    pub(crate) backup: PathBuf,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Replace what is in the folder of the knowledge base
    #[arg(long)]
    pub(crate) replace: bool,
    /// Restore what can still be read of a damaged backup
    #[arg(long)]
    pub(crate) unverified: bool,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
