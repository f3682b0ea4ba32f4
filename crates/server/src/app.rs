//! What all requests share.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_engine::{Engine, Loaded, ServeConfig};
use tokio::sync::{Semaphore, watch};

use crate::allowance::Allowance;
use crate::keys::{KeyFile, Keys};
use crate::limits::Limits;
use crate::problem::Problem;
use crate::workspace::Workspaces;

pub(crate) type Shared = Arc<App>;

pub(crate) struct App {
    pub(crate) config: ServeConfig,
    /// Where each value of the configuration came from.
    pub(crate) loaded: Loaded,
    pub(crate) keys: Arc<Keys>,
    pub(crate) allowance: Arc<Allowance>,
    pub(crate) limits: Limits,
    pub(crate) workspaces: Workspaces,
    /// How many more questions may run.
    pub(crate) asks: Arc<Semaphore>,
    /// Where prompts are written that are changed over HTTP.
    pub(crate) prompts_dir: PathBuf,
    pub(crate) demo: bool,
    /// Whether it is bound to a loopback address.
    pub(crate) loopback: bool,
    pub(crate) stop: watch::Sender<Stop>,
}

/// How the server is about to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stop {
    No,
    /// Nothing new is taken; what only watches ends.
    Soon,
    /// Running answers end too.
    Now,
}

/// What an [`App`] is made from.
pub(crate) struct Start<'a> {
    pub(crate) loaded: Loaded,
    pub(crate) engine: Engine,
    /// The folder of the base.
    pub(crate) dir: &'a Path,
    pub(crate) demo: bool,
    pub(crate) loopback: bool,
}

impl App {
    pub(crate) fn new(start: Start<'_>) -> Result<Self, Problem> {
        let Start { loaded, engine, dir, demo, loopback } = start;
        let config = loaded.config.serve.clone();
        let keys = Arc::new(Keys::new(KeyFile::of(dir)));
        let allowance = Arc::new(Allowance::new(Arc::clone(&keys)));
        let prompts_dir = prompts_dir(loaded.config.prompts_dir.as_deref(), dir);
        Ok(Self {
            limits: Limits::new(config.requests_per_minute),
            asks: Arc::new(Semaphore::new(config.concurrent_asks)),
            workspaces: Workspaces::new(dir, engine, Arc::clone(&allowance))?,
            stop: watch::Sender::new(Stop::No),
            config,
            loaded,
            keys,
            allowance,
            prompts_dir,
            demo,
            loopback,
        })
    }

    /// Returns when the server ends in this way, or more so.
    pub(crate) async fn stopping(&self, how: Stop) {
        let mut stop = self.stop.subscribe();
        // The sender is in `self`, so that it cannot be gone.
        let _ = stop.wait_for(|now| *now >= how).await;
    }
}

/// Where prompts are kept that were changed over HTTP: in the folder of the configuration, else in
/// one of the base's own.
pub fn prompts_dir(configured: Option<&Path>, dir: &Path) -> PathBuf {
    configured.map_or_else(|| dir.join("prompts"), Path::to_owned)
}
