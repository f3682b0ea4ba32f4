//! Checks of `[serve]` before the server starts.
use std::ops::RangeInclusive;

use halma_core::ConfigError;
use halma_engine::ServeConfig;

/// Workspaces that may be open. Each takes address space, of which there is enough for about a
/// thousand.
const OPEN_WORKSPACES: RangeInclusive<usize> = 1..=900;

pub(crate) fn check(serve: &ServeConfig) -> Result<(), ConfigError> {
    for (key, value) in
        [("header_seconds", serve.header_seconds), ("drain_seconds", serve.drain_seconds)]
    {
        if !(value.is_finite() && value > 0.0 && value < 1e6) {
            return Err(wrong(key, "it must be greater than 0", "give a time in seconds"));
        }
    }
    if !OPEN_WORKSPACES.contains(&serve.open_workspaces) {
        let reason =
            format!("it must be from {} to {}", OPEN_WORKSPACES.start(), OPEN_WORKSPACES.end());
        return Err(wrong("open_workspaces", &reason, "give a number of workspaces"));
    }
    Ok(())
}

fn wrong(key: &str, reason: &str, hint: &str) -> ConfigError {
    ConfigError {
        file: "halma.toml".into(),
        key: format!("serve.{key}"),
        reason: reason.to_owned(),
        hint: hint.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_numbers_have_bounds() {
        check(&ServeConfig::default()).unwrap();
        for open_workspaces in [0, 901] {
            let error = check(&ServeConfig { open_workspaces, ..ServeConfig::default() });
            assert_eq!(error.unwrap_err().key, "serve.open_workspaces");
        }
        for drain_seconds in [0.0, f64::NAN, 1e9] {
            let error = check(&ServeConfig { drain_seconds, ..ServeConfig::default() });
            assert_eq!(error.unwrap_err().key, "serve.drain_seconds");
        }
    }
}
