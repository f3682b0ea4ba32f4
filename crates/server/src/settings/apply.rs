//! Using what was changed over HTTP on any server of a shared base.
use std::sync::Arc;
use std::time::Duration;

use halma_engine::{Config, configured_prompts};
use parking_lot::MutexGuard;

use super::{KnownSettings, Settings, SharedSettings, with_roles, write_prompts};
use crate::app::{App, AppliedSettings};
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;
use crate::roles;

/// How often it is looked for what other servers have changed.
const INTERVAL: Duration = Duration::from_millis(500);

/// The folder of the prompts of all servers, below that of the replica.
const PROMPTS: &str = "shared-prompts";

impl App {
    /// Uses another configuration, with what was changed over HTTP.
    pub(crate) fn configure(&self, configured: Config) -> Result<(), Problem> {
        let Some(settings) = &self.settings else {
            let config = roles::with_stored(&configured, &self.workspaces.root().dir)?;
            return self.workspaces.reconfigure(&config);
        };
        let KnownSettings { version, settings } = settings.known();
        let mut applied = self.applied();
        let config = self.config_with(&configured, &settings)?;
        self.workspaces.reconfigure(&config)?;
        *applied = AppliedSettings { configured, version };
        Ok(())
    }

    /// Uses what is known of the settings of all servers, if it has changed. What this server cannot
    /// use is left as it was.
    pub(crate) fn apply_settings(&self) {
        let Some(settings) = &self.settings else { return };
        let KnownSettings { version, settings } = settings.known();
        let mut applied = self.applied();
        if version <= applied.version {
            return;
        }
        applied.version = version;
        let config = self.config_with(&applied.configured, &settings);
        if let Err(problem) = config.and_then(|config| self.workspaces.reconfigure(&config)) {
            tracing::error!(
                "prompts and roles stay as they were on this server: {}; see that all servers have \
                 the same version of Halma",
                problem.detail
            );
        }
    }

    /// Changes what all servers share, and uses it here.
    pub(crate) fn change_settings<T>(
        &self,
        settings: &SharedSettings,
        change: impl FnMut(&mut Settings) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let changed = settings.change(change)?;
        self.apply_settings();
        Ok(changed)
    }

    /// Refuses prompts that are not valid together.
    pub(crate) fn check_prompts(&self, settings: &Settings) -> Result<(), Problem> {
        let trial = tempfile::tempdir().map_err(|e| Problem::internal(&e))?;
        let mut config = self.applied().configured.clone();
        let own = trial.path().join(PROMPTS);
        config.prompts_dir = write_prompts(&own, config.prompts_dir.as_deref(), &settings.prompts)?;
        Ok(configured_prompts(&config).map(drop)?)
    }

    fn config_with(&self, configured: &Config, settings: &Settings) -> Result<Config, Problem> {
        let own = self.workspaces.root().dir.join(PROMPTS);
        let configured_folder = configured.prompts_dir.as_deref().filter(|dir| dir.is_dir());
        let mut config = with_roles(configured, settings);
        config.prompts_dir = write_prompts(&own, configured_folder, &settings.prompts)?;
        Ok(config)
    }

    /// While it is held, the files of prompts are those that the engines have read.
    pub(crate) fn applied(&self) -> MutexGuard<'_, AppliedSettings> {
        self.applied.lock()
    }
}

/// Follows what other servers change, for ever.
pub(crate) async fn follow_settings(app: Arc<App>) {
    let Some(settings) = app.settings.clone() else { return };
    let mut is_reached = true;
    loop {
        tokio::time::sleep(INTERVAL).await;
        let (app, settings) = (Arc::clone(&app), Arc::clone(&settings));
        let follow = {
            let app = Arc::clone(&app);
            move || {
                settings.refresh()?;
                app.apply_settings();
                Ok(())
            }
        };
        let followed = run_blocking(follow).await;
        if let (Err(problem), true) = (&followed, is_reached) {
            tracing::warn!("the settings of other servers cannot be read: {}", problem.detail);
        }
        is_reached = followed.is_ok();
        if is_reached && app.workspaces.are_served() {
            app.workspaces.follow().await;
            if let Err(problem) = app.workspaces.continue_builds(&app).await {
                tracing::debug!("builds of other workspaces are not known: {}", problem.detail);
            }
        }
    }
}
