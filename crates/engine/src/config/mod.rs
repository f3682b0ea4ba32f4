//! `halma.toml`: every table and key, with its default.
mod level;
pub(crate) mod load;
mod ranges;
pub(crate) mod serve;
pub(crate) mod show;

use std::collections::BTreeMap;
use std::path::PathBuf;

use halma_core::{AnswerStyle, Budget, ConfigError, Price};
use halma_kb::{FeedbackSettings, KbSettings};
use halma_models::embed::minilm::Precision;
use halma_models::{Pooling, RerankerSettings, TaggerSettings};
use halma_net::JsonMode;
use halma_net::address::is_loopback;
use halma_sources::kg::KgSettings;
use halma_sources::web::WebSettings;
use serde::{Deserialize, Serialize};

use self::serve::ServeConfig;

/// The name of the configuration file unless `--config` names another.
pub(crate) const CONFIG_FILE: &str = "halma.toml";

/// An error about a key of the configuration file.
pub(crate) fn key_error(
    key: impl Into<String>,
    reason: impl Into<String>,
    hint: impl Into<String>,
) -> ConfigError {
    let file = CONFIG_FILE.to_owned();
    ConfigError { file, key: key.into(), reason: reason.into(), hint: hint.into() }
}

/// The name of the offline model, which is always available.
pub const OFFLINE: &str = "extractive";

/// The roles that can be assigned to a model.
pub const ROLES: &[&str] = &[
    "default",
    "cutter",
    "atomizer",
    "distiller",
    "vision",
    "tagger",
    "planner",
    "proposer",
    "keywords",
    "selector",
    "reader",
    "judge",
];

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The file it was read from, for errors.
    #[serde(skip)]
    pub file: String,
    /// The program whose worker processes read files and run SQL: `halma` itself. Without one, both
    /// happen in this process, where they cannot be stopped.
    #[serde(skip)]
    pub worker: Option<PathBuf>,
    /// Folder of prompts that replace the built-in prompts of the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts_dir: Option<PathBuf>,
    pub ask: AskConfig,
    pub kb: KbSettings,
    /// What people say of answers, and what is accepted from it.
    pub feedback: FeedbackSettings,
    pub embedder: EmbedderConfig,
    pub reranker: RerankerSettings,
    pub tagger: TaggerSettings,
    pub sources: SourcesConfig,
    pub kg: KgSettings,
    pub models: BTreeMap<String, ModelConfig>,
    /// The model that is used where no other is configured.
    pub offline: OfflineConfig,
    /// Role → name of a model; `default` is for the roles that are not assigned.
    pub roles: BTreeMap<String, String>,
    pub budget: BudgetConfig,
    pub cache: CacheConfig,
    /// Address, limits and retention of `halma serve`.
    pub serve: ServeConfig,
    /// Where traces of questions are sent.
    pub telemetry: TelemetryConfig,
    /// One table per strategy, parsed by the strategy.
    pub strategy: BTreeMap<String, toml::Table>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AskConfig {
    /// The strategy unless one is named.
    pub strategy: String,
    /// Longer questions are refused, in characters.
    pub max_question_chars: usize,
    /// `short`: the answer alone; `full`: sentences with the numbers of their sources.
    pub answer_style: AnswerStyle,
    /// How the sentences of a full answer are checked against their sources.
    pub check_claims: CheckClaims,
}

/// How a claim is checked against its sources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckClaims {
    /// By the words, names and numbers that the source contains.
    #[default]
    Words,
    /// In addition, by the model of the role `judge`: one call for an answer.
    Model,
}

