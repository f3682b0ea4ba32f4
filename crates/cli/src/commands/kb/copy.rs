//! `halma kb copy`: copies a base into a database, or out of one.
use std::path::{Path, PathBuf};

use halma_core::ConfigError;
use halma_engine::{EngineError, base_folder};

use crate::args::place::shown;
use crate::args::{Common, KbCopy};
use crate::commands::setup::{create_or_open, load_config, open};
use crate::view::{self, plural};

pub(super) fn run(args: &KbCopy, common: &Common) -> anyhow::Result<()> {
    let config = load_config(common, vec![])?.config;
    if folder_of(&args.from)? == folder_of(&args.to)? {
        return Err(same_base(&shown(&args.from)?).into());
    }
    let from = open(config.clone(), &args.from)?;
    let to = create_or_open(config, &args.to)?;
    let copied = to.base().copy_from(from.base())?;
    if args.json {
        return view::print_json(&copied);
    }
    view::print(&format!(
        "Copied {} to {}: {} with {} in {:.1} s.",
        shown(&args.from)?,
        shown(&args.to)?,
        plural(copied.documents, "document", "documents"),
        plural(copied.chunks, "chunk", "chunks"),
        copied.elapsed_ms / 1e3,
    ))
}

/// The folder of a base, or that of the replica of a shared one, by its real path if it is there.
fn folder_of(kb: &Path) -> Result<PathBuf, EngineError> {
    let folder = base_folder(kb)?;
    let real = folder.canonicalize().or_else(|_| std::path::absolute(&folder));
    Ok(real.unwrap_or(folder))
}

fn same_base(shown: &str) -> ConfigError {
    ConfigError {
        file: "kb copy".into(),
        key: shown.to_owned(),
        reason: "FROM and TO are the same base".into(),
        hint: "give another folder or address for TO".into(),
    }
}
