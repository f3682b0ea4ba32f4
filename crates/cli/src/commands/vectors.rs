//! Searches that compare vectors where there is no embedder to make them: only keywords are searched,
//! and the figures must not be taken for those of vectors.
use halma_core::{ConfigError, Mode};
use halma_engine::{EmbedderKind, Engine};

use crate::view;

/// How to get an embedder.
const HINT: &str = "`halma doctor --fetch` gets the local embedder, another one is configured under \
                    [embedder]; `bm25` searches keywords";

/// Refuses `dense` without an embedder, and warns of the modes that do without vectors. `option` is
/// where the mode was asked for.
pub(crate) fn check(engine: &Engine, mode: Mode, option: &str) -> Result<(), ConfigError> {
    if engine.embedder().is_some() {
        return Ok(());
    }
    let searches = match mode {
        Mode::Bm25 => return Ok(()),
        Mode::Dense => return Err(refused(option)),
        Mode::Hybrid => "searches keywords only",
        Mode::Graph => "searches keywords and the graph, without vectors",
    };
    // Of weights that are missing the engine has warned.
    if engine.config().embedder.kind == EmbedderKind::None {
        view::warn(&format!("there is no embedder: `{}` {searches}", mode.name()));
    }
    Ok(())
}

/// Warns of strategies that search with vectors alone, by default or by the configuration.
pub(crate) fn warn_of_strategies(engine: &Engine, labels: &[String]) {
    if engine.embedder().is_none() && !labels.is_empty() {
        view::warn(&format!(
            "there is no embedder: searches in the mode `dense` use keywords only, in {}",
            labels.join(", ")
        ));
    }
}

/// The error of `dense` without an embedder.
pub(crate) fn refused(option: &str) -> ConfigError {
    ConfigError {
        file: option.into(),
        key: Mode::Dense.name().into(),
        reason: "it compares vectors, and there is no embedder".into(),
        hint: HINT.into(),
    }
}

#[cfg(test)]
mod tests {
    use halma_engine::Config;

    use super::*;

    #[test]
    fn only_dense_is_refused_without_an_embedder() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.embedder.kind = EmbedderKind::None;
        let engine = Engine::create_or_open(config, folder.path()).unwrap();
        for mode in Mode::ALL {
            let checked = check(&engine, mode, "--mode");
            assert_eq!(checked.is_err(), mode == Mode::Dense, "{}", mode.name());
        }
        assert!(refused("--mode").to_string().contains("there is no embedder"));
    }
}
