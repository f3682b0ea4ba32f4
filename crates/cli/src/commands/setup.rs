//! From flags to a configuration and an engine, for all commands.
use std::path::{Path, PathBuf};

use halma_core::{ConfigError, FieldValue, Metadata};
use halma_engine::{Base, Config, Engine, EngineError, Flags, Loaded, Place, flag_value, load};
use toml::Value;

use crate::args::{BudgetArgs, Common, KbDir};
use crate::view;

/// Names the base where `--kb` does not, before the configuration file does.
const BASE_VARIABLE: &str = "HALMA_KB";

/// Loads the configuration and applies the common flags and those of a command.
pub(crate) fn load_config(common: &Common, mut flags: Flags) -> Result<Loaded, ConfigError> {
    if let Some(dir) = &common.prompts {
        if !dir.is_dir() {
            return Err(ConfigError {
                file: "--prompts".into(),
                key: dir.display().to_string(),
                reason: "there is no such folder".into(),
                hint: "write the built-in prompts there with `halma prompts export DIR`".into(),
            });
        }
        let dir = Value::String(dir.display().to_string());
        flags.push(("prompts_dir".into(), dir, "--prompts".into()));
    }
    if let Some(base) = std::env::var_os(BASE_VARIABLE).filter(|base| !base.is_empty()) {
        let base = Value::String(base.to_string_lossy().into_owned());
        flags.push(("kb.url".into(), base, BASE_VARIABLE.into()));
    }
    let mut loaded = load(common.config.as_deref(), flags)?;
    loaded.config.worker = this_program();
    Ok(loaded)
}

/// The address that a flag gives, or the configured one.
pub(crate) fn server_address(
    flag: Option<&String>,
    common: &Common,
) -> Result<String, ConfigError> {
    flag.map_or_else(|| Ok(load_config(common, vec![])?.config.serve.addr), |addr| Ok(addr.clone()))
}

/// This program, for its worker processes; also after its file has been replaced by a newer one.
fn this_program() -> Option<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() { Some(running.to_owned()) } else { std::env::current_exe().ok() }
}

/// Keys with these prefixes are settings of searching, not of a strategy.
const SEARCH_PREFIXES: [&str; 2] = ["kb.graph.", "kb.search."];

fn is_of_search(key: &str) -> bool {
    SEARCH_PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

/// `--set kar3.n=3` as a flag for the configuration.
pub(crate) fn set_flags(set: &[String]) -> Result<Flags, ConfigError> {
    let flag = |text: &String| {
        let (key, value) = text.split_once('=').filter(|(key, _)| key.contains('.'))?;
        let key = key.trim();
        let key = if is_of_search(key) { key.to_owned() } else { format!("strategy.{key}") };
        Some((key, flag_value(value.trim()), "--set".to_owned()))
    };
    let wrong = |text: &String| ConfigError {
        file: "--set".into(),
        key: text.clone(),
        reason: "it does not have the form STRATEGY.KEY=VALUE".into(),
        hint: "write, for example, --set kar3.n=3".into(),
    };
    let flags: Result<Flags, _> =
        set.iter().map(|text| flag(text).ok_or_else(|| wrong(text))).collect();
    let flags = flags?;
    // A misspelled strategy would otherwise be a table that is never read.
    for (key, _, _) in flags.iter().filter(|(key, _, _)| !is_of_search(key)) {
        let name = key.split('.').nth(1).unwrap_or_default();
        if !halma_engine::strategies().iter().any(|entry| entry.name == name) {
            let names: Vec<&str> = halma_engine::strategies().iter().map(|e| e.name).collect();
            return Err(ConfigError {
                file: "--set".into(),
                key: key.trim_start_matches("strategy.").into(),
                reason: format!("there is no strategy `{name}`"),
                hint: format!("use one of: {}", names.join(", ")),
            });
        }
    }
    Ok(flags)
}

/// `--meta team=legal` and the like as fields; `flag` is the option that gives them.
pub(crate) fn metadata_of(written: &[String], flag: &str) -> Result<Metadata, ConfigError> {
    let wrong = |text: &str, reason: &str| ConfigError {
        file: flag.into(),
        key: text.into(),
        reason: reason.into(),
        hint: "write, for example, team=legal, year=2024 or 'tags=[\"a\", \"b\"]'".into(),
    };
    let mut metadata = Metadata::default();
    for text in written {
        let form = || wrong(text, "it does not have the form FIELD=VALUE");
        let (name, value) = text.split_once('=').ok_or_else(form)?;
        metadata.0.insert(name.trim().to_owned(), FieldValue::parse(value.trim()));
    }
    metadata.check().map_err(|e| wrong(&e.field, e.reason))?;
    Ok(metadata)
}

/// Flags for a table below `[budget]`, such as `ask`.
pub(crate) fn budget_flags(args: &BudgetArgs, table: &str) -> Flags {
    let whole = |n: u64| Value::Integer(i64::try_from(n).unwrap_or(i64::MAX));
    let all = [
        ("calls", args.max_calls.map(whole), "--max-calls"),
        ("tokens", args.max_tokens.map(whole), "--max-tokens"),
        ("usd", args.max_usd.map(Value::Float), "--max-usd"),
        ("seconds", args.max_seconds.map(Value::Float), "--max-seconds"),
    ];
    all.into_iter()
        .filter_map(|(key, value, flag)| {
            Some((format!("budget.{table}.{key}"), value?, flag.into()))
        })
        .collect()
}

/// Opens a base, and prints the warnings of the engine.
pub(crate) fn open(config: Config, dir: &Path) -> anyhow::Result<Engine> {
    let engine = Engine::open(config, dir)?;
    warn(&engine);
    Ok(engine)
}

/// Opens the base that `--kb` or the configuration names.
pub(crate) fn open_chosen(config: Config, kb: &KbDir) -> anyhow::Result<Engine> {
    let kb = kb.chosen(&config);
    open(config, &kb)
}

/// [`open_chosen`] with the configuration of the common flags, for commands that call no server.
pub(crate) fn open_base(kb: &KbDir, common: &Common) -> anyhow::Result<Engine> {
    open_chosen(load_config(common, vec![])?.config.without_unset_keys(), kb)
}

/// Whether there is no base in a folder yet. Of an address this is not known before it is opened.
pub(crate) fn is_unmade(kb: &Path) -> Result<bool, EngineError> {
    let place = Place::new(kb)?;
    Ok(place.address().is_none() && !Base::exists(place.folder()))
}

/// Opens a base, or creates one.
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

/// Refuses to write over a file that was not asked to be replaced.
pub(crate) fn refuse_existing(file: &Path, force: bool) -> Result<(), ConfigError> {
    if force || !file.exists() {
        return Ok(());
    }
    Err(ConfigError {
        file: file.display().to_string(),
        key: "FILE".into(),
        reason: "it exists already".into(),
        hint: "give another name, or replace it with --force".into(),
    })
}
