//! The table `[serve]`: what the server listens to, lets in and keeps.
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServeConfig {
    /// Address and port; port 0 takes a free one.
    pub addr: String,
    /// Names that the server is called by, beside `localhost`: on a loopback address a request for
    /// any other host is refused, so that no web page can reach it by a name of its own.
    pub hosts: Vec<String>,
    /// Origins whose pages may call the API; none by default.
    pub cors_origins: Vec<String>,
    /// Connections held at once; more wait until one is closed.
    pub connections: usize,
    /// Questions answered at once; more are refused with status 503.
    pub concurrent_asks: usize,
    /// Requests of one key in a minute; more are refused with status 429.
    pub requests_per_minute: u32,
    /// The largest body of a request that is no upload, in bytes.
    pub max_body_bytes: usize,
    /// The largest file that is taken, in bytes.
    pub max_upload_bytes: u64,
    /// How long a client may take to send a request's headers, and a connection be idle, in
    /// seconds.
    pub header_seconds: f64,
    /// How long running answers may take after the server was told to stop, in seconds.
    pub drain_seconds: f64,
    /// Traces kept of each workspace; the oldest go first.
    pub keep_traces: usize,
    /// Folders in which evaluations lie.
    pub evaluations: Vec<PathBuf>,
    /// Whether log lines may hold questions.
    pub log_questions: bool,
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
            header_seconds: 30.0,
            drain_seconds: 30.0,
            keep_traces: 1_000,
            evaluations: vec![".halma/eval".into(), ".halma/report".into()],
            log_questions: false,
        }
    }
}
