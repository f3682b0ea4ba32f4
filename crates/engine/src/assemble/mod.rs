//! Models, embedder, reranker, tagger and sources from the configuration.
mod heads;
mod llama_server;
pub(crate) mod previous_embedder;
mod prompts;
pub(crate) mod requirements;
pub(crate) mod resources;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use halma_core::{ConfigError, Embedder, Llm, Models, Price, Reranker, Tagging};
use halma_kb::{ThresholdSources, Thresholds};
use halma_models::embed::minilm::{self, LocalOptions, MiniLm, WeightsError};
use halma_models::{
    Cache, EmbedderUse, RerankerKind, RerankerSettings, TaggerKind, wrapped, wrapped_embedder,
};
use halma_net::{Endpoint, Limits};
use halma_offline::Extractive;
use halma_sources::web::{Web, WebAccess};

pub(crate) use self::heads::heads;
pub use self::prompts::{PromptOverride, configured_prompts, is_demonstrations, prompt_overrides};
pub(crate) use self::prompts::{count_demonstrations, prompts};
use crate::config::{
    CONFIG_FILE, Config, EmbedderConfig, EmbedderKind, ModelConfig, ModelKind, OFFLINE, ROLES,
    key_error,
};

/// Something that was opened, with what the user should know about it.
pub(crate) struct Opened<T> {
    pub(crate) value: T,
    pub(crate) warning: Option<String>,
}

/// The model of every role; the offline model where none is configured.
pub(crate) fn models(
    config: &Config,
    cache: Option<&Arc<Cache>>,
    offline: &Extractive,
) -> Result<Models, ConfigError> {
    models_by(config, offline, |endpoint, limits| wrapped(endpoint, limits, cache.cloned()))
}

/// The model of every role, those of servers by `make`.
pub(crate) fn models_by(
    config: &Config,
    offline: &Extractive,
    make: impl Fn(Endpoint, Limits) -> Result<Arc<dyn Llm>, ConfigError>,
) -> Result<Models, ConfigError> {
    let offline: Arc<dyn Llm> = Arc::new(offline.clone());
    let mut built: std::collections::BTreeMap<&str, Arc<dyn Llm>> = [(OFFLINE, offline)].into();
    for (name, model) in &config.models {
        let used = ROLES.iter().any(|role| config.model_of(role) == name);
        if used {
            let key = format!("models.{name}");
            let endpoint = endpoint(model, &key)?;
            let limits = limits(model);
            let llm = make(endpoint, limits).map_err(|e| at(e, &key))?;
            built.insert(name, llm);
        }
    }
    let model = |role: &str| Arc::clone(&built[config.model_of(role)]);
    let models = Models::new(model("default"));
    Ok(ROLES.iter().fold(models, |models, role| models.with(*role, model(role))))
}

/// An endpoint as configured; a key variable that is not set is an error before any call.
pub(crate) fn endpoint(model: &ModelConfig, key: &str) -> Result<Endpoint, ConfigError> {
    let timeout = Duration::try_from_secs_f64(model.timeout_seconds);
    let timeout = timeout.map_err(|e| {
        let reason = format!("{:?} is not a time: {e}", model.timeout_seconds);
        key_error(format!("{key}.timeout_seconds"), reason, "write a time in seconds, such as 120")
    })?;
    let started = (model.kind == ModelKind::LlamaServer).then(|| llama_server::Started::new(model));
    let (url, name, command) = match started {
        Some(started) => (started.url, started.model, Some(started.command)),
        None => (model.url.clone(), model.model.clone(), None),
    };
    Ok(Endpoint {
        url,
        model: name,
        command,
        key: model_key(model, key)?,
        price: model.price,
        timeout,
        json: model.json,
        stream: model.stream || model.kind == ModelKind::LlamaServer,
        logprobs: model.logprobs,
        thinking_tokens: model.thinking_tokens,
        extra: model.extra.clone(),
    })
}

