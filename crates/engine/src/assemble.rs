//! Models, embedder and prompts from the configuration.
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use halma_core::{
    ConfigError, Embedder, Llm, Models, Price, PromptError, Prompts, Reranker, Tagging,
};
use halma_kb::Thresholds;
use halma_models::embed::minilm::{self, MiniLm};
use halma_models::{Cache, RerankerKind, RerankerSettings, TaggerKind, wrapped, wrapped_embedder};
use halma_net::{Endpoint, Limits};
use halma_offline::Extractive;
use halma_web::Web;

use crate::config::{
    CONFIG_FILE, Config, EmbedderConfig, EmbedderKind, ModelConfig, OFFLINE, ROLES,
};
use crate::shipped_prompts;

/// Something opened, with what the user should know about it.
pub struct Opened<T> {
    pub value: T,
    pub warning: Option<String>,
}

/// The shipped prompts with the user's in their places.
pub(crate) fn prompts(config: &Config) -> Result<Prompts, ConfigError> {
    let mut prompts = Prompts::shipped(&shipped_prompts()).map_err(bad_prompt)?;
    let Some(dir) = &config.prompts_dir else { return Ok(prompts) };
    if !dir.is_dir() {
        return Err(ConfigError {
            file: CONFIG_FILE.into(),
            key: "prompts_dir".into(),
            reason: format!("`{}` is no folder", dir.display()),
            hint: "write the shipped prompts there with `halma prompts export DIR`".into(),
        });
    }
    for (name, file) in prompt_files(dir, dir) {
        let path = file.display().to_string();
        let text = std::fs::read_to_string(&file).map_err(|e| ConfigError {
            file: path.clone(),
            key: name.clone(),
            reason: e.to_string(),
            hint: "make the file readable UTF-8, or remove it".into(),
        })?;
        prompts.replace(&name, &path, &text).map_err(bad_prompt)?;
    }
    Ok(prompts)
}

fn bad_prompt(error: PromptError) -> ConfigError {
    let file = match error.line {
        Some(line) => format!("{}:{line}", error.file),
        None => error.file,
    };
    let hint = "`halma prompts list` shows each prompt's variables, `halma prompts diff` what you \
                changed"
        .into();
    ConfigError { file, key: error.prompt, reason: error.reason, hint }
}

/// Every `.md` below `dir` with its prompt name, sorted.
fn prompt_files(root: &Path, dir: &Path) -> Vec<(String, std::path::PathBuf)> {
    let mut found = vec![];
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(prompt_files(root, &path));
        } else if path.extension().is_some_and(|ext| ext == "md") {
            let name = path.strip_prefix(root).unwrap_or(&path).with_extension("");
            let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
            found.push((parts.join("/"), path));
        }
    }
    found.sort();
    found
}

/// The model of every role; the offline one where none is configured.
pub(crate) fn models(config: &Config, cache: Option<&Arc<Cache>>) -> Result<Models, ConfigError> {
    let offline: Arc<dyn Llm> = Arc::new(Extractive::new());
    let mut built: std::collections::BTreeMap<&str, Arc<dyn Llm>> = [(OFFLINE, offline)].into();
    for (name, model) in &config.models {
        let used = ROLES.iter().any(|role| config.model_of(role) == name);
        if used {
            let key = format!("models.{name}");
            let endpoint = endpoint(model, &key)?;
            let limits = limits(model);
            let llm = wrapped(endpoint, limits, cache.cloned()).map_err(|e| at(e, &key))?;
            built.insert(name, llm);
        }
    }
    let of = |role: &str| Arc::clone(&built[config.model_of(role)]);
    let models = Models::new(of("default"));
    Ok(ROLES.iter().fold(models, |models, role| models.with(*role, of(role))))
}

/// An endpoint as configured; a key variable that is not set is an error before any call.
pub(crate) fn endpoint(model: &ModelConfig, key: &str) -> Result<Endpoint, ConfigError> {
    Ok(Endpoint {
        url: model.url.clone(),
        model: model.model.clone(),
        key: key_of(&model.key_env, key)?,
        price: model.price,
        timeout: Duration::from_secs_f64(model.timeout_seconds),
        json: model.json,
        stream: model.stream,
        logprobs: model.logprobs,
    })
}

fn limits(model: &ModelConfig) -> Limits {
    Limits {
        concurrency: model.concurrency,
        requests_per_minute: model.requests_per_minute,
        retries: model.retries,
        ..Limits::default()
    }
}

pub(crate) fn key_of(variable: &str, table: &str) -> Result<Option<String>, ConfigError> {
    if variable.is_empty() {
        return Ok(None);
    }
    std::env::var(variable).map(Some).map_err(|_| ConfigError {
        file: CONFIG_FILE.into(),
        key: format!("{table}.key_env"),
        reason: format!("the environment variable `{variable}` is not set"),
        hint: format!("export {variable}=…, or delete `key_env` for a server without keys"),
    })
}

pub(crate) fn at(error: ConfigError, table: &str) -> ConfigError {
    let file = if error.file.is_empty() { CONFIG_FILE.into() } else { error.file };
    ConfigError { file, key: format!("{table}.{}", error.key), ..error }
}

