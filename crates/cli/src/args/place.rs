//! Where the knowledge base of a command is.
use std::path::{Path, PathBuf};

use halma_core::ConfigError;
use halma_engine::{Config, EngineError, Place};

/// The base where neither `--kb` nor the configuration names one.
pub(crate) const USUAL: &str = ".halma";

/// Where the knowledge base is.
#[derive(clap::Args)]
pub(crate) struct KbDir {
    #[arg(
        long,
        value_name = "DIR",
        help = "Folder of the knowledge base, or postgres://USER@HOST/DB?workspace=NAME&keys=DIR \
                [default: kb.url of the configuration, `.halma`]"
    )]
    kb: Option<PathBuf>,
}

impl KbDir {
    /// What `--kb` says, otherwise what the configuration says, otherwise `.halma`.
    pub(crate) fn chosen(&self, config: &Config) -> PathBuf {
        self.given().map_or_else(|| configured(config).unwrap_or_else(|| USUAL.into()), Into::into)
    }

    /// What `--kb` says.
    pub(crate) fn given(&self) -> Option<&Path> {
        self.kb.as_deref()
    }

    /// As it is shown in messages and in commands to run next, without a password.
    pub(crate) fn shown(&self, config: &Config) -> Result<String, EngineError> {
        shown(&self.chosen(config))
    }

    /// The folder; refuses an address for what only concerns folders.
    pub(crate) fn only_folder(
        &self,
        config: &Config,
        command: &str,
        hint: &str,
    ) -> Result<PathBuf, ConfigError> {
        let kb = self.chosen(config);
        if !kb.to_str().is_some_and(|text| text.contains("://")) {
            return Ok(kb);
        }
        let origin = if self.kb.is_some() { "--kb" } else { "kb.url" };
        Err(ConfigError {
            file: origin.into(),
            key: command.into(),
            reason: "it works on folders, and this is the address of a shared base".into(),
            hint: hint.into(),
        })
    }
}

/// The base that the configuration names.
pub(crate) fn configured(config: &Config) -> Option<PathBuf> {
    config.kb.url.as_ref().map(|url| PathBuf::from(url.as_str()))
}

/// A base as it is shown in messages, without a password.
pub(crate) fn shown(kb: &Path) -> Result<String, EngineError> {
    let place = Place::new(kb)?;
    let address = place.address().map(ToString::to_string);
    Ok(address.unwrap_or_else(|| kb.display().to_string()))
}
