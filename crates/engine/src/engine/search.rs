//! Searching the base, and the external sources that are configured in addition to it.
use halma_core::{ConfigError, Hit, Layer, Mode, Query};
use halma_kb::NoVectors;
use halma_sources::web::{WebSearch, web_searches};

use super::{DEFAULT_LIMIT, Engine, SearchRequest};
use crate::assemble;
use crate::error::EngineError;

impl Engine {
    /// Searches one layer of the base. The error where `dense` is asked for and the layer has no
    /// vectors says why: found by words, its hits would not be what was asked for. The other modes
    /// do without.
    pub async fn search(&self, request: SearchRequest) -> Result<Vec<Hit>, EngineError> {
        let SearchRequest { text, layer, mode, limit, filter } = request;
        let (layer, mode) = (layer.unwrap_or(Layer::Chunk), mode.unwrap_or_default());
        if mode == Mode::Dense {
            self.check_vectors(layer)?;
        }
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        let query = Query {
            filter: filter.unwrap_or_default(),
            ..Query::new(vec![text], layer, mode, limit)
        };
        let lists = self.setup.knowledge.search(&query).await;
        let lists = lists.map_err(halma_core::Error::Knowledge)?;
        Ok(lists.into_iter().flatten().collect())
    }

    /// Refuses `dense` where the layer has no vectors, and says why.
    pub fn check_vectors(&self, layer: Layer) -> Result<(), EngineError> {
        let missing = match self.embedder() {
            None => Some(NoVectors::NoEmbedder),
            Some(_) => self.base.why_no_vectors(layer)?,
        };
        let Some(missing) = missing else { return Ok(()) };
        Err(EngineError::Config(ConfigError {
            file: "the search".into(),
            key: Mode::Dense.name().into(),
            reason: format!("it compares vectors, and {missing}"),
            hint: format!("{}, or search by `bm25`, `hybrid` or `graph`", missing.hint()),
        }))
    }

    /// Searches an external source by its name, such as `web`.
    pub async fn search_source(
        &self,
        name: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Hit>, EngineError> {
        let sources = &self.setup.sources;
        let source = sources.iter().find(|source| source.name() == name).ok_or_else(|| {
            let names: Vec<&str> = sources.iter().map(|source| source.name()).collect();
            ConfigError {
                file: "--source".into(),
                key: name.into(),
                reason: "no such source is configured".into(),
                hint: match names.as_slice() {
                    [] => "configure one under [sources.web] (docs/guide/sources.md)".into(),
                    names => format!("use one of: {}", names.join(", ")),
                },
            }
        })?;
        let hits = source.search(query, limit).await;
        let failed = |source| halma_core::Error::Source { name: name.to_owned(), source };
        Ok(hits.map_err(failed)?)
    }

    /// The cached searches of the web, by day and query.
    pub fn web_searches(&self) -> Result<Vec<WebSearch>, EngineError> {
        Ok(web_searches(&assemble::web_folder(&self.base.cache_dir()))?)
    }
}
