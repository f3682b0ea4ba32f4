//! Embeddings from an OpenAI-compatible server.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures::future::try_join_all;
use halma_core::{ConfigError, EmbedRole, Embedder, LlmError, Vector};
use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::fitting::{Bisection, TextLimit, TooMuch, first_half};
use super::numbers::Numbers;
use halma_net::Endpoint;
use halma_net::address::show;
use halma_net::failure::{Complaint, Failed};
use halma_net::http::Http;

/// Texts in one request, at most.
const BATCH: usize = 128;

/// A text that every model embeds.
const PROBE: &str = "text";

/// An embedding model behind an OpenAI-compatible API. Queries and passages are embedded alike,
/// since the API knows no difference.
///
/// Vectors are asked for in base64, which is a quarter of the bytes and a tenth of the work of
/// numbers, until the server refuses that. A server that refuses so many texts at once gets fewer,
/// and of a text that is too long for its model the beginning, as with the local embedder.
pub struct EndpointEmbedder {
    model: String,
    http: Http,
    url: Url,
    plain: AtomicBool,
    limit: TextLimit,
    /// Whether it was said that texts are cut.
    cuts: AtomicBool,
}

#[derive(Serialize)]
struct EmbeddingsBody<'a> {
    model: &'a str,
    input: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding_format: Option<&'a str>,
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    data: Vec<EmbeddingItem>,
    #[serde(default)]
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    #[serde(default)]
    index: Option<usize>,
    embedding: Numbers,
}

impl EndpointEmbedder {
    /// Connects to nothing yet. The error's `file` is left empty for the caller that
    /// read the configuration.
    pub fn new(endpoint: Endpoint) -> Result<Self, ConfigError> {
        let http = Http::new(&endpoint)?;
        let url = http.address("/embeddings");
        let (plain, cuts) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Self { model: endpoint.model, http, url, plain, limit: TextLimit::new(BATCH), cuts })
    }

    /// The vectors of texts, by requests that the server takes.
    async fn all(&self, texts: &[&str]) -> Result<Vec<Vector>, LlmError> {
        let mut texts = texts.to_vec();
        let mut vectors = Vec::with_capacity(texts.len());
        let mut search = Bisection::default();
        while vectors.len() < texts.len() {
            let first = vectors.len();
            let limit = self.limit.now().min(search.next(first).unwrap_or(BATCH));
            let batch = &texts[first..texts.len().min(first + limit)];
            let failed = match self.batch(batch).await {
                Ok(more) => {
                    vectors.extend(more);
                    continue;
                }
                Err(failed) => failed,
            };
            match TooMuch::of(&failed) {
                Some(TooMuch::Texts) if batch.len() > 1 => {
                    self.limit.refused(batch.len(), &self.model);
                }
                Some(TooMuch::Tokens) if batch.len() > 1 => search.is_in(first, batch.len()),
                Some(_) => {
                    texts[first] = first_half(texts[first]).ok_or(failed.error)?;
                    self.say_that_texts_are_cut();
                }
                None => return Err(failed.error),
            }
        }
        Ok(vectors)
    }

    fn say_that_texts_are_cut(&self) {
        if !self.cuts.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                model = self.model,
                "some texts are too long for the embedder: their vectors are of their beginning"
            );
        }
    }

    /// Texts at which the server fails twice, and embeds another one in between, are refused: that
    /// does not pass.
    async fn batch(&self, texts: &[&str]) -> Result<Vec<Vector>, Failed> {
        let failed = match self.encoded(texts).await {
            Err(failed) if is_fault(&failed) => failed,
            outcome => return outcome,
        };
        if self.encoded(&[PROBE]).await.is_err() {
            return Err(failed);
        }
        self.encoded(texts).await.map_err(|again| {
            if !is_fault(&again) {
                return again;
            }
            LlmError::refused(format!("{}; it embeds other texts", again.error)).into()
        })
    }

    async fn encoded(&self, texts: &[&str]) -> Result<Vec<Vector>, Failed> {
        let plain = self.plain.load(Ordering::Relaxed);
        let first = match self.exchange(texts, plain).await {
            Err(failed) if !plain && is_about_encoding(&failed) => failed,
            outcome => return outcome,
        };
        // Servers do not always say what they refuse, so any refusal is tried without.
        match self.exchange(texts, true).await {
            Ok(vectors) => {
                self.plain.store(true, Ordering::Relaxed);
                Ok(vectors)
            }
            Err(Failed { error: LlmError::Refused { .. }, .. }) => Err(first),
            Err(failed) => Err(failed),
        }
    }

    async fn exchange(&self, texts: &[&str], plain: bool) -> Result<Vec<Vector>, Failed> {
        let encoding_format = (!plain).then_some("base64");
        let body = serde_json::to_vec(&EmbeddingsBody {
            model: &self.model,
            input: texts,
            encoding_format,
        })
        .map_err(|e| LlmError::refused(format!("the request cannot be written: {e}")))?;
        let whole = self.http.post(&self.url, "", body).await?;
        let reply: Reply = serde_json::from_slice(&whole.bytes)
            .map_err(|e| self.http.unreadable(&whole, &self.url, &e))?;
        if let Some(error) = reply.error.filter(|error| !error.is_null()) {
            return Err(self.http.reported(&self.url, &error));
        }
        sorted(reply.data, texts.len()).map_err(|what| {
            let (model, url) = (&self.model, show(&self.url));
            LlmError::refused(format!("`{model}` at `{url}` {what}")).into()
        })
    }
}

