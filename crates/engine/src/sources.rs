//! Looking beside the base: the sources of texts that are configured.
use halma_core::{ConfigError, Hit};
use halma_web::{WebSearch, web_searches};

use crate::assemble;
use crate::engine::Engine;
use crate::error::EngineError;

impl Engine {
    /// Searches a source beside the base.
    pub async fn search_source(
        &self,
        name: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Hit>, EngineError> {
        let sources = &self.setup.sources;
        let source = sources.iter().find(|source| source.name() == name).ok_or_else(|| {
            let known: Vec<&str> = sources.iter().map(|source| source.name()).collect();
            ConfigError {
                file: "--source".into(),
                key: name.into(),
                reason: "no such source is configured".into(),
                hint: match known.as_slice() {
                    [] => "configure one under [sources.web] (docs/guide/sources.md)".into(),
                    known => format!("use one of: {}", known.join(", ")),
                },
            }
        })?;
        let hits = source.search(query, limit).await;
        let failed = |source| halma_core::Error::Source { name: name.to_owned(), source };
        Ok(hits.map_err(failed)?)
    }

    /// The searches of the web that are kept, by day and query.
    pub fn web_searches(&self) -> Result<Vec<WebSearch>, EngineError> {
        Ok(web_searches(&assemble::web_folder(&self.base.cache_dir()))?)
    }
}
