//! The server of llama.cpp, which is started for a model file.
use std::path::Path;

use halma_net::ServerCommand;

use crate::config::ModelConfig;

/// Found on the path.
const PROGRAM: &str = "llama-server";

/// Ports from which each file has its own, so that its cached replies are found again and processes
/// share one server.
const FIRST_PORT: u16 = 20_000;
const PORTS: u16 = 20_000;

/// A server to start, and where it will be.
pub(super) struct Started {
    pub(super) url: String,
    pub(super) model: String,
    pub(super) command: ServerCommand,
}

impl Started {
    pub(super) fn new(config: &ModelConfig) -> Self {
        let (url, model) = (config.api_url(), config.served_name());
        let file = config.file.clone().unwrap_or_default();
        let port = url.rsplit(':').next().unwrap_or_default();
        let port = port.split('/').next().unwrap_or_default().to_owned();
        let path = file.display().to_string();
        let fixed = ["--model", &path, "--alias", &model, "--host", "127.0.0.1", "--port", &port];
        let fixed = fixed.into_iter().chain(["--parallel", "1"]).map(str::to_owned);
        let arguments = fixed.chain(config.arguments.iter().cloned()).collect();
        Self { url, model, command: ServerCommand { program: PROGRAM.into(), arguments } }
    }
}

impl ModelConfig {
    /// The base of the API, also of a server that is started for a file.
    pub fn api_url(&self) -> String {
        match &self.file {
            Some(file) if self.url.is_empty() => format!("http://127.0.0.1:{}/v1", port(file)),
            _ => self.url.clone(),
        }
    }

    /// The name of the model on its server.
    pub fn served_name(&self) -> String {
        let stem = self.file.as_deref().and_then(Path::file_stem);
        match stem.filter(|_| self.model.is_empty()) {
            Some(stem) => stem.to_string_lossy().into_owned(),
            None => self.model.clone(),
        }
    }
}

fn port(file: &Path) -> u16 {
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let hash = blake3::hash(path.as_os_str().as_encoded_bytes());
    let [first, second, ..] = *hash.as_bytes();
    FIRST_PORT + u16::from_le_bytes([first, second]) % PORTS
}