/// Whether the server failed at texts that are not too many or too long for it.
fn is_fault(failed: &Failed) -> bool {
    matches!(failed.complaint, Some(Complaint { status: 500, .. })) && TooMuch::of(failed).is_none()
}

/// Whether it may be base64 that was refused.
fn is_about_encoding(failed: &Failed) -> bool {
    let is_refused = matches!(failed.complaint, Some(Complaint { status: 400 | 422, .. }));
    let names_it = failed.complaint.as_ref().is_some_and(|it| it.text.contains("encoding"));
    is_refused && (names_it || TooMuch::of(failed).is_none())
}

/// Unit vectors in the order of the texts.
fn sorted(mut items: Vec<EmbeddingItem>, texts: usize) -> Result<Vec<Vector>, String> {
    if items.len() != texts {
        return Err(format!("sent {} vectors for {texts} texts", items.len()));
    }
    if items.iter().all(|item| item.index.is_some()) {
        items.sort_by_key(|item| item.index);
        if items.iter().enumerate().any(|(i, item)| item.index != Some(i)) {
            return Err("sent two vectors for one text and none for another".into());
        }
    }
    let length = items.first().map_or(0, |item| item.embedding.0.len());
    let mut vectors = Vec::with_capacity(texts);
    for EmbeddingItem { embedding: Numbers(mut vector), .. } in items {
        if vector.len() != length {
            return Err(format!("sent vectors of different lengths: {length}, {}", vector.len()));
        }
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if !norm.is_normal() {
            return Err("sent a vector without direction (zero, infinite or not a number)".into());
        }
        for x in &mut vector {
            *x /= norm;
        }
        vectors.push(vector);
    }
    Ok(vectors)
}

#[async_trait]
impl Embedder for EndpointEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    async fn embed(&self, texts: &[&str], _role: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        self.all(texts).await
    }
}

/// Cuts what is to be embedded into batches, so that each passes the limit and is tried again by
/// itself; how many run at once is the gate's business.
pub(crate) struct Batches(Arc<dyn Embedder>);

impl Batches {
    pub(crate) fn new(inner: Arc<dyn Embedder>) -> Self {
        Self(inner)
    }
}

#[async_trait]
impl Embedder for Batches {
    fn model(&self) -> &str {
        self.0.model()
    }

    async fn embed(&self, texts: &[&str], role: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        if texts.len() <= BATCH {
            return if texts.is_empty() { Ok(vec![]) } else { self.0.embed(texts, role).await };
        }
        let batches = texts.chunks(BATCH).map(|batch| self.0.embed(batch, role));
        let vectors = try_join_all(batches).await?.concat();
        let length = vectors[0].len();
        if vectors.iter().any(|vector| vector.len() != length) {
            let model = self.model();
            return Err(LlmError::refused(format!("`{model}` sent vectors of different lengths")));
        }
        Ok(vectors)
    }
}
