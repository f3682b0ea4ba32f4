//! What `config.json` says about an encoder, as far as the exporter can honour it.
use serde::Deserialize;

use super::weights::WeightsError;

/// Sizes and kinds of a BERT encoder; the names are those of `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct BertConfig {
    pub(super) hidden_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) intermediate_size: usize,
    pub(super) vocab_size: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) type_vocab_size: usize,
    pub(super) layer_norm_eps: f32,
    pub(super) hidden_act: String,
    #[serde(default = "bert")]
    pub(super) model_type: String,
    #[serde(default = "absolute")]
    pub(super) position_embedding_type: String,
}

fn bert() -> String {
    "bert".to_owned()
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl BertConfig {
    /// Reads `config.json` and refuses what the exported graph would get wrong.
    pub(super) fn parse(json: &str) -> Result<Self, WeightsError> {
        let config: Self = serde_json::from_str(json)
            .map_err(|error| WeightsError::Config { reason: error.to_string() })?;
        for (key, actual, wanted) in [
            ("model_type", &config.model_type, "bert"),
            ("hidden_act", &config.hidden_act, "gelu"),
            ("position_embedding_type", &config.position_embedding_type, "absolute"),
        ] {
            if actual != wanted {
                let reason = format!("`{key}` is `{actual}`, but only `{wanted}` is supported");
                return Err(WeightsError::Config { reason });
            }
        }
        let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
        if heads == 0 || !hidden.is_multiple_of(heads) {
            let reason = format!("`hidden_size` {hidden} does not divide into {heads} heads");
            return Err(WeightsError::Config { reason });
        }
        Ok(config)
    }
}

/// Only `max_position_embeddings`, for encoders whose graph is a third-party export.
pub(super) fn positions(json: &str) -> Result<usize, WeightsError> {
    #[derive(Deserialize)]
    struct Positions {
        max_position_embeddings: usize,
    }
    let config: Positions = serde_json::from_str(json)
        .map_err(|error| WeightsError::Config { reason: error.to_string() })?;
    Ok(config.max_position_embeddings)
}
