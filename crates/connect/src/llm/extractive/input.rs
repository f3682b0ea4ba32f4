//! The shapes of the variables that the offline model reads.
use halma_core::{ChatRequest, LlmError};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A hit of the context or of the candidates, as far as it is read.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Passage {
    pub(crate) title: String,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) score: f32,
    #[serde(default)]
    pub(crate) cosine: Option<f32>,
}

/// The variables of a request in the shape its task needs.
pub(crate) fn variables<V: DeserializeOwned>(request: &ChatRequest) -> Result<V, LlmError> {
    let read = serde_json::to_value(&request.variables).and_then(serde_json::from_value);
    read.map_err(|reason| {
        LlmError::refused(format!(
            "the offline model cannot read the variables of `{}` for the task `{}`: {reason}; \
             give the prompt the variables that `halma prompts list` names",
            request.prompt, request.task
        ))
    })
}
