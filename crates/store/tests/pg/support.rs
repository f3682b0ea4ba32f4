//! One server for all tests, and a database for each.
use std::sync::OnceLock;

use futures::TryStreamExt;
use halma_store::pg::{Address, Database, Home, Lease, NewPush, PgError, Push, Segment};
use halma_testkit::Postgres;

/// The server of this program. It ends with it.
static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();

/// The server, if there is one.
pub(crate) fn server() -> Option<&'static Postgres> {
    SERVER.get_or_init(Postgres::find).as_ref()
}

/// A database of its own with a workspace.
pub(crate) struct Test {
    pub(crate) address: String,
    pub(crate) home: Home,
}

impl Test {
    pub(crate) async fn new() -> Option<Self> {
        Some(Self::on(server()?).await)
    }

    pub(crate) async fn on(server: &Postgres) -> Self {
        let address = server.database();
        let home = open(&address).await.unwrap();
        Self { address, home }
    }

    /// The name of the database.
    pub(crate) fn database(&self) -> &str {
        self.address.split('?').next().unwrap().rsplit('/').next().unwrap()
    }

    /// The same workspace as another program sees it, with connections of its own.
    pub(crate) async fn another(&self) -> Home {
        open(&self.address).await.unwrap()
    }
}

pub(crate) async fn open(address: &str) -> Result<Home, PgError> {
    Database::connect(&Address::parse(address)?).await?.home().await
}

/// A push after generation `expected`, with an id made of `id`.
pub(crate) fn push(id: u8, expected: u64, segments: &[&[u8]]) -> Push {
    let new = NewPush { id: [id; 16], expected, snapshot: false, uid: 7 };
    Push { new, segments: segments.iter().map(|segment| segment.to_vec()).collect() }
}

pub(crate) fn snapshot(id: u8, expected: u64, segments: &[&[u8]]) -> Push {
    let mut push = push(id, expected, segments);
    push.new.snapshot = true;
    push
}

pub(crate) async fn read(home: &Home, after: u64, upto: u64) -> Result<Vec<Segment>, PgError> {
    home.segments(after, upto).try_collect().await
}

/// (generation, seq, text) of all segments after `after`.
pub(crate) async fn texts(home: &Home, after: u64) -> Vec<(u64, u32, String)> {
    let upto = home.head().await.unwrap().generation;
    let segments = read(home, after, upto).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    segments.into_iter().map(|s| (s.generation, s.seq, text(s.bytes))).collect()
}

pub(crate) async fn lease(home: &Home) -> Lease {
    home.lease("test", false).await.unwrap()
}