impl Default for AskConfig {
    fn default() -> Self {
        Self {
            strategy: "auto".into(),
            max_question_chars: 20_000,
            answer_style: AnswerStyle::Full,
            check_claims: CheckClaims::Words,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbedderKind {
    /// all-MiniLM-L6-v2 on this machine's CPU.
    #[default]
    Local,
    /// An OpenAI-compatible `/embeddings`.
    Endpoint,
    /// No vectors: search by keywords only.
    None,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmbedderConfig {
    pub kind: EmbedderKind,
    /// `endpoint`: the API base, as in `http://localhost:8000/v1`.
    pub url: String,
    pub model: String,
    /// The environment variable that holds the key.
    pub key_env: String,
    /// `local`: a folder with `model.safetensors`, `tokenizer.json` and `config.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Put before each query and each passage; by default what the model's family needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage_prefix: Option<String>,
    /// `local`: the tokens that a vector is made of; by default those of the model's family.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pooling: Option<Pooling>,
    /// `local`: what its weights are. Vectors of another precision are those of another embedder.
    pub precision: Precision,
    /// The cosine from which a chunk counts as near; by default that of the embedder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_threshold: Option<f32>,
    /// The cosine from which an atom counts as near; by default that of the embedder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atom_threshold: Option<f32>,
}

/// The offline model.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OfflineConfig {
    /// Whether trained heads on the local embedder read passages; without them, rules alone do.
    pub heads: bool,
    /// A file of heads in place of the built-in ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heads_path: Option<PathBuf>,
}

impl Default for OfflineConfig {
    fn default() -> Self {
        Self { heads: true, heads_path: None }
    }
}

/// The replies of models that are stored, so that no call is paid for twice.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CacheConfig {
    /// About how much a base stores on the disk; after that, the oldest replies are removed.
    pub max_bytes: u64,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self { max_bytes: 20_000_000_000 }
    }
}

/// External sources searched in addition to the knowledge base.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SourcesConfig {
    /// Who asks, for the servers of a knowledge graph and of web pages: an e-mail address or a page.
    pub contact: String,
    pub text: TextConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<WebSettings>,
}

/// The base among the sources.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TextConfig {
    /// What the documents are about, in one line, for the model that chooses among sources.
    pub about: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    #[default]
    Openai,
    /// The server of llama.cpp, which Halma starts for a model file.
    LlamaServer,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelConfig {
    pub kind: ModelKind,
    /// The API base, as in `https://api.example.com/v1`.
    pub url: String,
    pub model: String,
    /// The model file (GGUF) of `kind = "llama-server"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Further arguments of llama.cpp's server, such as `["--threads", "4"]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The environment variable that holds the API key; empty for servers without keys.
    pub key_env: String,
    /// A file with the key, which no one else may read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
    /// US dollars per million tokens: `{ prompt = 2.5, completion = 10.0 }`.
    pub price: Price,
    /// Maximum number of concurrent calls; reduced while the server throttles.
    pub concurrency: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// For one attempt of a call.
    pub timeout_seconds: f64,
    /// Retries after a transient failure.
    pub retries: usize,
    /// How JSON replies are requested: `auto`, `schema`, `object`, `off`.
    pub json: JsonMode,
    /// Read replies as they are generated.
    pub stream: bool,
    /// Whether the server returns log-probabilities of tokens.
    pub logprobs: bool,
    /// Tokens for the thoughts of a reasoning model, added to those of every reply.
    pub thinking_tokens: u32,
    /// Fields of the server's own for every request; one that Halma has a value for, such as
    /// `temperature`, takes its place.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            kind: ModelKind::default(),
            url: String::new(),
            model: String::new(),
            file: None,
            arguments: vec![],
            key_env: String::new(),
            key_file: None,
            price: Price::default(),
            concurrency: 16,
            requests_per_minute: None,
            timeout_seconds: 120.0,
            retries: 5,
            json: JsonMode::default(),
            stream: false,
            logprobs: false,
            thinking_tokens: 0,
            extra: serde_json::Map::new(),
        }
    }
}

