//! What can be written after `halma serve`, `halma keys` and `halma mcp`.
use clap::{Subcommand, ValueEnum};

use super::KbDir;

#[derive(clap::Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Address to listen on [default: serve.addr of the configuration, 127.0.0.1:8765]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) addr: Option<String>,
    /// Port to listen on, on the same host; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Index the sample library (into .halma/demo/base, unless --kb is given) and serve it
    #[arg(long)]
    pub(crate) demo: bool,
    /// Listen where others can reach it although there are no keys
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
    /// Make a key and print it, this once
    Create(KeysCreate),
    /// All keys, without their secrets
    List {
        #[command(flatten)]
        kb: KbDir,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Take a key away for good; a running server ends what it is streaming
    Revoke {
        /// Id of the key, as `halma keys list` shows it
        id: String,
        #[command(flatten)]
        kb: KbDir,
    },
}

#[derive(clap::Args)]
pub(crate) struct KeysCreate {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Who or what it is for
    #[arg(long)]
    pub(crate) name: String,
    /// What it may be used for; may be repeated
    #[arg(long, value_enum, required = true)]
    pub(crate) scope: Vec<ScopeArg>,
    /// The workspace it opens
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) workspace: String,
    /// Days until it is over [default: never]
    #[arg(long, value_name = "DAYS")]
    pub(crate) days: Option<u32>,
    /// US dollars that it may cost in a day
    #[arg(long, value_name = "USD")]
    pub(crate) usd_per_day: Option<f64>,
    /// Calls to models that it may take in a day
    #[arg(long, value_name = "N")]
    pub(crate) calls_per_day: Option<u64>,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ScopeArg {
    /// Ask, search, read
    Ask,
    /// Upload, build, delete
    Write,
    /// Workspaces, keys, prompts, models, configuration
    Admin,
}

#[derive(clap::Args)]
pub(crate) struct Mcp {
    #[command(flatten)]
    pub(crate) kb: KbDir,
}
