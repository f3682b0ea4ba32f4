//! What is to be indexed, checked before anything is created on disk.
use std::path::Path;

use halma_core::{ConfigError, Layer};
use halma_engine::{BasePart, Config, Engine, EngineError, KbError};

use crate::args::{Index, KbDir};
use crate::commands::setup::{is_unmade, open_chosen};

/// What to do where there are no paths.
const NAME_THEM: &str = "name the files or folders to index";

/// Refuses a misspelled path, which must not create an empty base, and options that say something of
/// files where none are named.
pub(super) fn check(args: &Index) -> Result<(), ConfigError> {
    if let Some(missing) = args.paths.iter().find(|path| !path.exists()) {
        return Err(ConfigError {
            file: missing.display().to_string(),
            key: String::new(),
            reason: "there is no such file or folder".into(),
            hint: "name existing files or folders".into(),
        });
    }
    if !args.paths.is_empty() {
        return Ok(());
    }
    let of_files = [
        ("--rebuild chunks", args.rebuild.contains(&BasePart::Chunks)),
        ("--prune", args.prune),
        ("--include", !args.include.is_empty()),
        ("--exclude", !args.exclude.is_empty()),
        ("--meta", !args.meta.is_empty()),
        ("--rehash", args.rehash),
        ("--watch", args.watch),
    ];
    match of_files.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(nothing_named(option, "it needs files or folders")),
        None => Ok(()),
    }
}

/// Opens a base that exists and holds documents, for a run without paths.
pub(super) fn open_to_resume(config: Config, kb: &KbDir) -> anyhow::Result<Engine> {
    let shown = kb.shown(&config)?;
    let none = || nothing_named(&shown, "there is no knowledge base yet");
    if is_unmade(&kb.chosen(&config))? {
        return Err(none().into());
    }
    let engine = match open_chosen(config, kb) {
        Err(error) if is_no_base(&error) => return Err(none().into()),
        opened => opened?,
    };
    if count_documents(&engine)? == 0 {
        return Err(nothing_named(&shown, "the knowledge base holds no documents").into());
    }
    Ok(engine)
}

fn nothing_named(place: &str, reason: &str) -> ConfigError {
    ConfigError {
        file: place.into(),
        key: String::new(),
        reason: reason.into(),
        hint: NAME_THEM.into(),
    }
}

/// The number of documents in the base.
pub(super) fn count_documents(engine: &Engine) -> Result<u64, KbError> {
    let sizes = engine.base().inspector().sizes()?;
    Ok(sizes.layers.get(&Layer::Document).copied().unwrap_or_default())
}

/// Whether there is no base yet.
pub(super) fn is_no_base(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(EngineError::Kb(KbError::NoBase { .. } | KbError::NoSharedBase { .. }))
    )
}

/// Refuses to leave the calls to workers for a base in a folder.
pub(super) fn no_workers(kb: &Path) -> ConfigError {
    ConfigError {
        file: "--only-workers".into(),
        key: kb.display().to_string(),
        reason: "a base in a folder has no workers".into(),
        hint: "omit the flag, or give the address of a shared base with `--kb`".into(),
    }
}
