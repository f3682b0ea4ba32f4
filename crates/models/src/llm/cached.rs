//! The same request gets the same reply, whatever its temperature, and is asked once even when
//! several callers ask at the same time.
use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, Llm, LlmError, Price};
use parking_lot::Mutex;

use halma_store::Key;

use super::cache::Cache;
use halma_net::Endpoint;

/// Changes whenever what a key is made of or the form of a reply changes, so that old entries are never matched.
const KEY_VERSION: &[u8] = b"halma chat 2";

/// The outcome of a call in progress, for requests that are equal to it.
type Flight = Arc<tokio::sync::Mutex<Option<Result<ChatReply, LlmError>>>>;

pub(crate) struct Cached {
    inner: Arc<dyn Llm>,
    cache: Arc<Cache>,
    /// Hash state after everything that belongs to the endpoint.
    server: blake3::Hasher,
    flights: Mutex<HashMap<Key, Flight>>,
}

impl Cached {
    pub(crate) fn new(inner: Arc<dyn Llm>, cache: Arc<Cache>, server: blake3::Hasher) -> Self {
        Self { inner, cache, server, flights: Mutex::default() }
    }

    /// Everything that the reply depends on; the prompt's name is not among it.
    fn key(&self, request: &ChatRequest) -> Key {
        let mut hasher = self.server.clone();
        hasher.update(&(request.messages.len() as u64).to_le_bytes());
        for message in &request.messages {
            field(&mut hasher, message.role.as_bytes());
            field(&mut hasher, message.text.as_bytes());
        }
        match &request.schema {
            Some(schema) => field(&mut hasher, schema.to_string().as_bytes()),
            None => field(&mut hasher, b""),
        }
        hasher.update(&(request.stop.len() as u64).to_le_bytes());
        for stop in &request.stop {
            field(&mut hasher, stop.as_bytes());
        }
        hasher.update(&request.max_tokens.to_le_bytes());
        hasher.update(&request.temperature.to_le_bytes());
        hasher.update(&[u8::from(request.logprobs)]);
        for image in &request.images {
            field(&mut hasher, image.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    fn stored(&self, key: &Key, request: &ChatRequest) -> Option<ChatReply> {
        self.cache.get(key).filter(|reply| is_complete(reply, request))
    }
}

/// A reply without the requested log-probabilities is not stored: the server may give them when it
/// is asked again. Neither is one that ended early.
fn is_complete(reply: &ChatReply, request: &ChatRequest) -> bool {
    let has_logprobs = !request.logprobs || reply.logprobs.is_some();
    let is_whole = reply.stopped.is_none() && !reply.is_too_long();
    !reply.text.trim().is_empty() && is_whole && has_logprobs
}

/// The hash state after everything of an endpoint that a reply depends on.
pub(crate) fn identity(endpoint: &Endpoint) -> blake3::Hasher {
    let mut server = blake3::Hasher::new();
    server.update(KEY_VERSION);
    field(&mut server, endpoint.url.trim().trim_end_matches('/').as_bytes());
    field(&mut server, endpoint.model.as_bytes());
    field(&mut server, format!("{:?}", endpoint.json).as_bytes());
    if !endpoint.extra.is_empty() {
        field(&mut server, serde_json::to_string(&endpoint.extra).unwrap_or_default().as_bytes());
    }
    server
}

/// With its length before it, so that no two lists of fields give the same bytes.
fn field(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// Removes a flight from the list when its last caller is gone, also when that caller gives up.
struct InFlight<'a> {
    cached: &'a Cached,
    key: Key,
    flight: Flight,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let mut flights = self.cached.flights.lock();
        // The list's and ours.
        if Arc::strong_count(&self.flight) == 2 {
            flights.remove(&self.key);
        }
    }
}

#[async_trait]
impl Llm for Cached {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn price(&self) -> Price {
        self.inner.price()
    }

    fn logprobs(&self) -> bool {
        self.inner.logprobs()
    }

    fn thinking_tokens(&self) -> u32 {
        self.inner.thinking_tokens()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let key = self.key(request);
        if let Some(reply) = self.stored(&key, request) {
            return Ok(reply);
        }
        let flight = Arc::clone(self.flights.lock().entry(key).or_default());
        let in_flight = InFlight { cached: self, key, flight };
        let mut outcome = in_flight.flight.lock().await;
        // A request that had to wait takes the outcome of the first, its failure included: retries
        // one after the other would make the last wait for all.
        if let Some(outcome) = &*outcome {
            return outcome.clone().map(|reply| ChatReply { cached: true, ..reply });
        }
        // The flight may have ended between the look into the cache and the wait.
        if let Some(reply) = self.stored(&key, request) {
            return Ok(reply);
        }
        let fresh = self.inner.chat(request).await;
        if let Ok(reply) = &fresh
            && is_complete(reply, request)
        {
            self.cache.put(key, reply, &request.about);
        }
        if Arc::strong_count(&in_flight.flight) > 2 {
            *outcome = Some(fresh.clone());
        }
        drop(outcome);
        fresh
    }

    /// An empty reply takes the place of the one that is stored; it is not complete. Where the
    /// replies come from another store, that is told as well.
    fn discard(&self, request: &ChatRequest) {
        self.inner.discard(request);
        let key = self.key(request);
        if self.stored(&key, request).is_some() {
            self.cache.put(key, &ChatReply::default(), &request.about);
        }
    }
}

#[cfg(test)]
#[path = "cached_tests.rs"]
mod tests;
