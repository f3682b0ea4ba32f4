//! Strategies by name, with their settings from the configuration.
use std::collections::BTreeMap;
use std::sync::Arc;

use halma_core::{ConfigError, Entry, Strategy};
use toml::Table;

use super::Engine;
use crate::assemble::requirements;
use crate::config::load::flag_value;

impl Engine {
    /// A strategy as configured. A strategy that needs what is not configured is refused.
    pub fn strategy(&self, name: &str) -> Result<Arc<dyn Strategy>, ConfigError> {
        self.strategy_with(name, &BTreeMap::new())
    }

    /// [`Engine::strategy`] with some of its settings replaced, as `--set` does.
    pub fn strategy_with(
        &self,
        name: &str,
        settings: &BTreeMap<String, String>,
    ) -> Result<Arc<dyn Strategy>, ConfigError> {
        let entry = find_entry(name)?;
        requirements::check(entry, &self.setup, &self.config).map_err(|e| self.config.named(e))?;
        let mut table = self.config.strategy.get(name).cloned().unwrap_or_default();
        for (key, value) in settings {
            table.insert(key.clone(), flag_value(value));
        }
        build(entry, table)
    }
}

fn find_entry(name: &str) -> Result<&'static Entry, ConfigError> {
    crate::strategies().iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names: Vec<&str> = crate::strategies().iter().map(|entry| entry.name).collect();
        ConfigError {
            file: "--strategy".into(),
            key: name.into(),
            reason: "there is no such strategy".into(),
            hint: format!("use one of: {}", names.join(", ")),
        }
    })
}

pub(crate) fn build(entry: &Entry, table: Table) -> Result<Arc<dyn Strategy>, ConfigError> {
    (entry.build)(table).map_err(|reason| ConfigError {
        file: "halma.toml or --set".into(),
        key: format!("strategy.{}", entry.name),
        reason,
        hint: format!("docs/strategies/{}.md lists its settings", entry.name),
    })
}
