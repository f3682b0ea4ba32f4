//! What is changed over HTTP and holds for all servers of a shared base: prompts, roles of models,
//! and workspaces besides the default one. One sealed entry in the database of the base.
mod apply;
mod content;
mod prompts;

use std::sync::Arc;

use halma_engine::{BaseState, Entries, StateEntry};
use parking_lot::RwLock;

pub(crate) use self::apply::follow_settings;
pub(crate) use self::content::Settings;
pub(crate) use self::prompts::check_prompts;
use self::prompts::write_prompts;
use crate::builds::unstored;
use crate::problem::Problem;

/// The kind of the entry, which is also the folder of its key, and its id.
pub(crate) const SETTINGS_ENTRIES: &str = "settings";
const ID: &str = "all";

pub(crate) struct SharedSettings {
    entries: Entries,
    current: RwLock<VersionedSettings>,
}

/// What was read last.
#[derive(Clone, Default)]
pub(crate) struct VersionedSettings {
    /// 0 where nothing was ever changed.
    pub(crate) version: u64,
    pub(crate) settings: Arc<Settings>,
}

impl SharedSettings {
    pub(crate) fn open(state: &BaseState) -> Result<Self, Problem> {
        let entries = state.entries_with_words(SETTINGS_ENTRIES, SETTINGS_ENTRIES)?;
        let settings = Self { entries, current: RwLock::default() };
        settings.refresh()?;
        Ok(settings)
    }

    /// As they were read last.
    pub(crate) fn current(&self) -> VersionedSettings {
        self.current.read().clone()
    }

    /// Reads what other servers have changed. Waits for the database.
    pub(crate) fn refresh(&self) -> Result<(), Problem> {
        let changed = self.entries.changed_since(self.current().version).map_err(unstored)?;
        let Some(StateEntry { version, bytes, .. }) = changed.into_iter().next_back() else {
            return Ok(());
        };
        let read = bytes.map(|bytes| serde_json::from_slice(&bytes)).transpose();
        let settings = read.map_err(|e| Problem::internal(&e))?.unwrap_or_default();
        self.remember(version, settings);
        Ok(())
    }

    fn remember(&self, version: u64, settings: Settings) {
        let mut current = self.current.write();
        if version > current.version {
            *current = VersionedSettings { version, settings: Arc::new(settings) };
        }
    }

    /// Changes the settings as they are now, unless `change` refuses. It is called again where
    /// another server was faster. Waits for the database.
    pub(crate) fn change<T>(
        &self,
        mut change: impl FnMut(&mut Settings) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        loop {
            self.refresh()?;
            let VersionedSettings { version, settings: former } = self.current();
            let mut settings = Settings::clone(&former);
            let changed = change(&mut settings)?;
            if settings == *former {
                return Ok(changed);
            }
            let bytes = serde_json::to_vec(&settings).map_err(|e| Problem::internal(&e))?;
            if let Some(version) = self.entries.put(ID, version, &bytes).map_err(unstored)? {
                self.remember(version, settings);
                return Ok(changed);
            }
        }
    }
}
