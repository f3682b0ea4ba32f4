//! The interfaces for programs and browsers: HTTP, OpenAI-compatible, MCP, and the web UI.
mod accept;
mod access;
mod app;
mod asking;
mod builds;
mod checks;
mod documents;
mod evaluation_runs;
mod json;
mod keys;
mod limits;
mod mcp;
mod metrics;
mod openai;
mod pagination;
mod problem;
mod reserved_address;
mod roles;
mod routes;
mod security;
mod serve;
mod settings;
mod sse;
mod storage_health;
mod usage;
mod workspace;

pub use app::{Suggestion, prompts_dir};
pub use checks::check as check_settings;
pub use keys::{ApiKeys, Key, KeysError, NewKey, Scope};
pub use mcp::serve_stdio;
pub use reserved_address::ReservedAddress;
pub use serve::{
    Reloader, ServeError, ServeOptions, Server, ServerLock, announce, reload_signals, stop_signal,
};
pub use workspace::has_workspace;
