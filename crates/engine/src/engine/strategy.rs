//! Strategies by name, with their settings from the configuration.
use std::collections::BTreeMap;
use std::sync::Arc;

use halma_core::{COMMON_SETTINGS, ConfigError, Entry, Strategy};
use toml::Table;

use super::{AskRequest, Engine};
use crate::Config;
use crate::assemble::requirements;
use crate::config::load::{flag_text, flag_value};

impl Engine {
    /// A strategy as configured. A strategy that needs what is not configured is refused.
    pub fn strategy(&self, name: &str) -> Result<Arc<dyn Strategy>, ConfigError> {
        self.strategy_with(name, &BTreeMap::new())
    }

    /// The strategy that a question names, that of its effort, or the configured one.
    pub(super) fn strategy_for(
        &self,
        request: &AskRequest,
    ) -> Result<Arc<dyn Strategy>, ConfigError> {
        let AskRequest { strategy, effort, settings, .. } = request;
        let (name, of_effort) = match (strategy, effort) {
            (Some(name), _) => (name.as_str(), &[][..]),
            (None, Some(effort)) => (effort.strategy(), effort.settings()),
            (None, None) => (self.config.ask.strategy.as_str(), &[][..]),
        };
        let of_effort = of_effort.iter().map(|(key, value)| ((*key).into(), (*value).into()));
        let of_request = settings.iter().map(|(key, value)| (key.clone(), flag_text(value)));
        self.strategy_with(name, &of_effort.chain(of_request).collect())
    }

    /// [`Engine::strategy`] with some of its settings replaced, as `--set` does.
    pub fn strategy_with(
        &self,
        name: &str,
        settings: &BTreeMap<String, String>,
    ) -> Result<Arc<dyn Strategy>, ConfigError> {
        let entry = find_entry(name)?;
        requirements::check(entry, &self.setup, &self.config).map_err(|e| self.config.named(e))?;
        let strategy = configured_strategy(&self.config, name, settings)?;
        requirements::check_sources(strategy.as_ref(), &self.setup)
            .map_err(|e| self.config.named(e))?;
        Ok(strategy)
    }
}

/// A strategy as configured with some of its settings replaced, without a base: its name and its
/// settings are checked, what it requires is not ([`Engine::strategy_with`] does).
pub fn configured_strategy(
    config: &Config,
    name: &str,
    settings: &BTreeMap<String, String>,
) -> Result<Arc<dyn Strategy>, ConfigError> {
    let entry = find_entry(name)?;
    let mut table = config.strategy.get(name).cloned().unwrap_or_default();
    for (key, value) in settings {
        table.insert(key.clone(), flag_value(value));
    }
    build(entry, table, &config.settings_place())
}

/// Refuses tables `[strategy.…]` and a default of strategies that do not exist, and settings that these
/// do not have, so that a mistake is told when the program starts and not when the first question is asked.
pub(crate) fn check_tables(config: &Config) -> Result<(), ConfigError> {
    for (name, table) in &config.strategy {
        let entry = find_configured(config, &format!("strategy.{name}"), name)?;
        build(entry, table.clone(), &config.settings_place())?;
    }
    find_configured(config, "ask.strategy", &config.ask.strategy).map(drop)
}

/// The strategy that a key of the configuration names.
fn find_configured(config: &Config, key: &str, name: &str) -> Result<&'static Entry, ConfigError> {
    find_entry(name).map_err(|e| ConfigError {
        file: config.file.clone(),
        key: key.to_owned(),
        reason: format!("there is no strategy `{name}`"),
        ..e
    })
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

/// A strategy with the settings of its table, which were written at `place`.
pub(crate) fn build(
    entry: &Entry,
    table: Table,
    place: &str,
) -> Result<Arc<dyn Strategy>, ConfigError> {
    let error = |reason| ConfigError {
        file: place.to_owned(),
        key: format!("strategy.{}", entry.name),
        reason,
        hint: format!("`halma config show strategy.{} --all` lists its settings", entry.name),
    };
    entry.build_from(table).map_err(|reason| error(with_common(reason)))
}

/// The error of an unknown setting with those that every strategy has, which its own list lacks.
fn with_common(reason: String) -> String {
    if reason.contains("unknown field") {
        let common = COMMON_SETTINGS.map(|name| format!("`{name}`")).join(", ");
        format!("{reason}; every strategy also has {common}")
    } else {
        reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_settings_are_checked_without_a_base() {
        let config = Config::default();
        let refused = |name: &str, settings: &[(&str, &str)]| {
            let settings = settings.iter().map(|(key, value)| ((*key).into(), (*value).into()));
            configured_strategy(&config, name, &settings.collect()).err().map(|e| e.to_string())
        };
        assert_eq!(refused("kar3", &[("n", "3")]), None);
        assert!(refused("kra3", &[]).is_some_and(|e| e.contains("no such strategy")));
        assert!(refused("kar3", &[("n", "many")]).is_some());
        assert!(refused("kar3", &[("deepness", "3")]).is_some());
    }

    #[test]
    fn a_wrong_setting_names_the_file_in_use() {
        let mut config = Config { file: "other.toml".into(), ..Config::default() };
        let wrong = toml::from_str("n = \"many\"").unwrap();
        config.strategy.insert("kar3".into(), wrong);
        let error = check_tables(&config).unwrap_err();
        assert!(error.file.starts_with("other.toml"), "{error}");
        let error = configured_strategy(&config, "kar3", &BTreeMap::new()).err().unwrap();
        assert!(error.file.starts_with("other.toml"), "{error}");
    }
}
