//! One database server for all tests, a workspace for each, and documents to index.
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use halma_engine::{
    CallSharing, CallWorker, Config, Engine, EngineError, IndexOptions, IndexReport, IndexRun,
    Progress, base_folder,
};
use halma_testkit::double::{Behaviour, Double, atomizer};
use halma_testkit::{Postgres, SmallDisk};
use tempfile::TempDir;

/// The server of this program. It ends with it.
static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();

/// A model server, an empty database, and a folder of documents.
pub(crate) struct Test {
    pub(crate) model: Double,
    address: String,
    dir: TempDir,
}

impl Test {
    /// `None` where there is no `PostgreSQL`.
    pub(crate) fn new(documents: usize, latency: Duration) -> Option<Self> {
        let server = SERVER.get_or_init(Postgres::find).as_ref()?;
        let dir = tempfile::tempdir().unwrap();
        let address = server.database();
        let keys = dir.path().join("keys");
        let address = format!("{address}&workspace=test&keys={}", keys.display());
        let model = Double::start(Behaviour::with(atomizer()).latency(latency));
        let input = dir.path().join("documents");
        std::fs::create_dir(&input).unwrap();
        for number in 0..documents {
            let text = format!(
                "# Report {number}\n\nThe bridge number {number} was built by the Baxter Works in \
                 {} over the river Nox, and it carries {number} trains a day.\n",
                1800 + number
            );
            std::fs::write(input.join(format!("{number:03}.md")), text).unwrap();
        }
        Some(Self { model, address, dir })
    }

    pub(crate) fn address(&self) -> &Path {
        Path::new(&self.address)
    }

    /// With four calls of the model at a time.
    pub(crate) fn config(&self) -> Config {
        Self::config_of(&self.model.url())
    }

    pub(crate) fn config_of(url: &str) -> Config {
        let text = format!(
            "[models.own]\nurl = \"{url}\"\nmodel = \"writer\"\nconcurrency = 4\n\
             price = {{ prompt = 100.0, completion = 200.0 }}\n\
             [embedder]\nkind = \"endpoint\"\nurl = \"{url}\"\nmodel = \"vectors\"\n"
        );
        toml::from_str(&text).unwrap()
    }

    pub(crate) fn workers(&self, count: usize) -> Vec<CallWorker> {
        self.workers_of(count, &self.config())
    }

    pub(crate) fn workers_of(&self, count: usize, config: &Config) -> Vec<CallWorker> {
        let start = |_| CallWorker::start(config, self.address(), None).unwrap();
        (0..count).map(start).collect()
    }

    pub(crate) fn engine(&self, config: Config) -> Engine {
        Engine::create_or_open(config, self.address()).unwrap()
    }

    fn input(&self) -> [PathBuf; 1] {
        [self.dir.path().join("documents")]
    }

    /// Indexes the documents; with `takes_part` this process does calls as well.
    pub(crate) async fn index(
        &self,
        engine: &Engine,
        takes_part: bool,
    ) -> Result<IndexReport, EngineError> {
        self.index_watched(engine, takes_part, Arc::new(|_| ())).await
    }

    pub(crate) async fn index_watched(
        &self,
        engine: &Engine,
        takes_part: bool,
        progress: Progress,
    ) -> Result<IndexReport, EngineError> {
        let sharing = CallSharing { takes_part, report: Arc::new(|_| ()) };
        let run = IndexRun { progress, parent: None, sharing };
        engine.index_by(&self.input(), &IndexOptions::default(), run).await
    }

    /// The same documents in a folder, indexed by a model server of its own: the base as lines, the
    /// report, and the calls.
    pub(crate) async fn alone(&self) -> (Vec<String>, IndexReport, usize) {
        let model = Double::start(Behaviour::with(atomizer()));
        let folder = self.dir.path().join("alone");
        let engine = Engine::create_or_open(Self::config_of(&model.url()), &folder).unwrap();
        let report = self.index(&engine, true).await.unwrap();
        (lines(&engine), report, model.chat_calls())
    }

    /// A disk that can be filled, for tables of the server; `None` where there is none.
    pub(crate) fn small_disk() -> Option<SmallDisk> {
        let server = SERVER.get()?.as_ref().filter(|server| server.is_own())?;
        server.small_disk(8)
    }

    /// What a statement of the superuser answers.
    pub(crate) fn psql(&self, sql: &str) -> String {
        let name = self.address.split('?').next().unwrap().rsplit('/').next().unwrap();
        let server = SERVER.get().unwrap().as_ref().unwrap();
        server.psql(name, sql).trim().to_owned()
    }
}

impl Drop for Test {
    fn drop(&mut self) {
        // The replica is in a folder of the user.
        let _ = base_folder(self.address()).map(std::fs::remove_dir_all);
    }
}

/// Everything in a base, in an order of its own.
pub(crate) fn lines(engine: &Engine) -> Vec<String> {
    let mut bytes = vec![];
    engine.base().inspector().export(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Asks until it is so.
pub(crate) async fn until(mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(2), waiting).await.expect("it never became so");
}
