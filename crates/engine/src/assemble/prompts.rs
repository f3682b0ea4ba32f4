//! Prompts from the configuration.
use std::path::{Path, PathBuf};

use halma_core::{ConfigError, PromptError, Prompts};

use crate::config::{Config, key_error};
use crate::shipped_prompts;

/// The shipped prompts, replaced by the user's files of the same name.
pub(crate) fn prompts(config: &Config) -> Result<Prompts, ConfigError> {
    let mut prompts = Prompts::shipped(&shipped_prompts()).map_err(bad_prompt)?;
    let Some(dir) = &config.prompts_dir else { return Ok(prompts) };
    if !dir.is_dir() {
        let reason = format!("`{}` is not a folder", dir.display());
        let hint = "write the shipped prompts there with `halma prompts export DIR`";
        return Err(key_error("prompts_dir", reason, hint));
    }
    for (name, file) in prompt_files(dir, dir) {
        let path = file.display().to_string();
        let text = std::fs::read_to_string(&file).map_err(|e| ConfigError {
            file: path.clone(),
            key: name.clone(),
            reason: e.to_string(),
            hint: "make the file readable UTF-8, or remove it".into(),
        })?;
        prompts.replace(&name, &path, &text).map_err(bad_prompt)?;
    }
    Ok(prompts)
}

fn bad_prompt(error: PromptError) -> ConfigError {
    let file = match error.line {
        Some(line) => format!("{}:{line}", error.file),
        None => error.file,
    };
    let hint = "`halma prompts list` shows each prompt's variables, `halma prompts diff` what you \
                changed"
        .into();
    ConfigError { file, key: error.prompt, reason: error.reason, hint }
}

/// Every `.md` file below `dir` with the name of its prompt, sorted.
fn prompt_files(root: &Path, dir: &Path) -> Vec<(String, PathBuf)> {
    let mut files = vec![];
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            files.extend(prompt_files(root, &path));
        } else if path.extension().is_some_and(|ext| ext == "md") {
            let name = path.strip_prefix(root).unwrap_or(&path).with_extension("");
            let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
            files.push((parts.join("/"), path));
        }
    }
    files.sort();
    files
}

/// A file of the user's that has the name of a prompt, as it is.
pub struct PromptOverride {
    pub name: String,
    pub file: PathBuf,
    /// Not checked: it may not be a valid prompt.
    pub text: std::io::Result<String>,
}

/// The files in the folder of prompts, unchecked, in the order of their names. Empty without one.
pub fn prompt_overrides(config: &Config) -> Vec<PromptOverride> {
    let files = config.prompts_dir.iter().flat_map(|dir| prompt_files(dir, dir));
    files
        .map(|(name, file)| {
            let text = std::fs::read_to_string(&file);
            PromptOverride { name, file, text }
        })
        .collect()
}

/// How many shipped files hold worked examples of a prompt.
pub(crate) fn count_demonstrations() -> usize {
    let files = std::iter::once(halma_core::PROMPTS).chain(shipped_prompts()).flatten();
    files.filter(|file| is_demonstrations(file.name)).count()
}

/// Whether a file holds the worked examples of a prompt: `kar3/propose.demonstrations`.
pub fn is_demonstrations(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "demonstrations")
}

/// The prompts as configured, without a base.
pub fn configured_prompts(config: &Config) -> Result<Prompts, ConfigError> {
    prompts(config).map_err(|e| config.named(e))
}