impl ModelConfig {
    /// What is missing for its kind, as key, reason and hint.
    fn check(&self) -> Result<(), (&'static str, &'static str, &'static str)> {
        let is_file = self.file.is_some();
        match self.kind {
            ModelKind::Openai if is_file => {
                Err((".file", "a server has its model already", "add `kind = \"llama-server\"`"))
            }
            ModelKind::Openai if self.url.is_empty() => {
                Err(("", "`url` is required", "write `url = \"https://host/v1\"`"))
            }
            ModelKind::Openai if self.model.is_empty() => {
                Err(("", "`model` is required", "write `model = \"NAME\"`"))
            }
            ModelKind::LlamaServer if !is_file => {
                Err(("", "`file` is required", "write `file = \"PATH.gguf\"`"))
            }
            ModelKind::LlamaServer if !self.url.is_empty() => {
                let is_here = self.url.parse().is_ok_and(|url| is_loopback(&url));
                let hint = "write `url = \"http://127.0.0.1:PORT/v1\"`, or delete the line";
                is_here.then_some(()).ok_or((".url", "it is no address of this machine", hint))
            }
            _ => Ok(()),
        }
    }

    /// A model at the base of an API, the rest as by default.
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        Self { url: url.into(), model: model.into(), ..Self::default() }
    }
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetConfig {
    /// For one question.
    pub ask: Budget,
    /// For one `halma index`.
    pub index: Budget,
    /// For one `halma eval`, all strategies and questions together.
    pub eval: Budget,
}

/// The table `[telemetry]`: where traces of questions are sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetryConfig {
    /// The address of an `OpenTelemetry` collector that takes OTLP over HTTP; empty: no traces are
    /// sent.
    pub otlp_url: String,
    /// Whether traces hold the texts of questions, prompts, replies and searches.
    pub content: bool,
    /// The name of this program among those that send to the collector.
    pub service_name: String,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self { otlp_url: String::new(), content: false, service_name: "halma".into() }
    }
}

impl Config {
    /// Puts the name of the file that was read into an error that could not know it.
    pub(crate) fn named(&self, error: ConfigError) -> ConfigError {
        if error.file == CONFIG_FILE && !self.file.is_empty() {
            return ConfigError { file: self.file.clone(), ..error };
        }
        error
    }

    /// Where a setting of a strategy was written, for errors: the file that was read, or a flag.
    pub(crate) fn settings_place(&self) -> String {
        let file = if self.file.is_empty() { CONFIG_FILE } else { &self.file };
        format!("{file} or --set")
    }

    /// For commands that ask no model: where the variable with a model's key is not set, or a file
    /// holds the key, the model is configured without one.
    #[must_use]
    pub fn without_unset_model_keys(mut self) -> Self {
        for model in self.models.values_mut() {
            forget_unset(&mut model.key_env);
            model.key_file = None;
        }
        self
    }

    /// For commands that read a base and call no server: likewise of the embedder, the reranker, the
    /// web and the knowledge graph.
    #[must_use]
    pub fn without_unset_keys(self) -> Self {
        let mut config = self.without_unset_model_keys();
        let web = config.sources.web.as_mut().map(|web| &mut web.key_env);
        let others =
            [&mut config.embedder.key_env, &mut config.reranker.key_env, &mut config.kg.key_env];
        others.into_iter().chain(web).for_each(forget_unset);
        config
    }

    /// The name of the model that a role is assigned to.
    pub fn model_of(&self, role: &str) -> &str {
        // Keywords are a proposer's work, unless a model is trained for them (DEC, Section 3.2).
        let parent = (role == "keywords").then_some("proposer");
        let named = |role: &str| self.roles.get(role);
        match named(role).or_else(|| parent.and_then(named)).or_else(|| self.roles.get("default")) {
            Some(name) => name,
            // A single model gets every role.
            None if self.models.len() == 1 => self.models.keys().next().map_or(OFFLINE, |n| n),
            None => OFFLINE,
        }
    }
}

fn forget_unset(variable: &mut String) {
    if std::env::var_os(&*variable).is_none() {
        variable.clear();
    }
}
