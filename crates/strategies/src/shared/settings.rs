//! Settings from a table of the configuration, with errors that name the key.
use halma_core::plain_message;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Parses a strategy's own table. The error names the key and what it should have been.
pub(crate) fn parse<S: DeserializeOwned>(table: toml::Table) -> Result<S, String> {
    // The whole message, not its first line: only there does a wrong value come with its key.
    S::deserialize(toml::Value::Table(table)).map_err(|e| plain_message(&e.to_string()))
}

/// Settings as reports show them.
pub(crate) fn json(settings: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(settings).expect("settings are plain numbers, words and switches")
}

/// Refuses a count of nothing.
pub(crate) fn at_least_one(key: &str, value: usize) -> Result<(), String> {
    if value == 0 { Err(format!("`{key}` is 0, but must be at least 1")) } else { Ok(()) }
}

/// Refuses a weight that would turn its meaning around.
pub(crate) fn at_least_zero(key: &str, value: f32) -> Result<(), String> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(format!("`{key}` is {value}, but must be a number of at least 0"))
    }
}

/// Refuses a threshold that no cosine can meet or miss.
pub(crate) fn a_cosine(key: &str, value: Option<f32>) -> Result<(), String> {
    match value {
        Some(value) if !(-1.0..=1.0).contains(&value) => {
            Err(format!("`{key}` is {value}, but a cosine lies between -1 and 1"))
        }
        _ => Ok(()),
    }
}
