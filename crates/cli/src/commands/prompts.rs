//! `halma prompts`: lists, exports and compares prompts.
use std::path::Path;

use anyhow::Context as _;
use console::style;
use diffy::DiffOptions;
use halma_core::ConfigError;
use halma_engine::{
    PromptOverride, configured_prompts, is_demonstrations, prompt_overrides, shipped_prompts,
};

use super::setup::load_config;
use crate::args::{Common, Prompts, PromptsCommand};
use crate::view::{self, plural, table};

pub(crate) fn run(args: &Prompts, common: &Common) -> anyhow::Result<()> {
    match &args.command {
        PromptsCommand::List { json } => list(*json, common),
        PromptsCommand::Export { dir, force } => export(dir, *force),
        PromptsCommand::Diff => diff(common),
    }
}

fn list(as_json: bool, common: &Common) -> anyhow::Result<()> {
    let prompts = configured_prompts(&load_config(common, vec![])?.config)?.list();
    if as_json {
        return view::print_json(&prompts);
    }
    let mut rows =
        vec![["prompt", "task", "role", "variables", "reply", "file"].map(bold).to_vec()];
    for info in prompts {
        let reply = match info.reply_schema.as_ref().map(|s| &s["properties"]) {
            Some(fields) => fields.as_object().map_or_else(String::new, |fields| {
                fields.keys().cloned().collect::<Vec<_>>().join(", ")
            }),
            None => "text".into(),
        };
        let file = if info.overridden { info.file } else { "built-in".into() };
        rows.push(vec![info.name, info.task, info.role, info.variables.join(", "), reply, file]);
    }
    view::print(&table(&rows))
}

fn bold(word: &str) -> String {
    style(word).bold().to_string()
}

fn shipped() -> impl Iterator<Item = halma_core::PromptFile> {
    std::iter::once(halma_core::PROMPTS).chain(shipped_prompts()).flatten()
}

/// Writes every built-in prompt. A file that the user changed is overwritten with `--force` only.
fn export(dir: &Path, force: bool) -> anyhow::Result<()> {
    let (mut prompts, mut demonstrations) = (0, 0);
    for prompt in shipped() {
        let path = dir.join(format!("{}.md", prompt.name));
        let existing = std::fs::read_to_string(&path).ok();
        if existing.as_deref() == Some(prompt.text) {
            continue;
        }
        if existing.is_some() && !force {
            return Err(ConfigError {
                file: path.display().to_string(),
                key: prompt.name.into(),
                reason: "the file exists and differs from the built-in prompt".into(),
                hint: "choose another folder, or overwrite with --force".into(),
            }
            .into());
        }
        let parent = path.parent().unwrap_or(dir);
        std::fs::create_dir_all(parent)
            .with_context(|| format!("cannot create {}", parent.display()))?;
        std::fs::write(&path, prompt.text)
            .with_context(|| format!("cannot write {}", path.display()))?;
        if is_demonstrations(prompt.name) {
            demonstrations += 1;
        } else {
            prompts += 1;
        }
    }
    view::print(&format!(
        "Wrote {} and {} to {}. Use them with --prompts {} or `prompts_dir` in halma.toml.",
        plural(prompts, "prompt", "prompts"),
        plural(demonstrations, "file of demonstrations", "files of demonstrations"),
        dir.display(),
        dir.display()
    ))
}

fn diff(common: &Common) -> anyhow::Result<()> {
    let mut same = true;
    let config = load_config(common, vec![])?.config;
    for PromptOverride { name, file, text } in prompt_overrides(&config) {
        let Some(prompt) = shipped().find(|prompt| prompt.name == name) else { continue };
        let file = file.display().to_string();
        let yours = text.with_context(|| format!("cannot read {file}"))?;
        if prompt.text == yours {
            continue;
        }
        same = false;
        let diff = DiffOptions::new()
            .set_context_len(2)
            .set_original_filename(format!("built-in/{}.md", prompt.name))
            .set_modified_filename(file)
            .create_patch(prompt.text, &yours)
            .to_string();
        view::print(diff.trim_end())?;
    }
    // What cannot be used is an error after its differences, which show the mistake.
    configured_prompts(&config)?;
    if same { view::print("No prompt differs from the built-in prompts.") } else { Ok(()) }
}
