//! The embedder that a base was built with, opened again while a new one replaces it.
use halma_kb::{Base, EmbeddedBy, Former};

use crate::assemble;
use crate::config::EmbedderConfig;
use crate::error::EngineError;
use crate::shared::Place;

/// [`halma_kb::BaseOptions::origin`] of an embedder: its table of the configuration, which names
/// the environment variable of the key, never the key.
pub(crate) fn origin(config: &EmbedderConfig) -> String {
    serde_json::to_string(config).expect("the table is plain words and numbers")
}

/// The embedder of the vectors in a base, if it differs from `configured` and can still be opened.
/// That of a shared base is looked for in the replica, as it is before it is brought up to date.
pub(crate) fn open(place: &Place, configured: Option<&str>) -> Result<Option<Former>, EngineError> {
    let Some(configured) = configured else { return Ok(None) };
    let previous = embedded_by(place)?.filter(|previous| previous.model != configured);
    let Some(previous) = previous else { return Ok(None) };
    let Ok(config) = serde_json::from_str::<EmbedderConfig>(&previous.origin) else {
        return Ok(None);
    };
    // If it cannot be opened, search is lexical until the new vectors are there, and the base
    // warns about it.
    let open = |config| assemble::embedder(config).ok().and_then(|opened| opened.value.embedder);
    let mut opened = open(&config);
    if opened.as_ref().is_some_and(|embedder| embedder.model() != previous.model) {
        // The base was made before the prefixes of the model's family were known.
        let plain = Some(String::new());
        let (query_prefix, passage_prefix) = (plain.clone(), plain);
        opened = open(&EmbedderConfig { query_prefix, passage_prefix, ..config.clone() });
    }
    let thresholds = assemble::thresholds(&config, Some(&previous.model));
    let fits = opened.filter(|embedder| embedder.model() == previous.model);
    Ok(fits.map(|embedder| Former { embedder, thresholds }))
}

fn embedded_by(place: &Place) -> Result<Option<EmbeddedBy>, EngineError> {
    match Base::embedded_by(place.folder()) {
        Err(_) if place.address().is_some() => Ok(None),
        previous => Ok(previous?),
    }
}
