//! `halma init`: a configuration to start from.
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
            reason: "the file is there already".into(),
            hint: "name another file, or move this one away".into(),
        }
        .into());
    }
    std::fs::write(&args.file, TEMPLATE)
        .with_context(|| format!("cannot write {}", args.file.display()))?;
    view::say(&format!(
        "Wrote {}. Everything in it is optional; without it Halma works offline.",
        args.file.display()
    ))
}