/// The key of a model, from its variable or its file.
fn model_key(model: &ModelConfig, table: &str) -> Result<Option<String>, ConfigError> {
    let Some(file) = model.key_file.as_deref().filter(|_| model.key_env.is_empty()) else {
        return key_of(&model.key_env, table);
    };
    let shown = file.display();
    let wrong = |reason: String, hint: String| key_error(format!("{table}.key_file"), reason, hint);
    let unread = |e: std::io::Error| {
        wrong(format!("`{shown}`: {e}"), "write the key into this file, or use `key_env`".into())
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if std::fs::metadata(file).map_err(unread)?.mode() & 0o077 != 0 {
            let reason = format!("other users of this machine may read `{shown}`");
            return Err(wrong(reason, format!("run `chmod 600 {shown}`")));
        }
    }
    let key = std::fs::read_to_string(file).map_err(unread)?;
    Ok(Some(key.trim().to_owned()))
}

pub(crate) fn limits(model: &ModelConfig) -> Limits {
    Limits {
        // A single sequence is generated fastest, and others wait for it without a timeout.
        concurrency: match model.kind {
            ModelKind::Openai => model.concurrency,
            ModelKind::LlamaServer => 1,
        },
        requests_per_minute: model.requests_per_minute,
        retries: model.retries,
        ..Limits::default()
    }
}

pub(crate) fn key_of(variable: &str, table: &str) -> Result<Option<String>, ConfigError> {
    if variable.is_empty() {
        return Ok(None);
    }
    std::env::var(variable).map(Some).map_err(|_| {
        let reason = format!("the environment variable `{variable}` is not set");
        let hint = format!("export {variable}=…, or delete `key_env` for a server without keys");
        key_error(format!("{table}.key_env"), reason, hint)
    })
}

pub(crate) fn at(error: ConfigError, table: &str) -> ConfigError {
    let file = if error.file.is_empty() { CONFIG_FILE.into() } else { error.file };
    ConfigError { file, key: format!("{table}.{}", error.key), ..error }
}

/// An embedder, and the local model that it is, if it is one.
#[derive(Default)]
pub(crate) struct OpenedEmbedder {
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) local: Option<MiniLm>,
}

/// The embedder, or none with the reason why search is lexical only.
pub(crate) fn embedder(config: &EmbedderConfig) -> Result<Opened<OpenedEmbedder>, ConfigError> {
    match config.kind {
        EmbedderKind::None => Ok(Opened { value: OpenedEmbedder::default(), warning: None }),
        EmbedderKind::Endpoint => {
            let endpoint = embedder_endpoint(config)?;
            let embedder =
                wrapped_embedder(endpoint, Limits::default()).map_err(|e| at(e, "embedder"))?;
            let how = EmbedderUse::for_model(embedder.model());
            let embedder = Some(used(embedder, how, config));
            Ok(Opened { value: OpenedEmbedder { embedder, local: None }, warning: None })
        }
        EmbedderKind::Local => {
            let Opened { value: local, warning } = local(config)?;
            let embedder = local.clone().map(|local| {
                let how = local.how();
                used(Arc::new(local), how, config)
            });
            Ok(Opened { value: OpenedEmbedder { embedder, local }, warning })
        }
    }
}

/// The server of an embedder.
pub(crate) fn embedder_endpoint(config: &EmbedderConfig) -> Result<Endpoint, ConfigError> {
    Ok(Endpoint {
        url: config.url.clone(),
        model: config.model.clone(),
        key: key_of(&config.key_env, "embedder")?,
        price: Price::default(),
        ..Endpoint::default()
    })
}

/// The embedder as it is used, unless other prefixes are configured.
pub(crate) fn used(
    embedder: Arc<dyn Embedder>,
    mut how: EmbedderUse,
    config: &EmbedderConfig,
) -> Arc<dyn Embedder> {
    let prefixes = [
        (&mut how.query_prefix, &config.query_prefix),
        (&mut how.passage_prefix, &config.passage_prefix),
    ];
    for (prefix, configured) in prefixes {
        if let Some(configured) = configured {
            prefix.clone_from(configured);
        }
    }
    how.apply(embedder)
}

/// Missing weights are a warning, and search is lexical only; a path that the user gave must be
/// right.
fn local(config: &EmbedderConfig) -> Result<Opened<Option<MiniLm>>, ConfigError> {
    let path = config.path.as_deref();
    let (pooling, precision) = (config.pooling, config.precision);
    let options = LocalOptions { pooling, precision, ..LocalOptions::default() };
    let opened = minilm::locate(path).and_then(|dir| MiniLm::open_with(&dir, options));
    match opened {
        Ok(embedder) => Ok(Opened { value: Some(embedder), warning: None }),
        Err(e) if path.is_some() => Err(key_error(
            "embedder.path",
            e.to_string(),
            "point it at a folder with model.safetensors, tokenizer.json and config.json, or \
             delete it and run `halma doctor --fetch`",
        )),
        Err(e) => Ok(Opened { value: None, warning: Some(no_embedder(&e)) }),
    }
}

