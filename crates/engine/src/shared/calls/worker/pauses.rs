//! Pauses that a model server asks for: what one worker is told holds for all.
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, EmbedRole, Embedder, Llm, LlmError, Price, Vector};
use halma_store::pg::Calls;
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::shared::calls::presence::machine;

/// Between two looks at what other workers were told.
const LOOK: Duration = Duration::from_millis(500);

/// The pause of a server that names none.
const UNNAMED: Duration = Duration::from_secs(2);

/// The longest pause that a server can impose.
const LONGEST: Duration = Duration::from_secs(90);

type Until = Arc<Mutex<HashMap<String, Instant>>>;

/// The pauses of all servers of a worker.
#[derive(Clone)]
pub(super) struct Pauses {
    until: Until,
    heard: mpsc::UnboundedSender<(String, Duration)>,
}

/// What [`Pauses`] tells the database and hears from it.
pub(super) struct PauseExchange {
    until: Until,
    heard: mpsc::UnboundedReceiver<(String, Duration)>,
}

impl Pauses {
    pub(super) fn new() -> (Self, PauseExchange) {
        let (send, heard) = mpsc::unbounded_channel();
        let until = Until::default();
        (Self { until: Arc::clone(&until), heard: send }, PauseExchange { until, heard })
    }

    /// Watches what a server is asked. Addresses of this machine only are told with its name.
    pub(super) fn watch<T: ?Sized>(&self, url: &str, inner: Arc<T>) -> Watched<T> {
        let is_local =
            ["://localhost", "://127.", "://[::1]"].iter().any(|prefix| url.contains(prefix));
        let machine = if is_local { format!(" on {}", machine()) } else { String::new() };
        let server = format!("{}{machine}", url.trim_end_matches('/'));
        self.until.lock().entry(server.clone()).or_insert_with(Instant::now);
        Watched { server, pauses: self.clone(), inner }
    }

    fn left(&self, server: &str) -> Option<Instant> {
        self.until.lock().get(server).copied().filter(|until| *until > Instant::now())
    }

    fn note(&self, server: &str, error: &LlmError) {
        let LlmError::Transient { retry_after, throttled: true, .. } = error else { return };
        let length = retry_after.unwrap_or(UNNAMED).min(LONGEST);
        extend(&self.until, server, length);
        // Without a receiver the worker ends.
        let _ = self.heard.send((server.to_owned(), length));
    }
}

fn extend(until: &Until, server: &str, length: Duration) {
    let end = Instant::now() + length;
    let mut all = until.lock();
    let until = all.entry(server.to_owned()).or_insert(end);
    *until = end.max(*until);
}

impl PauseExchange {
    /// Until all [`Pauses`] are gone.
    pub(super) async fn run(mut self, calls: Calls) {
        loop {
            let failed = match tokio::time::timeout(LOOK, self.heard.recv()).await {
                Ok(None) => return,
                Ok(Some((server, length))) => calls.pause(&server, length).await.err(),
                Err(_) => self.look(&calls).await.err(),
            };
            if let Some(error) = failed {
                tracing::warn!("pauses of model servers are not shared at the moment: {error}");
            }
        }
    }

    async fn look(&self, calls: &Calls) -> Result<(), halma_store::pg::PgError> {
        let servers: Vec<String> = self.until.lock().keys().cloned().collect();
        for server in servers {
            if let Some(left) = calls.paused(&server).await? {
                extend(&self.until, &server, left.min(LONGEST));
            }
        }
        Ok(())
    }
}

/// A model or an embedder that makes no call while its server pauses.
pub(super) struct Watched<T: ?Sized> {
    server: String,
    pauses: Pauses,
    inner: Arc<T>,
}

impl<T: ?Sized> Watched<T> {
    async fn ready(&self) {
        while let Some(until) = self.pauses.left(&self.server) {
            tokio::time::sleep_until(until).await;
        }
    }

    fn noted<R>(&self, outcome: Result<R, LlmError>) -> Result<R, LlmError> {
        outcome.inspect_err(|error| self.pauses.note(&self.server, error))
    }
}

#[async_trait]
impl<T: Llm + ?Sized> Llm for Watched<T> {
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
        self.ready().await;
        self.noted(self.inner.chat(request).await)
    }
}

#[async_trait]
impl<T: Embedder + ?Sized> Embedder for Watched<T> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    async fn embed(&self, texts: &[&str], role: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        self.ready().await;
        self.noted(self.inner.embed(texts, role).await)
    }
}
