//! Reranking by a server: `POST {url}/rerank`, in the two shapes that servers have.
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::try_join_all;
use halma_core::{ConfigError, LlmError, Reranker};
use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::{RerankShape, sigmoid};
use halma_net::Endpoint;
use halma_net::address::show;
use halma_net::failure::Failed;
use halma_net::http::Http;

/// What a score may be off by and still be one between 0 and 1.
const SLACK: f32 = 1e-3;

/// A reranking model behind a server. Its scores are as the server has them, one call a request;
/// [`Batched`] makes a reranker of it.
pub(crate) struct EndpointReranker {
    /// The model's name, or the address of a server that has only one.
    name: String,
    model: String,
    shape: RerankShape,
    http: Http,
    url: Url,
}

/// Jina, Cohere, vLLM, llama.cpp.
#[derive(Serialize)]
struct DocumentsBody<'a> {
    model: &'a str,
    query: &'a str,
    documents: &'a [&'a str],
    top_n: usize,
}

/// Text Embeddings Inference.
#[derive(Serialize)]
struct TextsBody<'a> {
    query: &'a str,
    texts: &'a [&'a str],
    /// Long texts are cut instead of refused.
    truncate: bool,
}

#[derive(Deserialize)]
struct Results {
    #[serde(default)]
    results: Option<Vec<RerankItem>>,
    /// Some servers report errors in responses that look like successes.
    #[serde(default)]
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct RerankItem {
    index: usize,
    /// Read wide: what serde does with a number beyond `f32` depends on features of others.
    #[serde(default, alias = "relevance_score")]
    score: Option<f64>,
}

impl EndpointReranker {
    /// Connects to nothing yet. The error's `file` is left empty for the caller that
    /// read the configuration.
    pub(crate) fn new(endpoint: Endpoint, shape: RerankShape) -> Result<Self, ConfigError> {
        let http = Http::new(&endpoint)?;
        let url = http.address("/rerank");
        let model = endpoint.model;
        let name = if model.is_empty() { show(&url) } else { model.clone() };
        Ok(Self { name, model, shape, http, url })
    }

    async fn exchange(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, Failed> {
        let (model, top_n) = (self.model.as_str(), texts.len());
        let body = match self.shape {
            RerankShape::Documents => {
                serde_json::to_vec(&DocumentsBody { model, query, documents: texts, top_n })
            }
            RerankShape::Texts => serde_json::to_vec(&TextsBody { query, texts, truncate: true }),
        };
        let body =
            body.map_err(|e| LlmError::refused(format!("the request cannot be written: {e}")))?;
        let whole = self.http.post(&self.url, "", body).await?;
        let read = match self.shape {
            RerankShape::Documents => serde_json::from_slice(&whole.bytes),
            RerankShape::Texts => serde_json::from_slice(&whole.bytes)
                .map(|items| Results { results: Some(items), error: None }),
        };
        let Results { results, error } = read.map_err(|e| {
            // Python writes NaN and infinities in a way that JSON does not have.
            let text = whole.text();
            if text.contains("NaN") || text.contains("Infinity") {
                return self.wrong("sent a score that is not a number");
            }
            let error = self.http.unreadable(&whole, &self.url, &e);
            if e.is_data() { self.other_shape(error) } else { error }
        })?;
        if let Some(error) = error.filter(|error| !error.is_null()) {
            return Err(self.http.reported(&self.url, &error));
        }
        let items = results.ok_or_else(|| self.other_shape(self.wrong("sent no `results`.")))?;
        Ok(sorted(&items, texts.len()).map_err(|what| self.wrong(&what))?)
    }

    fn wrong(&self, what: &str) -> LlmError {
        LlmError::refused(format!("`{}` at `{}` {what}", self.name, show(&self.url)))
    }

    /// A reply that is good JSON and not what was asked for may be that of another kind of server.
    fn other_shape(&self, error: LlmError) -> LlmError {
        let other = match self.shape {
            RerankShape::Documents => "texts",
            RerankShape::Texts => "documents",
        };
        match error {
            LlmError::Refused { reason } => {
                LlmError::refused(format!("{reason} Or is its `shape` \"{other}\"?"))
            }
            other => other,
        }
    }
}

/// The scores in the order of the texts.
fn sorted(items: &[RerankItem], texts: usize) -> Result<Vec<f32>, String> {
    let mut scores: Vec<Option<f32>> = vec![None; texts];
    for RerankItem { index, score } in items {
        let place = scores.get_mut(*index);
        let place = place.ok_or_else(|| format!("scored text {index} of {texts} (from 0)"))?;
        #[expect(clippy::cast_possible_truncation, reason = "what is too large is told below")]
        let score = score.map(|score| score as f32).filter(|score| score.is_finite());
        let score =
            score.ok_or_else(|| format!("sent a score of text {index} that is not a number"))?;
        if place.replace(score).is_some() {
            return Err(format!("scored text {index} twice"));
        }
    }
    let missing = scores.iter().position(Option::is_none);
    scores.into_iter().collect::<Option<Vec<f32>>>().ok_or_else(|| {
        let (sent, missing) = (items.len(), missing.unwrap_or_default());
        format!("sent {sent} scores for {texts} texts; that of text {missing} is missing")
    })
}

#[async_trait]
impl Reranker for EndpointReranker {
    fn name(&self) -> &str {
        &self.name
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, LlmError> {
        Ok(self.exchange(query, texts).await?)
    }
}

/// Splits texts into batches, each of which passes the limit and is retried by itself, and maps the
/// scores of all of them into 0 to 1.
pub(crate) struct Batched {
    pub(crate) inner: Arc<dyn Reranker>,
    /// Texts in one request, at most.
    pub(crate) batch: usize,
    /// Whether scores are logits; by default they are when one of a call is not between 0 and 1.
    pub(crate) logits: Option<bool>,
}

#[async_trait]
impl Reranker for Batched {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, LlmError> {
        let batches = texts.chunks(self.batch).map(|batch| self.inner.rerank(query, batch));
        let scores = try_join_all(batches).await?.concat();
        let within = |score: &f32| (-SLACK..=1.0 + SLACK).contains(score);
        // Of all batches together: a batch of logits may happen to lie between 0 and 1.
        let logits = self.logits.unwrap_or_else(|| !scores.iter().all(within));
        let score = |score: f32| if logits { sigmoid(score) } else { score.clamp(0.0, 1.0) };
        Ok(scores.into_iter().map(score).collect())
    }
}
