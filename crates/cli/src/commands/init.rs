//! `halma init`: writes a commented configuration.
use anyhow::Context as _;
use halma_core::ConfigError;

use crate::args::Init;
use crate::view;

const TEMPLATE: &str = include_str!("../halma.toml");

pub(crate) fn run(args: &Init) -> anyhow::Result<()> {
    if args.file.exists() {
        return Err(ConfigError {
            file: args.file.display().to_string(),
            key: "init".into(),
            reason: "the file already exists".into(),
            hint: "name another file, or move this one".into(),
        }
        .into());
    }
    std::fs::write(&args.file, TEMPLATE)
        .with_context(|| format!("cannot write {}", args.file.display()))?;
    view::print(&format!(
        "Wrote {}. All settings are optional; without a model Halma works offline.",
        args.file.display()
    ))
}
