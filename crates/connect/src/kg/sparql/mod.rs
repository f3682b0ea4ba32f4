//! A SPARQL 1.1 endpoint over HTTP.
use std::sync::Arc;

use halma_core::{ConfigError, Facts};

use super::settings::KgSettings;

pub(crate) fn endpoint(
    settings: &KgSettings,
    key: Option<String>,
) -> Result<Arc<dyn Facts>, ConfigError> {
    let _ = key;
    Err(crate::address::wrong("url", &settings.url, ""))
}
