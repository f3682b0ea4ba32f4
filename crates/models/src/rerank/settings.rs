//! `[reranker]`: what can be configured of a reranker, and the reranker it makes.
use std::path::PathBuf;
use std::sync::Arc;

use halma_core::{ConfigError, Embedder, Reranker};
use serde::{Deserialize, Serialize};

use super::{Cosine, CrossEncoder};
use crate::llm::wrapped_reranker;
use halma_net::Endpoint;
use halma_net::Limits;
use halma_net::address::wrong;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RerankerKind {
    /// None: what was found keeps its order. The default, since the cosine alone is worse than the
    /// order of a graph search (`docs/results.md`).
    #[default]
    None,
    /// The embedder's cosine; none where there is no embedder.
    Cosine,
    /// A server's `/rerank`.
    Endpoint,
    /// A cross-encoder from a file.
    Onnx,
}

/// How a server wants to be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RerankShape {
    /// `{model, query, documents, top_n}`, answered by `{results: [{index, relevance_score}]}`:
    /// Jina, Cohere, vLLM, llama.cpp.
    #[default]
    Documents,
    /// `{query, texts}`, answered by `[{index, score}]`: Text Embeddings Inference.
    Texts,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RerankerSettings {
    pub kind: RerankerKind,
    /// `endpoint`: the API base; calls go to `{url}/rerank`.
    pub url: String,
    pub model: String,
    /// The environment variable that holds the key.
    pub key_env: String,
    pub shape: RerankShape,
    /// `endpoint`: texts in one request, at most.
    pub batch: usize,
    /// `endpoint`: whether scores are logits, which pass a sigmoid; when not set, the scores of a
    /// call do of which one is not between 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logits: Option<bool>,
    /// `onnx`: a folder with `model.onnx`, `tokenizer.json` and `config.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// `onnx`: of several classes the one whose probability is the score, by name or number; when
    /// not set, the one that entails, or the second of two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl Default for RerankerSettings {
    fn default() -> Self {
        Self {
            kind: RerankerKind::default(),
            url: String::new(),
            model: String::new(),
            key_env: String::new(),
            shape: RerankShape::default(),
            // What TEI takes unless it is told otherwise; the others take more.
            batch: 32,
            logits: None,
            path: None,
            label: None,
        }
    }
}

/// The reranker as configured; none for `none`, and for `cosine` without an embedder. `key` is what the variable
/// `key_env` holds. The error's `file` is left empty for whoever read the configuration.
pub fn reranker(
    settings: &RerankerSettings,
    key: Option<String>,
    embedder: Option<&Arc<dyn Embedder>>,
) -> Result<Option<Arc<dyn Reranker>>, ConfigError> {
    match settings.kind {
        RerankerKind::None => Ok(None),
        RerankerKind::Cosine => {
            let cosine = embedder.map(|embedder| Cosine::new(Arc::clone(embedder)));
            Ok(cosine.map(|cosine| Arc::new(cosine) as Arc<dyn Reranker>))
        }
        RerankerKind::Endpoint => {
            if settings.batch == 0 {
                let hint = "give a number above zero, 32 for instance, or delete the line";
                return Err(wrong("batch", "no text could ever be scored with `0`", hint));
            }
            let (url, model) = (settings.url.clone(), settings.model.clone());
            let endpoint = Endpoint { url, model, key, ..Endpoint::default() };
            wrapped_reranker(endpoint, Limits::default(), settings).map(Some)
        }
        RerankerKind::Onnx => {
            let hint = "point it at a folder with model.onnx, tokenizer.json and config.json";
            let path = settings.path.as_deref();
            let path = path.ok_or_else(|| wrong("path", "it is not set", hint))?;
            let model = CrossEncoder::open(path, settings.label.as_deref(), None);
            let model = model.map_err(|e| wrong("path", &e.to_string(), hint))?;
            Ok(Some(Arc::new(model)))
        }
    }
}
