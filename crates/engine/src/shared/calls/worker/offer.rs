//! What a worker can do: the models and the embedder of its configuration.
use std::collections::BTreeMap;
use std::sync::Arc;

use halma_core::{ConfigError, Embedder, Llm};
use halma_models::{EmbedderUse, EndpointEmbedder, OpenAi, limited, limited_embedder};
use halma_net::Limits;

use super::pauses::Pauses;
use crate::assemble;
use crate::config::{Config, EmbedderKind, OFFLINE, ROLES};
use crate::shared::calls::message::CallKind;

/// Embedding calls in progress; each has many texts.
const EMBEDDINGS: usize = 2;

/// One kind of call that a worker does.
#[derive(Clone)]
pub(super) struct Offer {
    pub(super) kind: CallKind,
    /// As calls name it.
    pub(super) name: String,
    pub(super) how: How,
    /// Calls in progress, at most.
    pub(super) places: usize,
}

#[derive(Clone)]
pub(super) enum How {
    Chat(Arc<dyn Llm>),
    Embed(Arc<dyn Embedder>),
}

/// The offers of a configuration. `embedder` is one that is computed on this machine, if it is open
/// already.
pub(super) fn offers(
    config: &Config,
    embedder: Option<Arc<dyn Embedder>>,
    pauses: &Pauses,
) -> Result<Vec<Offer>, ConfigError> {
    let mut by_kind = BTreeMap::new();
    for (name, model) in &config.models {
        if name == OFFLINE || !ROLES.iter().any(|role| config.model_of(role) == name) {
            continue;
        }
        let table = format!("models.{name}");
        let endpoint = assemble::endpoint(model, &table)?;
        let at = |e| assemble::at(e, &table);
        let llm: Arc<dyn Llm> = Arc::new(OpenAi::new(endpoint).map_err(at)?);
        let watched = Arc::new(pauses.watch(&model.api_url(), llm));
        let llm = limited(watched, assemble::limits(model)).map_err(at)?;
        let name = model.served_name();
        let (kind, places) = (CallKind::of_chat(&name), assemble::limits(model).concurrency);
        by_kind.entry(kind).or_insert(Offer { kind, name, how: How::Chat(llm), places });
    }
    if let Some(embedder) = offered_embedder(config, embedder, pauses)? {
        let (kind, name) = (CallKind::of_embedder(embedder.model()), embedder.model().to_owned());
        let how = How::Embed(embedder);
        by_kind.entry(kind).or_insert(Offer { kind, name, how, places: EMBEDDINGS });
    }
    Ok(by_kind.into_values().collect())
}

fn offered_embedder(
    config: &Config,
    open: Option<Arc<dyn Embedder>>,
    pauses: &Pauses,
) -> Result<Option<Arc<dyn Embedder>>, ConfigError> {
    let settings = &config.embedder;
    if settings.kind != EmbedderKind::Endpoint {
        if open.is_some() {
            return Ok(open);
        }
        let opened = assemble::embedder(settings)?;
        if let Some(warning) = opened.warning {
            tracing::warn!("{warning}");
        }
        return Ok(opened.value.embedder);
    }
    let at = |e| assemble::at(e, "embedder");
    let endpoint = assemble::embedder_endpoint(settings)?;
    let embedder: Arc<dyn Embedder> = Arc::new(EndpointEmbedder::new(endpoint).map_err(at)?);
    let watched = Arc::new(pauses.watch(&settings.url, embedder));
    let embedder = limited_embedder(watched, Limits::default()).map_err(at)?;
    let how = EmbedderUse::for_model(embedder.model());
    Ok(Some(assemble::used(embedder, how, settings)))
}
