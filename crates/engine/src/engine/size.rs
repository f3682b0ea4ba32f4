//! How large a base and its cache are, for monitoring.
use std::collections::BTreeMap;

use halma_core::Layer;

use super::Engine;
use crate::error::EngineError;

/// How large a base is.
#[derive(Debug, Clone, Default)]
pub struct BaseSize {
    /// Nodes of every layer, also of empty ones.
    pub layers: BTreeMap<Layer, u64>,
    pub bytes_on_disk: u64,
    /// Replies of models in the cache; 0 without a model.
    pub cached_replies: u64,
}

impl Engine {
    /// How large the base is, in a time that does not grow with it.
    pub fn base_size(&self) -> Result<BaseSize, EngineError> {
        let sizes = self.base.inspector().sizes()?;
        let cached_replies = match &self.cache {
            Some(cache) => cache.entries().map_err(|e| EngineError::Cache(Box::new(e)))?,
            None => 0,
        };
        Ok(BaseSize { layers: sizes.layers, bytes_on_disk: sizes.bytes_on_disk, cached_replies })
    }
}
