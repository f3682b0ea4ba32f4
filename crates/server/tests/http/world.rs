//! The server under test and a client for it.
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use halma_engine::{Config, EmbedderKind, Engine, EngineError, IndexOptions, KbError, Loaded};
use halma_server::{ApiKeys, NewKey, Reloader, Scope, ServeOptions, Server, ServerLock};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The documents of every base of these tests.
const LIBRARY: &[(&str, &str)] = &[
    (
        "orrin.md",
        "# Orrin Light\n\nOrrin Light is a lighthouse on Varn reef. Orrin Light was first lit in \
         1871. Orrin Light was designed by Ada Tarrant.\n",
    ),
    ("people/tarrant.md", "# Ada Tarrant\n\nAda Tarrant was born in Velby in 1840.\n"),
    ("towers.csv", "tower,height\nOrrin,41\nSkell,33\n"),
];

pub(crate) struct World {
    pub(crate) dir: TempDir,
    pub(crate) url: String,
    /// Gives the server another configuration.
    pub(crate) reloader: Reloader,
    client: reqwest::Client,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

/// How a world is set up.
pub(crate) struct Setup {
    pub(crate) config: Config,
    pub(crate) library: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self { config: config(), library: true }
    }
}

pub(crate) fn config() -> Config {
    let mut config = Config::default();
    config.embedder.kind = EmbedderKind::None;
    config.ask.strategy = "naive".into();
    config.serve.addr = "127.0.0.1:0".into();
    config.serve.evaluations = vec![];
    config
}

/// Opens a base that may have been served a moment ago: it is released when the last task that stores a
/// trace has ended.
async fn open(config: &Config, dir: &Path) -> Engine {
    for _ in 0..200 {
        match Engine::create_or_open(config.clone(), dir) {
            Err(EngineError::Kb(KbError::OpenTwice { .. }) | EngineError::Cache(_)) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            result => return result.unwrap(),
        }
    }
    panic!("the base is still open");
}

/// Brings the documents into a base.
pub(crate) async fn index_library(engine: &Engine) {
    let files = engine.originals().dir().to_owned();
    for (name, text) in LIBRARY {
        let path = files.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let no_progress = std::sync::Arc::new(|_| ());
    engine.index(&[files], &IndexOptions::default(), no_progress).await.unwrap();
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(Setup::default()).await
    }

    pub(crate) async fn with(setup: Setup) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::over(dir, setup).await
    }

    /// On an existing folder.
    pub(crate) async fn over(dir: TempDir, setup: Setup) -> Self {
        let engine = open(&setup.config, dir.path()).await;
        if setup.library {
            index_library(&engine).await;
        }
        Self::serving(dir, engine, setup.config).await
    }

    /// Serves an engine whose folder is `dir`.
    pub(crate) async fn serving(dir: TempDir, engine: Engine, config: Config) -> Self {
        let loaded = Loaded { config, origins: BTreeMap::new(), file: None };
        let options = ServeOptions {
            loaded,
            engine,
            dir: dir.path().to_owned(),
            demo: None,
            insecure: false,
        };
        let lock = ServerLock::take(dir.path()).unwrap();
        let server = Box::pin(Server::bind(options, lock)).await.unwrap();
        let url = format!("http://{}", server.addr());
        let reloader = server.reloader();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(server.run(async { drop(stopped.await) }));
        // Without a server that speaks https nobody else installs one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { dir, url, reloader, client, stop: Some(stop), running }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    pub(crate) async fn get_json(&self, path: &str) -> Value {
        good(self.get(path).await).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Response {
        self.request(Method::POST, path).json(body).send().await.unwrap()
    }

    pub(crate) async fn post_json(&self, path: &str, body: &Value) -> Value {
        good(self.post(path, body).await).await
    }

    pub(crate) async fn upload(&self, files: &[(&str, &[u8])]) -> Value {
        let (kind, body) = form(files);
        let request = self.request(Method::POST, "/api/v1/documents");
        good(request.header("content-type", kind).body(body).send().await.unwrap()).await
    }

    /// Waits until a build has ended and returns its status.
    pub(crate) async fn wait_for_build(&self, id: &str) -> Value {
        for _ in 0..400 {
            let build = self.get_json(&format!("/api/v1/builds/{id}")).await;
            if build["state"] != "running" {
                return build;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("the build does not end");
    }

    pub(crate) fn key(&self, scopes: &[Scope], workspace: &str) -> String {
        key(self.dir.path(), scopes, workspace)
    }

    /// Tells the server to stop and returns when it has stopped.
    pub(crate) async fn stop(mut self) -> TempDir {
        drop(self.stop.take());
        (&mut self.running).await.unwrap();
        self.dir
    }

    pub(crate) fn tell_to_stop(&mut self) {
        drop(self.stop.take());
    }

    pub(crate) async fn ended(self) -> TempDir {
        self.running.await.unwrap();
        self.dir
    }
}

pub(crate) fn new_key(scopes: &[Scope], workspace: &str) -> NewKey {
    NewKey {
        name: "test".into(),
        scopes: scopes.to_vec(),
        workspace: Some(workspace.into()),
        expires: None,
        budget_per_day_usd: None,
        calls_per_day: None,
        documents: None,
    }
}

pub(crate) fn key(dir: &Path, scopes: &[Scope], workspace: &str) -> String {
    ApiKeys::for_base(dir).create(new_key(scopes, workspace)).unwrap().1
}

/// The JSON of a response that succeeded.
pub(crate) async fn good(response: Response) -> Value {
    let status = response.status();
    let text = response.text().await.unwrap();
    assert!(status.is_success(), "{status}: {text}");
    serde_json::from_str(&text).unwrap()
}

/// A form with files, as a browser sends it.
pub(crate) fn form(files: &[(&str, &[u8])]) -> (String, Vec<u8>) {
    let mut body = vec![];
    for (name, content) in files {
        let name = name.replace('"', "%22").replace('\n', "%0A");
        body.extend_from_slice(
            format!("--edge\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n")
                .as_bytes(),
        );
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--edge--\r\n");
    ("multipart/form-data; boundary=edge".into(), body)
}

/// An event of a stream.
pub(crate) struct StreamEvent {
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// The events of a whole stream.
pub(crate) fn events(text: &str) -> Vec<StreamEvent> {
    let blocks = text.split("\n\n").filter(|block| block.contains("data:"));
    blocks
        .map(|block| {
            let field = |name: &str| {
                block
                    .lines()
                    .find_map(|line| line.strip_prefix(name))
                    .unwrap_or("")
                    .trim()
                    .to_owned()
            };
            let data = field("data:");
            let data = serde_json::from_str(&data).unwrap_or(Value::String(data));
            StreamEvent { name: field("event:"), data }
        })
        .collect()
}

pub(crate) fn question() -> Value {
    json!({"question": "In which year was Orrin Light first lit?"})
}

/// Waits until the condition holds.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..400 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("timed out waiting for {what}");
}
