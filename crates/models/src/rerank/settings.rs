//! `[reranker]`: what can be configured of a reranker.
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RerankerKind {
    /// None: what was found keeps its order. The default, since the cosine alone is worse than the
    /// order of a graph search (`docs/developers/measurements.md`).
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