/// The embedder, or none with the reason why words alone must do.
pub(crate) fn embedder(
    config: &EmbedderConfig,
) -> Result<Opened<Option<Arc<dyn Embedder>>>, ConfigError> {
    match config.kind {
        EmbedderKind::None => Ok(Opened { value: None, warning: None }),
        EmbedderKind::Endpoint => {
            let endpoint = Endpoint {
                url: config.url.clone(),
                model: config.model.clone(),
                key: key_of(&config.key_env, "embedder")?,
                price: Price::default(),
                ..Endpoint::default()
            };
            let embedder =
                wrapped_embedder(endpoint, Limits::default()).map_err(|e| at(e, "embedder"))?;
            Ok(Opened { value: Some(embedder), warning: None })
        }
        EmbedderKind::Local => local(config.path.as_deref()),
    }
}

/// Missing weights are a warning (words alone must do); a path the user gave must be right.
fn local(path: Option<&Path>) -> Result<Opened<Option<Arc<dyn Embedder>>>, ConfigError> {
    let opened = minilm::locate(path).and_then(|dir| MiniLm::open(&dir, None));
    match opened {
        Ok(embedder) => Ok(Opened { value: Some(Arc::new(embedder)), warning: None }),
        Err(e) if path.is_some() => Err(ConfigError {
            file: CONFIG_FILE.into(),
            key: "embedder.path".into(),
            reason: e.to_string(),
            hint:
                "point it at a folder with model.safetensors, tokenizer.json and config.json, or \
                   delete it and run `halma doctor --fetch`"
                    .into(),
        }),
        Err(e) => Ok(Opened {
            value: None,
            warning: Some(format!(
                "no local embedder ({e}); searching by words only. `halma doctor --fetch` gets the \
                 weights, `kind = \"none\"` under [embedder] silences this"
            )),
        }),
    }
}

/// The reranker, where one is configured.
pub(crate) fn reranker(
    config: &RerankerSettings,
    embedder: Option<&Arc<dyn Embedder>>,
) -> Result<Option<Arc<dyn Reranker>>, ConfigError> {
    let key = match config.kind {
        RerankerKind::Endpoint => key_of(&config.key_env, "reranker")?,
        RerankerKind::None | RerankerKind::Cosine | RerankerKind::Onnx => None,
    };
    halma_models::reranker(config, key, embedder).map_err(|e| at(e, "reranker"))
}

/// How entities are found. The offline model does not tag, so that there must be another to ask.
pub(crate) fn tagger(config: &Config) -> Result<Tagging, ConfigError> {
    if config.tagger.kind == TaggerKind::Model && config.model_of("tagger") == OFFLINE {
        return Err(ConfigError {
            file: CONFIG_FILE.into(),
            key: "tagger.kind".into(),
            reason: "no model plays the role `tagger`".into(),
            hint: "name one as `tagger` under [roles], or write `kind = \"rules\"`".into(),
        });
    }
    halma_models::tagger(&config.tagger).map_err(|e| at(e, "tagger"))
}

/// The web, where it is configured; its searches are kept in `folder`.
pub(crate) fn web(config: &Config, folder: PathBuf) -> Result<Option<Arc<Web>>, ConfigError> {
    let Some(settings) = &config.sources.web else { return Ok(None) };
    let key = key_of(&settings.key_env, "sources.web")?;
    let web = halma_web::web(settings, key, folder).map_err(|e| at(e, "sources.web"))?;
    Ok(Some(Arc::new(web)))
}

/// Where a base keeps the searches of the web.
pub(crate) fn web_folder(cache: &Path) -> PathBuf {
    cache.join("web")
}

/// Gets the weights of the local embedder into the place where [`embedder`] looks for them.
pub fn fetch_weights() -> Result<std::path::PathBuf, ConfigError> {
    minilm::cache_folder().and_then(|dir| minilm::fetch(&dir)).map_err(|e| ConfigError {
        file: "the weights of all-MiniLM-L6-v2".into(),
        key: "embedder".into(),
        reason: e.to_string(),
        hint: "Halma works without them, searching by words only".into(),
    })
}

/// The cosine from which a hit counts as near, by embedder (methods: scores; measured values in
/// `docs/concepts/scores.md`).
pub(crate) fn thresholds(config: &EmbedderConfig, model: Option<&str>) -> Thresholds {
    let (chunk, atom) = match model {
        // The paper's 0.2 and 0.5 are relevance scores of this embedder's store; as cosines:
        Some(name) if name.contains("ada-002") => (0.434, 0.646),
        Some("all-MiniLM-L6-v2") => (0.15, 0.25),
        // Of an embedder nobody has measured only the sign is known to mean something; what is
        // found in vain costs a selector's glance, what is not found costs the answer.
        _ => (0.0, 0.0),
    };
    Thresholds {
        chunk: config.chunk_threshold.unwrap_or(chunk),
        atom: config.atom_threshold.unwrap_or(atom),
    }
}
