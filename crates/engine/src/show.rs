//! `halma config show`: every value with where it came from.
use halma_core::ConfigError;
use serde::Serialize;
use toml::{Table, Value};

use crate::load::Loaded;

#[derive(Debug, Serialize)]
pub struct ShownValue {
    /// Dotted, as in `strategy.kar3.n`.
    pub key: String,
    pub value: serde_json::Value,
    /// `default`, a file, or a flag.
    pub origin: String,
}

/// The whole configuration as resolved, the strategies' own defaults included.
pub fn show(loaded: &Loaded) -> Result<Vec<ShownValue>, ConfigError> {
    let mut table = Table::try_from(&loaded.config).map_err(|e| ConfigError {
        file: "the configuration".into(),
        key: String::new(),
        reason: e.to_string(),
        hint: "this is a fault of Halma; please report it with your halma.toml".into(),
    })?;
    let mut strategies = Table::new();
    for entry in crate::strategies() {
        let own = loaded.config.strategy.get(entry.name).cloned().unwrap_or_default();
        let settings = crate::engine::build(entry, own)?.settings();
        let settings = Value::try_from(settings).unwrap_or(Value::Table(Table::new()));
        strategies.insert(entry.name.to_owned(), settings);
    }
    table.insert("strategy".into(), Value::Table(strategies));
    let mut shown = vec![];
    flatten("", &table, loaded, &mut shown);
    Ok(shown)
}

fn flatten(prefix: &str, table: &Table, loaded: &Loaded, out: &mut Vec<ShownValue>) {
    for (key, value) in table {
        let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) => flatten(&key, inner, loaded, out),
            value => {
                let origin = loaded.origins.get(&key).map_or("default", String::as_str).to_owned();
                let value = serde_json::to_value(value).unwrap_or_default();
                out.push(ShownValue { key, value, origin });
            }
        }
    }
}
