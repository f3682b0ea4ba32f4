//! Two servers with a replica each, over a database of their own.
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use halma_engine::{Config, Engine, Place};
use halma_server::{ApiKeys, Scope};
use halma_testkit::Postgres;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{World, config, good, index_library, new_key};

/// The server of this program. It ends with it.
static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();

/// A database with a workspace, and the folder of its keys.
pub(crate) struct Space {
    /// The server of its own, of a test that kills it.
    server: Option<Postgres>,
    keys: TempDir,
    database: String,
    config: Config,
}

impl Space {
    /// With a small base in it; `None` where there is no server for it.
    pub(crate) async fn with(config: Config) -> Option<Self> {
        let database = SERVER.get_or_init(Postgres::find).as_ref()?.database();
        Some(Self::filled(None, database, config).await)
    }

    /// On a server of its own.
    pub(crate) async fn apart() -> Option<Self> {
        let server = Postgres::find_own()?;
        let database = server.database();
        Some(Self::filled(Some(server), database, config()).await)
    }

    async fn filled(server: Option<Postgres>, database: String, config: Config) -> Self {
        let space = Self { server, keys: tempfile::tempdir().unwrap(), database, config };
        let replica = tempfile::tempdir().unwrap();
        let engine = space.engine(replica.path()).await;
        index_library(&engine).await;
        drop(engine);
        space
    }

    pub(crate) async fn new() -> Option<Self> {
        Self::with(config()).await
    }

    fn place(&self, replica: &Path) -> Place {
        let separator = if self.database.contains('?') { '&' } else { '?' };
        let keys = self.keys.path().display();
        let address = format!("{}{separator}workspace=test&keys={keys}", self.database);
        Place::new(Path::new(&address)).unwrap().with_replica(replica)
    }

    async fn engine(&self, replica: &Path) -> Engine {
        let (config, place) = (self.config.clone(), self.place(replica));
        let open = move || Engine::create_or_open_at(config, &place).unwrap();
        tokio::task::spawn_blocking(open).await.unwrap()
    }

    /// A server with an empty replica.
    pub(crate) async fn serve(&self) -> World {
        let replica = tempfile::tempdir().unwrap();
        let engine = self.engine(replica.path()).await;
        World::serving(replica, engine, self.config.clone()).await
    }

    /// The keys as the command line sees them.
    pub(crate) fn keys(&self) -> ApiKeys {
        ApiKeys::at(&self.place(Path::new("unused"))).unwrap()
    }

    /// A key with every right in a workspace.
    pub(crate) fn key_for(&self, workspace: &str) -> String {
        self.keys().create(new_key(&[Scope::Ask, Scope::Write, Scope::Admin], workspace)).unwrap().1
    }

    /// How many rows the database has of workspaces besides the first.
    pub(crate) fn rows_of_others(&self) -> u64 {
        const TABLES: [&str; 9] =
            ["home", "segment", "push", "waiter", "call", "worker", "clock", "state", "usage"];
        let others = "home <> (select home from halma.home where workspace = 'test')";
        let count = |table: &str| {
            let rows = self.psql(&format!("select count(*) from halma.{table} where {others}"));
            rows.trim().parse::<u64>().unwrap()
        };
        TABLES.into_iter().map(count).sum()
    }

    /// How many workspaces are marked as having builds to do.
    pub(crate) fn waiting_workspaces(&self) -> u64 {
        let marked = "kind = 'workspace builds' and bytes is not null";
        let count = self.psql(&format!("select count(*) from halma.state where {marked}"));
        count.trim().parse().unwrap()
    }

    /// The folder of the keys of a workspace besides the first.
    pub(crate) fn keys_of(&self, workspace: &str) -> PathBuf {
        self.keys.path().join("workspaces").join(workspace)
    }

    /// Everything in the tables of state, as text.
    pub(crate) fn dump(&self) -> String {
        self.psql("select kind, id, encode(bytes, 'escape') from halma.state")
    }

    fn psql(&self, sql: &str) -> String {
        let name = self.database.split('?').next().unwrap().rsplit('/').next().unwrap();
        self.server().psql(name, sql)
    }

    pub(crate) fn server(&self) -> &Postgres {
        self.server.as_ref().unwrap_or_else(|| SERVER.get().unwrap().as_ref().unwrap())
    }
}

pub(crate) async fn ask(world: &World, key: &str, question: &str) -> Response {
    let request = world.request(Method::POST, "/api/v1/ask").bearer_auth(key);
    request.json(&json!({"question": question})).send().await.unwrap()
}

pub(crate) async fn get(world: &World, key: &str, path: &str) -> Value {
    good(world.request(Method::GET, path).bearer_auth(key).send().await.unwrap()).await
}

pub(crate) async fn status(world: &World, key: &str, path: &str) -> u16 {
    let request = world.request(Method::GET, path).bearer_auth(key);
    request.send().await.unwrap().status().as_u16()
}

/// Waits until a request is answered with a status, and returns how long that took.
pub(crate) async fn until_status(world: &World, key: &str, wanted: u16) -> Duration {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(10) {
        if status(world, key, "/api/v1/me").await == wanted {
            return began.elapsed();
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the server does not answer {wanted}");
}
