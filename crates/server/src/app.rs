//! The state that all requests share.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_engine::{Config, Engine, Loaded, ServeConfig};
use halma_store::pg::Versions;
use parking_lot::{Mutex, RwLock};
use serde::Serialize;
use tokio::sync::{Semaphore, watch};
use utoipa::ToSchema;

use crate::builds::{BUILD_ENTRIES, BuildAccounts};
use crate::keys::{ApiKeys, KEY_ENTRIES, Keys};
use crate::limits::allowance::Allowance;
use crate::limits::rate_limit::RateLimit;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::settings::{SETTINGS_ENTRIES, SharedSettings};
use crate::storage_health::StorageHealth;
use crate::workspace::{DEFAULT, Purpose, Workspace, Workspaces, has_changed};

pub(crate) type Shared = Arc<App>;

pub(crate) struct App {
    pub(crate) config: ServeConfig,
    /// The configuration in use with the origin of each value.
    loaded: RwLock<Loaded>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) allowance: Arc<Allowance>,
    pub(crate) rate_limit: RateLimit,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) workspaces: Workspaces,
    /// Limits how many questions run at a time.
    pub(crate) asks: Arc<Semaphore>,
    /// The folder of prompts that are changed over HTTP, of a base that is not shared.
    pub(crate) prompts_dir: PathBuf,
    /// What is changed over HTTP for all servers, of a base that is shared.
    pub(crate) settings: Option<Arc<SharedSettings>>,
    /// What these settings are applied to. While it is locked, the files of prompts are those that the
    /// engines have read.
    pub(crate) applied: Mutex<AppliedSettings>,
    /// Held while roles are assigned, so that no assignment is lost.
    pub(crate) role_changes: Mutex<()>,
    /// Held while a prompt is checked and replaced.
    pub(crate) prompt_changes: Mutex<()>,
    /// The questions that are offered where the demo library is served.
    pub(crate) demo: Option<Vec<Suggestion>>,
    /// Whether the server is bound to a loopback address.
    pub(crate) loopback: bool,
    pub(crate) stop: watch::Sender<Stop>,
    /// Of the store of the default workspace and its disk.
    pub(crate) storage_health: watch::Sender<StorageHealth>,
}

/// The configuration without what was changed over HTTP, and the version of the settings that it is
/// used with.
pub(crate) struct AppliedSettings {
    pub(crate) configured: Config,
    pub(crate) version: u64,
}

/// A question that is offered.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Suggestion {
    pub question: String,
    /// The strategy that answers it; the default one if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
}

impl From<String> for Suggestion {
    fn from(question: String) -> Self {
        Self { question, strategy: None }
    }
}

/// How far the server is in shutting down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stop {
    No,
    /// No new requests are accepted; streams that only watch end.
    Soon,
    /// Questions that are being answered end too.
    Now,
}

/// What an [`App`] is built from.
pub(crate) struct AppSetup<'a> {
    pub(crate) loaded: Loaded,
    pub(crate) engine: Engine,
    /// The folder of the base.
    pub(crate) dir: &'a Path,
    pub(crate) demo: Option<Vec<Suggestion>>,
    pub(crate) loopback: bool,
    pub(crate) purpose: Purpose,
}

impl App {
    pub(crate) fn new(setup: AppSetup<'_>) -> Result<Self, Problem> {
        let AppSetup { loaded, engine, dir, demo, loopback, purpose } = setup;
        let config = loaded.config.serve.clone();
        let keys = Arc::new(Keys::open(ApiKeys::from_engine(&engine))?);
        let allowance = Arc::new(Allowance::new(Arc::clone(&keys), engine.state()));
        let metrics = Arc::new(Metrics::default());
        let prompts_dir = prompts_dir(loaded.config.prompts_dir.as_deref(), dir);
        let storage_health = watch::Sender::new(StorageHealth::look(&engine, dir));
        let shared = engine.shared().map(|_| SharedSettings::open(engine.state()));
        let settings = shared.transpose()?.map(Arc::new);
        let configured = engine.config().clone();
        let engine = match &settings {
            Some(_) => engine,
            None => crate::roles::restore(engine, dir)?,
        };
        let accounts =
            BuildAccounts { allowance: Arc::clone(&allowance), metrics: Arc::clone(&metrics) };
        let app = Self {
            storage_health,
            rate_limit: RateLimit::new(config.requests_per_minute),
            asks: Arc::new(Semaphore::new(config.concurrent_asks)),
            workspaces: Workspaces::new(
                dir,
                engine,
                (accounts, settings.clone()),
                (purpose, config.open_workspaces),
            )?,
            settings,
            applied: Mutex::new(AppliedSettings { configured, version: 0 }),
            metrics,
            role_changes: Mutex::default(),
            prompt_changes: Mutex::default(),
            stop: watch::Sender::new(Stop::No),
            config,
            loaded: RwLock::new(loaded),
            keys,
            allowance,
            prompts_dir,
            demo,
            loopback,
        };
        app.apply_settings();
        Ok(app)
    }

    /// The configuration in use with the origin of each value.
    pub(crate) fn loaded(&self) -> Loaded {
        self.loaded.read().clone()
    }

    /// Uses a configuration that was read again. What `[serve]` says stays as it was: the server has
    /// begun with it.
    pub(crate) fn reload(&self, mut loaded: Loaded) -> Result<(), Problem> {
        self.configure(loaded.config.clone())?;
        loaded.config.serve = self.config.clone();
        *self.loaded.write() = loaded;
        Ok(())
    }

    /// Brings what this server has of a workspace up to what other servers have answered. Nothing
    /// while the database is not reached, and where the base is not shared.
    pub(crate) async fn catch_up(self: &Arc<Self>, workspace: &Arc<Workspace>) {
        let Some(freshness) = &workspace.freshness else { return };
        if self.keys.database() == Some(false) {
            return;
        }
        let (app, workspace) = (Arc::clone(self), Arc::clone(workspace));
        let apply = move |now: &Versions, before: &Versions| {
            if now.generation != before.generation {
                workspace.engine().base().pull().map_err(|e| Problem::internal(&e))?;
            }
            if has_changed(BUILD_ENTRIES, now, before) {
                workspace.builds.refresh()?;
            }
            if workspace.name == DEFAULT && has_changed(KEY_ENTRIES, now, before) {
                app.keys.reload();
            }
            if let Some(settings) = app.settings.as_ref().filter(|_| workspace.name == DEFAULT)
                && has_changed(SETTINGS_ENTRIES, now, before)
            {
                settings.refresh()?;
                app.apply_settings();
            }
            Ok(())
        };
        freshness.catch_up(apply).await;
    }

    /// Returns when the shutdown has reached this stage.
    pub(crate) async fn stopping(&self, stage: Stop) {
        let mut stop = self.stop.subscribe();
        // Cannot fail: the sender is in `self`.
        let _ = stop.wait_for(|now| *now >= stage).await;
    }
}

/// The folder of prompts that are changed over HTTP: the one in the configuration, or else a folder
/// of the base.
pub fn prompts_dir(configured: Option<&Path>, dir: &Path) -> PathBuf {
    configured.map_or_else(|| dir.join("prompts"), Path::to_owned)
}
