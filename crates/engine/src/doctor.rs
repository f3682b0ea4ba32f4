//! `halma doctor`: is everything there that the configuration asks for?
use std::path::Path;
use std::sync::Arc;

use halma_core::{ConfigError, EmbedRole, Embedder, Tagging};
use halma_models::{RerankerKind, ping};
use serde::Serialize;

use crate::assemble;
use crate::config::{Config, EmbedderKind, ROLES};
use crate::engine::Engine;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    Good,
    /// It works with less.
    Warning,
    Bad,
}

#[derive(Debug, Serialize)]
pub struct Finding {
    pub what: String,
    pub health: Health,
    pub told: String,
}

/// Looks at configuration, prompts, embedder, models and, if there is one, the base in `dir`.
pub async fn examine(config: &Config, dir: &Path) -> Vec<Finding> {
    let mut findings = vec![];
    let mut found = |what: &str, health, told: String| {
        findings.push(Finding { what: what.to_owned(), health, told });
    };
    match assemble::prompts(config) {
        Ok(prompts) => {
            let list = prompts.list();
            let changed = list.iter().filter(|info| info.overridden).count();
            found("prompts", Health::Good, format!("{} prompts, {changed} of yours", list.len()));
        }
        Err(e) => found("prompts", Health::Bad, told(config, e)),
    }
    let (opened, (health, said)) = embedder(config).await;
    found("embedder", health, said);
    let (health, said) = reranker(config, opened.as_ref()).await;
    found("reranker", health, said);
    let (health, said) = tagger(config).await;
    found("tagger", health, said);
    if let Some((health, said)) = web(config, dir).await {
        found("source web", health, said);
    }
    for (name, model) in &config.models {
        let what = format!("model {name}");
        match assemble::endpoint(model, &format!("models.{name}")) {
            Ok(endpoint) => match ping(endpoint).await {
                Ok(took) => {
                    let told =
                        format!("{} answers in {:.0} ms", model.model, took.as_secs_f64() * 1e3);
                    found(&what, Health::Good, told);
                }
                Err(e) => found(&what, Health::Bad, e.to_string()),
            },
            Err(e) => found(&what, Health::Bad, told(config, e)),
        }
    }
    for role in ROLES {
        found(&format!("role {role}"), Health::Good, config.model_of(role).to_owned());
    }
    match dir.exists().then(|| Engine::open(config.clone(), dir)) {
        None => found("base", Health::Warning, format!("none at {} yet", dir.display())),
        Some(Err(e)) => found("base", Health::Bad, e.to_string()),
        Some(Ok(engine)) => match engine.stats() {
            Ok(stats) => {
                let told = format!(
                    "{} documents, {} chunks, {} atoms, {} failed units",
                    stats.documents, stats.chunks, stats.atoms, stats.failed_units
                );
                let health = if stats.failed_units == 0 { Health::Good } else { Health::Warning };
                found("base", health, told);
            }
            Err(e) => found("base", Health::Bad, e.to_string()),
        },
    }
    findings
}

/// The embedder, where there is one, and how it is.
async fn embedder(config: &Config) -> (Option<Arc<dyn Embedder>>, (Health, String)) {
    let opened = match assemble::embedder(&config.embedder) {
        Ok(opened) => opened,
        Err(e) => return (None, (Health::Bad, told(config, e))),
    };
    let health = match (&opened.value, opened.warning) {
        (Some(embedder), _) => match embedder.embed(&["ready?"], EmbedRole::Query).await {
            Ok(vectors) => {
                let size = vectors.first().map_or(0, Vec::len);
                (Health::Good, format!("{}, {size} dimensions", embedder.model()))
            }
            Err(e) => (Health::Bad, format!("{}: {e}", embedder.model())),
        },
        (None, Some(warning)) => (Health::Warning, warning),
        (None, None) => {
            let none = config.embedder.kind == EmbedderKind::None;
            let told = if none { "none, as configured: search by words only" } else { "none" };
            (Health::Warning, told.into())
        }
    };
    (opened.value, health)
}

async fn reranker(config: &Config, embedder: Option<&Arc<dyn Embedder>>) -> (Health, String) {
    match assemble::reranker(&config.reranker, embedder) {
        Ok(Some(reranker)) => {
            let scored = reranker.rerank("ready?", &["ready", "not yet"]).await;
            match scored {
                Ok(_) => (Health::Good, reranker.name().to_owned()),
                Err(e) => (Health::Bad, format!("{}: {e}", reranker.name())),
            }
        }
        Ok(None) if config.reranker.kind == RerankerKind::None => {
            (Health::Good, "none: passages keep the order in which they were found".into())
        }
        Ok(None) => {
            (Health::Warning, "none, for want of an embedder whose cosine it could be".into())
        }
        Err(e) => (Health::Bad, told(config, e)),
    }
}

async fn tagger(config: &Config) -> (Health, String) {
    match assemble::tagger(config) {
        Ok(Tagging::Model) => {
            (Health::Good, format!("the model {} is asked", config.model_of("tagger")))
        }
        Ok(Tagging::Tagger(tagger)) => match tagger.entities("Is Ada Lovelace ready?").await {
            Ok(_) => (Health::Good, tagger.name().to_owned()),
            Err(e) => (Health::Bad, format!("{}: {e}", tagger.name())),
        },
        Err(e) => (Health::Bad, told(config, e)),
    }
}

/// The web, where it is configured. A key is not tried, since engines take money for a search.
async fn web(config: &Config, dir: &Path) -> Option<(Health, String)> {
    match assemble::web(config, assemble::web_folder(&dir.join("cache"))) {
        Ok(web) => Some(match web?.check().await {
            Ok(said) => (Health::Good, said),
            Err(e) => (Health::Bad, e.to_string()),
        }),
        Err(e) => Some((Health::Bad, told(config, e))),
    }
}

fn told(config: &Config, error: ConfigError) -> String {
    let error = config.named(error);
    format!("{error}. {}", error.hint)
}
