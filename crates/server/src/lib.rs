//! The doors for programs and browsers: HTTP, OpenAI-compatible, MCP, the web page.
mod access;
mod allowance;
mod app;
mod asking;
mod beside;
mod builds;
mod documents;
mod json;
mod keys;
mod limits;
mod listing;
mod mcp;
mod openai;
mod problem;
mod routes;
mod schema;
mod security;
mod serve;
mod usage;
mod workspace;

pub use app::prompts_dir;
pub use keys::{Key, KeyFile, KeysError, NewKey, Scope};
pub use mcp::over_stdio;
pub use serve::{ServeError, ServeOptions, Server, announce, told_to_stop};
