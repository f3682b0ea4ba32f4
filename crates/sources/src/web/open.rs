//! From the settings to the web as a source.
use std::path::PathBuf;
use std::sync::Arc;

use halma_core::ConfigError;
use halma_net::address::wrong;
use halma_net::guarded::{Bounds, GuardedClient, Lookup, user_agent};

use crate::web::Web;
use crate::web::engine::Engine;
use crate::web::page::Pages;
use crate::web::settings::WebSettings;

/// Bytes of a reply or a page, at most.
const MAX_BYTES: usize = 4 << 20;

/// What the web needs in addition to its settings.
#[derive(Debug, Clone, Default)]
pub struct WebAccess {
    /// What the variable `key_env` holds.
    pub key: Option<String>,
    /// Who asks: an address or a page that the servers of pages are told; may be empty.
    pub contact: String,
    /// Where searches are stored.
    pub folder: PathBuf,
}

/// The web as configured. Nothing is connected to yet. The error's `file` is left empty for the
/// caller that read the configuration.
pub fn web(settings: &WebSettings, access: WebAccess) -> Result<Web, ConfigError> {
    resolving(settings, access, None)
}

/// As [`web`], with another way to find the addresses of hosts.
pub(crate) fn resolving(
    settings: &WebSettings,
    access: WebAccess,
    lookup: Option<&Arc<dyn Lookup>>,
) -> Result<Web, ConfigError> {
    let WebAccess { key, contact, folder } = access;
    settings.check()?;
    let url = settings.address()?;
    let timeout = settings.timeout()?;
    let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
    if key.as_ref().is_some_and(|key| !key.chars().all(|c| c.is_ascii_graphic())) {
        return Err(wrong(
            "key_env",
            "the key holds characters that no HTTP header may hold",
            "look for blanks, line breaks or letters outside ASCII in the variable",
        ));
    }
    let outside = |named: Vec<String>| {
        let bounds = Bounds { named, timeout, max_bytes: MAX_BYTES };
        let made = match lookup {
            Some(lookup) => GuardedClient::resolving(bounds, Arc::clone(lookup)),
            None => GuardedClient::new(bounds),
        };
        made.map_err(|e| wrong("url", &e.to_string(), "check the certificates of this machine"))
    };
    // The engine's own host is named by its address; a page has no such privilege.
    let host = url.host_str().unwrap_or_default().to_owned();
    let engine = outside(vec![host])?;
    let pages = outside(settings.allow_private.clone())?;
    let pages = Pages::new(pages, user_agent(&contact)?);
    let engine = Engine::new(settings, url, key, engine)?;
    Ok(Web::new(settings, engine, pages, folder))
}
