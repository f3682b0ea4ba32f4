//! The table `[serve]`: the address, limits and retention of the server.
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServeConfig {
    /// Address and port; port 0 selects a free port.
    pub addr: String,
    /// Host names of the server in addition to `localhost`. On a loopback address, requests for any
    /// other host are refused, so that a web page cannot reach it through a name of its own (DNS
    /// rebinding).
    pub hosts: Vec<String>,
    /// Origins whose pages may call the API; none by default.
    pub cors_origins: Vec<String>,
    /// Maximum number of open connections; more wait until one is closed.
    pub connections: usize,
    /// Questions answered concurrently; more are refused with status 503.
    pub concurrent_asks: usize,
    /// Requests per key and minute; more are refused with status 429.
    pub requests_per_minute: u32,
    /// Maximum size of a request that is not an upload, in bytes.
    pub max_body_bytes: usize,
    /// Maximum size of an uploaded file, in bytes.
    pub max_upload_bytes: u64,
    /// Maximum size of the uploaded files of a workspace together, in bytes.
    pub max_workspace_bytes: u64,
    /// Maximum number of uploaded files of a workspace.
    pub max_workspace_files: u64,
    /// Workspaces that are open, besides the default one, before those that nothing uses are closed.
    pub open_workspaces: usize,
    /// Time limit for the headers of a request, and of an idle connection, in seconds.
    pub header_seconds: f64,
    /// Time that running answers have after the server was stopped, in seconds.
    pub drain_seconds: f64,
    /// Traces retained per knowledge base; the oldest are deleted first.
    pub keep_traces: usize,
    /// Days for which traces are retained; 0 for no limit.
    pub keep_trace_days: u32,
    /// Whether every API key for a whole workspace sees the questions of the other keys.
    pub shared_runs: bool,
    /// Questions that the web UI offers on its empty page; without any, atoms that are
    /// questions whose document a search finds.
    pub examples: Vec<String>,
    /// Folders of evaluations.
    pub evaluations: Vec<PathBuf>,
    /// The form of log lines; `--log-format` comes before it.
    pub log: LogFormat,
    /// Whether log lines may contain questions.
    pub log_questions: bool,
}

/// The form of log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            addr: "127.0.0.1:8765".into(),
            hosts: vec![],
            cors_origins: vec![],
            connections: 16_384,
            concurrent_asks: 2_048,
            requests_per_minute: 600,
            max_body_bytes: 1_000_000,
            max_upload_bytes: 200_000_000,
            max_workspace_bytes: 100_000_000_000,
            max_workspace_files: 1_000_000,
            open_workspaces: 200,
            header_seconds: 30.0,
            drain_seconds: 30.0,
            keep_traces: 1_000,
            keep_trace_days: 0,
            shared_runs: false,
            examples: vec![],
            evaluations: vec![".halma/eval".into(), ".halma/report".into()],
            log: LogFormat::Text,
            log_questions: false,
        }
    }
}
