//! `halma config show`: every value with its origin.
use halma_core::ConfigError;
use halma_kb::BaseUrl;
use serde::Serialize;
use serde_json::{Map, Value};

use super::load::Loaded;

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ConfigValue))]
pub struct ShownValue {
    /// Dotted, as in `strategy.kar3.n`.
    pub key: String,
    /// `null` when nothing is set and the program decides.
    pub value: Value,
    /// `default`, a file, or a flag.
    pub origin: String,
}

/// The whole configuration as resolved, the strategies' own defaults included.
pub fn show(loaded: &Loaded) -> Result<Vec<ShownValue>, ConfigError> {
    let mut all = serde_json::to_value(&loaded.config).map_err(|e| ConfigError {
        file: "the configuration".into(),
        key: String::new(),
        reason: e.to_string(),
        hint: "this is a bug in Halma; report it with your halma.toml".into(),
    })?;
    let mut strategies = Map::new();
    let place = loaded.config.settings_place();
    for entry in crate::strategies() {
        let table = loaded.config.strategy.get(entry.name).cloned().unwrap_or_default();
        let strategy = crate::engine::build(entry, table, &place)?;
        strategies.insert(entry.name.to_owned(), strategy.settings());
    }
    all["strategy"] = Value::Object(strategies);
    let mut shown = vec![];
    flatten("", &all, loaded, &mut shown);
    Ok(shown)
}

/// The address of a base may hold a password; addresses of models have keys of their own.
fn without_password(key: &str, value: &Value) -> Value {
    match value.as_str().filter(|_| key == "kb.url") {
        Some(url) => Value::String(BaseUrl::from(url).shown()),
        None => as_written(value),
    }
}

/// A number that is stored in 32 bits as it was written: 0.4, and not 0.4000000059604645.
#[expect(clippy::cast_possible_truncation, reason = "only a number that fits is taken")]
fn as_written(value: &Value) -> Value {
    let short = value.as_f64().map(|number| (number, number as f32));
    let is_whole = |number: f64, short: f32| f64::from(short).to_bits() == number.to_bits();
    let short = short.filter(|(number, short)| value.is_f64() && is_whole(*number, *short));
    match short.map(|(_, short)| short.to_string().parse::<f64>()) {
        Some(Ok(number)) => number.into(),
        _ => value.clone(),
    }
}

fn flatten(prefix: &str, table: &Value, loaded: &Loaded, out: &mut Vec<ShownValue>) {
    for (key, value) in table.as_object().into_iter().flatten() {
        let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        if value.is_object() {
            flatten(&key, value, loaded, out);
        } else {
            let origin = loaded.origins.get(&key).map_or("default", String::as_str).to_owned();
            out.push(ShownValue { value: without_password(&key, value), key, origin });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_they_are_written() {
        for (stored, shown) in [
            (Value::from(f64::from(0.4_f32)), "0.4"),
            (Value::from(0.1_f64 + 0.2), "0.30000000000000004"),
            (Value::from(1.0), "1.0"),
            (Value::from(7), "7"),
        ] {
            assert_eq!(as_written(&stored).to_string(), shown);
        }
    }
}
