//! The world outside on loopback: a search engine in four shapes, pages, and whatever a server can
//! do to its callers.
mod serve;
mod shape;
mod topics;
mod trouble;

use std::collections::{BTreeMap, VecDeque};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::oneshot;

pub use shape::{Given, GivenResult, Shape};
pub use trouble::EngineFailure;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct WebRequest {
    pub method: String,
    pub path: String,
    /// What stands behind the question mark, decoded.
    pub parameters: BTreeMap<String, String>,
    /// By name in lower case.
    pub headers: BTreeMap<String, String>,
    /// `null` for a body that is not JSON.
    pub body: Value,
}

/// The running server. It stops when dropped; open connections are cut then.
pub struct WebDouble {
    address: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl WebDouble {
    /// Starts on a free port of 127.0.0.1, on a thread of its own, with nothing to find.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("web double".into())
            .spawn(move || serve::run(listener, shared, stopped))
            .unwrap();
        Self { address, state, stop: Some(stop), thread: Some(thread) }
    }

    /// Starts with replies that were recorded: the files `SHAPE/*.json` of a folder.
    pub fn serving(folder: &Path) -> Self {
        let double = Self::start();
        for shape in Shape::ALL {
            let Ok(entries) = std::fs::read_dir(folder.join(shape.name())) else { continue };
            let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
            files.sort();
            for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "json")) {
                let text = std::fs::read_to_string(file).unwrap();
                double.reply(shape, serde_json::from_str(&text).unwrap());
            }
        }
        double
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Has one more reply for queries whose words occur in it. Of several the one is given that
    /// has most of them; none, as a search without results, where it has less than half.
    pub fn reply(&self, shape: Shape, body: Value) {
        self.state.topics.lock().push((shape, topics::words(&body.to_string()), body));
    }

    /// The same reply in every shape.
    pub fn give(&self, given: &Given) {
        for shape in Shape::ALL {
            self.reply(shape, shape.reply(given));
        }
    }

    /// Serves a page, also one whose path is that of the search.
    pub fn page(&self, path: &str, kind: &str, body: impl Into<Vec<u8>>) {
        let page = (kind.to_owned(), body.into());
        self.state.pages.lock().insert(path.to_owned(), page);
    }

    /// The key that searches have to bring; any will do until then.
    pub fn want_key(&self, key: &str) {
        *self.state.key.lock() = Some(key.to_owned());
    }

    /// What happens to the next requests, one each, whatever they ask for.
    pub fn trouble(&self, troubles: impl IntoIterator<Item = EngineFailure>) {
        self.state.troubles.lock().extend(troubles);
    }

    /// Troubles that no request has met yet.
    pub fn troubles_left(&self) -> usize {
        self.state.troubles.lock().len()
    }

    /// All requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<WebRequest> {
        self.state.requests.lock().clone()
    }
}

impl Drop for WebDouble {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            // A second panic while one unwinds would abort and hide the first.
            assert!(ended.is_ok() || std::thread::panicking(), "the double's thread panicked");
        }
    }
}

/// A reply with the words by which it is found.
type Topic = (Shape, std::collections::BTreeSet<String>, Value);

/// What the server's requests share with the test.
#[derive(Default)]
pub(crate) struct State {
    topics: Mutex<Vec<Topic>>,
    /// By path: content type and bytes.
    pages: Mutex<BTreeMap<String, (String, Vec<u8>)>>,
    key: Mutex<Option<String>>,
    troubles: Mutex<VecDeque<EngineFailure>>,
    requests: Mutex<Vec<WebRequest>>,
}
