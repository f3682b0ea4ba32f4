//! A model server on loopback that does what a test tells it to: chat (whole and streamed),
//! embeddings, reranking, the list of models; with latency and every failure a real one has.
//!
//! Benches use it too, so that its own work is kept small.
mod answer;
mod behaviour;
mod failure;
mod reply;
mod serve;
mod socket;
mod vectors;

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use tokio::sync::oneshot;

pub use behaviour::{Behaviour, EmbedLimits, Encoding};
pub use failure::Failure;
pub(crate) use failure::respond;
pub use reply::{ChatCall, Reply, atomizer, echo, fixed, scripted};
pub use vectors::vector;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The path, `/v1/chat/completions` for instance.
    pub path: String,
    /// The header `x-halma-prompt`.
    pub prompt: Option<String>,
    /// The header `authorization`, whole.
    pub authorization: Option<String>,
    pub body: serde_json::Value,
}

/// The running server. It stops when dropped; open connections are cut then.
pub struct Double {
    address: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Double {
    /// Starts on a free port of 127.0.0.1, on a thread of its own; it serves at once.
    pub fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::new(behaviour));
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("double".into())
            .spawn(move || serve::run(listener, shared, stopped))
            .unwrap();
        Self { address, state, stop: Some(stop), thread: Some(thread) }
    }

    /// The base that an endpoint is configured with: `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Behaves differently from the next request on; queued failures stay queued.
    pub fn set(&self, behaviour: Behaviour) {
        *self.state.behaviour.lock() = Arc::new(behaviour);
    }

    /// The next requests, whatever they ask for, fail in this way, one each.
    pub fn fail(&self, failures: impl IntoIterator<Item = Failure>) {
        self.state.failures.lock().extend(failures);
    }

    /// Failures that no request has met yet.
    pub fn failures_left(&self) -> usize {
        self.state.failures.lock().len()
    }

    /// All requests so far, in order of arrival; empty where `Behaviour::record` is off.
    pub fn requests(&self) -> Vec<Recorded> {
        self.state.recorded.lock().clone()
    }

    /// Chat requests that arrived, failed ones included.
    pub fn chat_calls(&self) -> usize {
        self.state.chat_calls.load(Ordering::Relaxed)
    }

    /// Embedding requests that arrived, failed ones included.
    pub fn embed_calls(&self) -> usize {
        self.state.embed_calls.load(Ordering::Relaxed)
    }

    /// Texts that were embedded.
    pub fn embedded_texts(&self) -> usize {
        self.state.embedded_texts.load(Ordering::Relaxed)
    }

    /// Rerank requests that arrived, failed ones included.
    pub fn rerank_calls(&self) -> usize {
        self.state.rerank_calls.load(Ordering::Relaxed)
    }

    /// Requests that are being answered now; one that its sender gave up on is none.
    pub fn in_flight(&self) -> usize {
        self.state.in_flight.load(Ordering::Relaxed)
    }

    /// The most requests that were being answered at the same time.
    pub fn peak_in_flight(&self) -> usize {
        self.state.peak.load(Ordering::Relaxed)
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            // A second panic while one unwinds would abort and hide the first.
            assert!(ended.is_ok() || std::thread::panicking(), "the double's thread panicked");
        }
    }
}

/// What the server's requests share with the test.
pub(crate) struct State {
    behaviour: Mutex<Arc<Behaviour>>,
    failures: Mutex<VecDeque<Failure>>,
    recorded: Mutex<Vec<Recorded>>,
    chat_calls: AtomicUsize,
    embed_calls: AtomicUsize,
    embedded_texts: AtomicUsize,
    rerank_calls: AtomicUsize,
    in_flight: AtomicUsize,
    peak: AtomicUsize,
}

impl State {
    fn new(behaviour: Behaviour) -> Self {
        Self {
            behaviour: Mutex::new(Arc::new(behaviour)),
            failures: Mutex::default(),
            recorded: Mutex::default(),
            chat_calls: AtomicUsize::new(0),
            embed_calls: AtomicUsize::new(0),
            embedded_texts: AtomicUsize::new(0),
            rerank_calls: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
        }
    }
}
