//! Direct calls of the configured models.
use halma_core::{ConfigError, EmbedRole, Error, Vector};
use halma_models::ping;

use super::Engine;
use crate::assemble;
use crate::config::key_error;
use crate::error::EngineError;

impl Engine {
    /// The name of the model that a role is assigned to.
    pub fn model_for_role(&self, role: &str) -> &str {
        self.setup.models.for_role(role).model()
    }

    /// Unit vectors of queries, by the embedder of the base.
    pub async fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EngineError> {
        let embedder = self.embedder().ok_or_else(|| {
            key_error("embedder", "there is no embedder", "configure one under [embedder]")
        })?;
        let vectors = embedder.embed(texts, EmbedRole::Query).await;
        let model = || embedder.model().to_owned();
        vectors.map_err(|source| EngineError::Run(Error::Llm { model: model(), source }))
    }

    /// Sends a short request to a configured model. Returns how long it took, in milliseconds.
    pub async fn try_model(&self, name: &str) -> Result<f64, EngineError> {
        let model = self.config.models.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.config.models.keys().map(String::as_str).collect();
            ConfigError {
                file: self.config.file.clone(),
                key: format!("models.{name}"),
                reason: "there is no such model".into(),
                hint: format!("the models are: {}", names.join(", ")),
            }
        })?;
        let endpoint = assemble::endpoint(model, &format!("models.{name}"));
        let reply = ping(endpoint.map_err(|e| self.config.named(e))?).await;
        let failed = |source| EngineError::Run(Error::Llm { model: model.served_name(), source });
        Ok(reply.map_err(failed)?.took.as_secs_f64() * 1e3)
    }
}