fn no_embedder(error: &WeightsError) -> String {
    let turn_off = "`kind = \"none\"` under [embedder] turns this warning off";
    match error {
        WeightsError::Absent { path } => format!(
            "no local embedder in `{}`: only keywords are searched; `halma doctor --fetch` gets it, \
             {turn_off}",
            path.display()
        ),
        other => format!("no local embedder: {other}; only keywords are searched, {turn_off}"),
    }
}

/// The reranker, if one is configured.
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

/// How entities are found. The offline model does not tag: `kind = "model"` needs another model.
pub(crate) fn tagger(config: &Config) -> Result<Tagging, ConfigError> {
    if config.tagger.kind == TaggerKind::Model && config.model_of("tagger") == OFFLINE {
        let hint = "assign a model to `tagger` under [roles], or write `kind = \"rules\"`";
        return Err(key_error("tagger.kind", "the role `tagger` is not assigned to a model", hint));
    }
    halma_models::tagger(&config.tagger).map_err(|e| at(e, "tagger"))
}

/// The web, if it is configured; its searches are cached in `folder`.
pub(crate) fn web(config: &Config, folder: PathBuf) -> Result<Option<Arc<Web>>, ConfigError> {
    let Some(settings) = &config.sources.web else { return Ok(None) };
    let key = key_of(&settings.key_env, "sources.web")?;
    let access = WebAccess { key, contact: config.sources.contact.clone(), folder };
    let web = halma_sources::web::web(settings, access).map_err(|e| at(e, "sources.web"))?;
    Ok(Some(Arc::new(web)))
}

/// The folder of cached web searches in the cache folder of a base.
pub(crate) fn web_folder(cache: &Path) -> PathBuf {
    cache.join("web")
}

/// The folder of cached results of a SPARQL endpoint in the cache folder of a base.
pub(crate) fn kg_folder(cache: &Path) -> PathBuf {
    cache.join("kg")
}

/// Downloads the weights of the local embedder to where [`embedder`] looks for them.
pub fn fetch_weights() -> Result<std::path::PathBuf, ConfigError> {
    minilm::cache_folder().and_then(|dir| minilm::fetch(&dir)).map_err(|e| ConfigError {
        file: "the weights of all-MiniLM-L6-v2".into(),
        key: "embedder".into(),
        reason: e.to_string(),
        hint: "Halma works without them, searching by keywords only".into(),
    })
}

/// The cosine from which a hit counts as near, by embedder (measured values in
/// `docs/concepts/scores.md`).
pub(crate) fn thresholds(config: &EmbedderConfig, model: Option<&str>) -> ThresholdSources {
    let (chunk, atom) = match model {
        // The paper's 0.2 and 0.5 are relevance scores of this embedder's store; as cosines:
        Some(name) if name.contains("ada-002") => (Some(0.434), Some(0.646)),
        Some("all-MiniLM-L6-v2" | "all-MiniLM-L6-v2-int8") => (Some(0.15), Some(0.25)),
        // Of others there is what each base measures when it is built.
        _ => (None, None),
    };
    let configured = Thresholds { chunk: config.chunk_threshold, atom: config.atom_threshold };
    ThresholdSources { configured, usual: Thresholds { chunk, atom } }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    #[test]
    fn a_file_with_a_key_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        use super::*;

        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "secret\n").unwrap();
        let key_file = Some(file.path().to_owned());
        let model = ModelConfig { key_file, ..ModelConfig::new("http://127.0.0.1:9/v1", "m") };
        let with_mode = |mode: u32| {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            endpoint(&model, "models.m")
        };
        assert_eq!(with_mode(0o600).unwrap().key.as_deref(), Some("secret"));
        let error = with_mode(0o640).unwrap_err();
        assert_eq!(error.key, "models.m.key_file");
        assert!(error.hint.starts_with("run `chmod 600"), "{error}");
        let key_file = Some("/no/such/file".into());
        let error = endpoint(&ModelConfig { key_file, ..model.clone() }, "models.m").unwrap_err();
        assert!(error.reason.contains("/no/such/file"), "{error}");
    }
}
