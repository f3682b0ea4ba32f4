//! From flags to a configuration and an engine; shared by the commands.
use std::path::Path;

use halma_core::ConfigError;
use halma_engine::{Config, Engine, Flags, Loaded, flag_value, load};
use toml::Value;

use crate::args::{BudgetArgs, Common};
use crate::view;

/// The configuration under the common flags and a command's own.
pub(crate) fn loaded(common: &Common, mut flags: Flags) -> Result<Loaded, ConfigError> {
    if let Some(dir) = &common.prompts {
        let dir = Value::String(dir.display().to_string());
        flags.push(("prompts_dir".into(), dir, "--prompts".into()));
    }
    load(common.config.as_deref(), flags)
}

/// What begins so is a setting of the base's searches, not of a strategy.
const BASE: &str = "kb.graph.";

/// `--set kar3.n=3` as a flag for the configuration.
pub(crate) fn set_flags(set: &[String]) -> Result<Flags, ConfigError> {
    let flag = |text: &String| {
        let (key, value) = text.split_once('=').filter(|(key, _)| key.contains('.'))?;
        let key = key.trim();
        let key = if key.starts_with(BASE) { key.to_owned() } else { format!("strategy.{key}") };
        Some((key, flag_value(value.trim()), "--set".to_owned()))
    };
    let wrong = |text: &String| ConfigError {
        file: "--set".into(),
        key: text.clone(),
        reason: "it is not STRATEGY.KEY=VALUE".into(),
        hint: "write for example --set kar3.n=3".into(),
    };
    let flags: Result<Flags, _> =
        set.iter().map(|text| flag(text).ok_or_else(|| wrong(text))).collect();
    let flags = flags?;
    // A misspelt strategy would otherwise be a table that nobody reads.
    for (key, _, _) in flags.iter().filter(|(key, _, _)| !key.starts_with(BASE)) {
        let name = key.split('.').nth(1).unwrap_or_default();
        if !halma_engine::strategies().iter().any(|entry| entry.name == name) {
            let known: Vec<&str> = halma_engine::strategies().iter().map(|e| e.name).collect();
            return Err(ConfigError {
                file: "--set".into(),
                key: key.trim_start_matches("strategy.").into(),
                reason: format!("there is no strategy `{name}`"),
                hint: format!("use one of: {}", known.join(", ")),
            });
        }
    }
    Ok(flags)
}

/// Budget flags for `budget.ask` or `budget.index`.
pub(crate) fn budget_flags(args: &BudgetArgs, of: &str) -> Flags {
    let whole = |n: u64| Value::Integer(i64::try_from(n).unwrap_or(i64::MAX));
    let all = [
        ("calls", args.max_calls.map(whole), "--max-calls"),
        ("tokens", args.max_tokens.map(whole), "--max-tokens"),
        ("usd", args.max_usd.map(Value::Float), "--max-usd"),
        ("seconds", args.max_seconds.map(Value::Float), "--max-seconds"),
    ];
    all.into_iter()
        .filter_map(|(key, value, flag)| Some((format!("budget.{of}.{key}"), value?, flag.into())))
        .collect()
}

/// Opens the base for questions; warnings go to the user at once.
pub(crate) fn open(config: Config, dir: &Path) -> anyhow::Result<Engine> {
    let engine = Engine::open(config, dir)?;
    warn(&engine);
    Ok(engine)
}

/// Opens the base, or makes one.
pub(crate) fn create_or_open(config: Config, dir: &Path) -> anyhow::Result<Engine> {
    let engine = Engine::create_or_open(config, dir)?;
    warn(&engine);
    Ok(engine)
}

fn warn(engine: &Engine) {
    for warning in engine.warnings() {
        view::warn(warning);
    }
}
