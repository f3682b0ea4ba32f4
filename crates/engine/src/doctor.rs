//! `halma doctor`: is everything there that the configuration asks for?
use std::path::Path;

use halma_connect::ping;
use halma_core::ConfigError;
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
    match assemble::embedder(&config.embedder) {
        Ok(opened) => match (opened.value, opened.warning) {
            (Some(embedder), _) => {
                match embedder.embed(&["ready?"], halma_core::EmbedRole::Query).await {
                    Ok(vectors) => {
                        let size = vectors.first().map_or(0, Vec::len);
                        let told = format!("{}, {size} dimensions", embedder.model());
                        found("embedder", Health::Good, told);
                    }
                    Err(e) => found("embedder", Health::Bad, format!("{}: {e}", embedder.model())),
                }
            }
            (None, Some(warning)) => found("embedder", Health::Warning, warning),
            (None, None) => {
                let none = config.embedder.kind == EmbedderKind::None;
                let told = if none { "none, as configured: search by words only" } else { "none" };
                found("embedder", Health::Warning, told.into());
            }
        },
        Err(e) => found("embedder", Health::Bad, told(config, e)),
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

fn told(config: &Config, error: ConfigError) -> String {
    let error = config.named(error);
    format!("{error}. {}", error.hint)
}
