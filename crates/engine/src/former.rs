//! The embedder that a base was made with, opened again while another one takes its place.
use std::path::Path;

use halma_kb::{Base, Former};

use crate::assemble;
use crate::config::EmbedderConfig;
use crate::error::EngineError;

/// What [`halma_kb::BaseOptions::origin`] says of an embedder: its table of the configuration,
/// which names the variable of the key, never the key.
pub(crate) fn origin(config: &EmbedderConfig) -> String {
    serde_json::to_string(config).expect("the table is plain words and numbers")
}

/// The embedder whose vectors the base in `dir` is searched by, where that is another one than
/// `configured` and can still be opened.
pub(crate) fn former(dir: &Path, configured: Option<&str>) -> Result<Option<Former>, EngineError> {
    let Some(configured) = configured else { return Ok(None) };
    let held = Base::embedded_by(dir)?.filter(|held| held.model != configured);
    let Some(held) = held else { return Ok(None) };
    let Ok(config) = serde_json::from_str::<EmbedderConfig>(&held.origin) else { return Ok(None) };
    // One that cannot be opened any more is no error: words alone are searched until the new
    // vectors are there, and the base says so.
    let opened = assemble::embedder(&config).ok().and_then(|opened| opened.value);
    let thresholds = assemble::thresholds(&config, Some(&held.model));
    let fits = opened.filter(|embedder| embedder.model() == held.model);
    Ok(fits.map(|embedder| Former { embedder, thresholds }))
}
