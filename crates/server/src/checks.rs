//! Checks of `[serve]` before the server starts.
use std::ops::RangeInclusive;

use halma_core::ConfigError;
use halma_engine::{Loaded, ServeConfig};

/// Workspaces that may be open. Each takes address space, of which there is enough for about a
/// thousand.
const OPEN_WORKSPACES: RangeInclusive<usize> = 1..=900;

/// Connections and questions at a time.
const AT_ONCE: RangeInclusive<usize> = 1..=1_000_000;

/// Checks the values of `[serve]` that can be wrong in themselves.
///
/// # Errors
/// For the first value that is wrong, with the file or flag that it comes from.
pub fn check(loaded: &Loaded) -> Result<(), ConfigError> {
    let serve = &loaded.config.serve;
    if !has_port(&serve.addr) {
        let reason = format!("`{}` is not an address with a port", serve.addr);
        let error = wrong("addr", &reason, "write HOST:PORT, such as 127.0.0.1:8080");
        let origin = loaded.origins.get("serve.addr").cloned();
        return Err(ConfigError { file: origin.unwrap_or_else(|| error.file.clone()), ..error });
    }
    check_values(serve).map_err(|error| ConfigError { file: loaded.config.file.clone(), ..error })
}

/// Whether an address has the form HOST:PORT; an IPv6 host stands in brackets.
fn has_port(addr: &str) -> bool {
    addr.rsplit_once(':').is_some_and(|(host, port)| {
        let is_bracketed = host.starts_with('[') && host.ends_with(']');
        !host.is_empty() && (is_bracketed || !host.contains(':')) && port.parse::<u16>().is_ok()
    })
}

fn check_values(serve: &ServeConfig) -> Result<(), ConfigError> {
    for (key, value) in
        [("header_seconds", serve.header_seconds), ("drain_seconds", serve.drain_seconds)]
    {
        if !(value.is_finite() && value > 0.0 && value < 1e6) {
            return Err(wrong(key, "it must be greater than 0", "give a time in seconds"));
        }
    }
    for (key, value) in
        [("connections", serve.connections), ("concurrent_asks", serve.concurrent_asks)]
    {
        if !AT_ONCE.contains(&value) {
            let reason = format!("it must be from {} to {}", AT_ONCE.start(), AT_ONCE.end());
            return Err(wrong(key, &reason, "give a number"));
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
    use std::collections::BTreeMap;

    use halma_engine::Config;

    use super::*;

    #[test]
    fn times_and_numbers_have_bounds() {
        check_values(&ServeConfig::default()).unwrap();
        for open_workspaces in [0, 901] {
            let error = check_values(&ServeConfig { open_workspaces, ..ServeConfig::default() });
            assert_eq!(error.unwrap_err().key, "serve.open_workspaces");
        }
        for connections in [0, usize::MAX] {
            let error = check_values(&ServeConfig { connections, ..ServeConfig::default() });
            assert_eq!(error.unwrap_err().key, "serve.connections");
        }
        for concurrent_asks in [0, usize::MAX] {
            let error = check_values(&ServeConfig { concurrent_asks, ..ServeConfig::default() });
            assert_eq!(error.unwrap_err().key, "serve.concurrent_asks");
        }
        for drain_seconds in [0.0, f64::NAN, 1e9] {
            let error = check_values(&ServeConfig { drain_seconds, ..ServeConfig::default() });
            assert_eq!(error.unwrap_err().key, "serve.drain_seconds");
        }
    }

    #[test]
    fn an_address_without_a_port_says_how_to_write_it() {
        for addr in ["127.0.0.1:0", "localhost:8765", "[::1]:80", "0.0.0.0:65535"] {
            assert!(has_port(addr), "{addr}");
        }
        for addr in ["127.0.0.1", "localhost", ":80", "::1", "host:", "host:65536", "[::1]", ""] {
            assert!(!has_port(addr), "{addr}");
        }
        let mut config = Config { file: "other.toml".into(), ..Config::default() };
        config.serve.drain_seconds = 0.0;
        let loaded = Loaded { config: config.clone(), origins: BTreeMap::new(), file: None };
        let error = check(&loaded).unwrap_err();
        assert_eq!(
            (error.file.as_str(), error.key.as_str()),
            ("other.toml", "serve.drain_seconds")
        );
        config.serve.addr = "127.0.0.1".into();
        let origins = BTreeMap::from([("serve.addr".to_owned(), "--addr".to_owned())]);
        let error = check(&Loaded { config, origins, file: None }).unwrap_err();
        assert_eq!((error.file.as_str(), error.key.as_str()), ("--addr", "serve.addr"));
        assert!(error.hint.contains("HOST:PORT"), "{}", error.hint);
    }
}
