//! An endpoint on loopback that runs what it is sent on a store, or misbehaves when told to.
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use oxigraph::io::RdfFormat;
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store;
use parking_lot::Mutex;
use sparesults::{QueryResultsFormat, QueryResultsSerializer};

/// What happens to one query instead of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    Late(Duration),
    Html,
    Half,
    Throttled(&'static str),
    Redirect(String),
    Status(u16),
    /// A result that is none.
    Json(&'static str),
}

pub(crate) struct Double {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    store: Store,
    queries: Mutex<Vec<String>>,
    agents: Mutex<Vec<String>>,
    /// Queries under way, and the most there were at once.
    load: Mutex<(usize, usize)>,
    failures: Mutex<VecDeque<Failure>>,
}

impl Double {
    pub(crate) fn serving(turtle: &str) -> Self {
        let store = Store::new().unwrap();
        store.load_from_slice(RdfFormat::Turtle, turtle).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (queries, agents, load) = (Mutex::default(), Mutex::default(), Mutex::default());
        let shared = Shared { store, queries, agents, load, failures: Mutex::default() };
        let shared = Arc::new(shared);
        let serving = Arc::clone(&shared);
        // The thread ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                std::thread::spawn(move || shared.serve(stream));
            }
        });
        Self { address, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/sparql", self.address)
    }

    /// Everything that was asked so far.
    pub(crate) fn queries(&self) -> Vec<String> {
        self.shared.queries.lock().clone()
    }

    /// What the last caller said it is.
    pub(crate) fn agent(&self) -> String {
        self.shared.agents.lock().last().cloned().unwrap_or_default()
    }

    pub(crate) fn max_concurrent(&self) -> usize {
        self.shared.load.lock().1
    }

    pub(crate) fn fail(&self, failures: impl IntoIterator<Item = Failure>) {
        self.shared.failures.lock().extend(failures);
    }

    pub(crate) fn facts(&self) -> usize {
        self.shared.store.len().unwrap()
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut length, mut form) = (0, false);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                break;
            }
            let line = line.to_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if let Some(agent) = line.strip_prefix("user-agent:") {
                self.agents.lock().push(agent.trim().to_owned());
            }
            form |= line.starts_with("content-type: application/x-www-form-urlencoded");
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        assert!(form, "the protocol wants a form");
        let body = String::from_utf8(body).unwrap();
        let url = reqwest::Url::parse(&format!("http://a.example/?{body}")).unwrap();
        let query = url.query_pairs().find(|(name, _)| name == "query").unwrap().1.into_owned();
        self.queries.lock().push(query.clone());
        {
            let mut load = self.load.lock();
            load.0 += 1;
            load.1 = load.1.max(load.0);
        }
        let failure = self.failures.lock().pop_front();
        let json = "application/sparql-results+json";
        let (status, kind, more, body) = match failure {
            None => (200, json, String::new(), self.answer(&query)),
            Some(Failure::Late(wait)) => {
                std::thread::sleep(wait);
                self.load.lock().0 -= 1;
                return;
            }
            Some(Failure::Html) => {
                (200, "text/html", String::new(), "<!doctype html><h1>Hello</h1>".into())
            }
            Some(Failure::Half) => {
                let whole = self.answer(&query);
                (200, json, String::new(), whole[..whole.len() / 2].to_owned())
            }
            Some(Failure::Throttled(after)) => {
                (429, "text/plain", format!("Retry-After: {after}\r\n"), "slow down".into())
            }
            Some(Failure::Redirect(to)) => {
                (307, "text/plain", format!("Location: {to}\r\n"), String::new())
            }
            Some(Failure::Status(status)) => (status, "text/plain", String::new(), "no".into()),
            Some(Failure::Json(body)) => (200, json, String::new(), body.into()),
        };
        self.load.lock().0 -= 1;
        let length = body.len();
        let _ = write!(
            stream,
            "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\
             Connection: close\r\n\r\n{body}"
        );
    }

    fn answer(&self, query: &str) -> String {
        let parsed = SparqlEvaluator::new().parse_query(query);
        let parsed = parsed.unwrap_or_else(|e| panic!("{e} in\n{query}"));
        let results = parsed.on_store(&self.store).execute().unwrap();
        let QueryResults::Solutions(solutions) = results else { panic!("a SELECT in {query}") };
        let writer = QueryResultsSerializer::from_format(QueryResultsFormat::Json);
        let variables = solutions.variables().to_vec();
        let mut writer = writer.serialize_solutions_to_writer(vec![], variables).unwrap();
        for solution in solutions {
            writer.serialize(&solution.unwrap()).unwrap();
        }
        String::from_utf8(writer.finish().unwrap()).unwrap()
    }
}
