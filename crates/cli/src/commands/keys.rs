//! `halma keys`: creates, lists and revokes API keys of a server.
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use console::style;
use halma_core::ConfigError;
use halma_engine::Place;
use halma_server::{ApiKeys, Key, NewKey, has_workspace};
use serde_json::json;

use super::setup::{is_unmade, load_config};
use crate::args::{Common, KbDir, Keys, KeysCommand, KeysCreate};
use crate::view::{self, table};

const DAY: Duration = Duration::from_hours(24);

pub(crate) fn run(args: Keys, common: &Common) -> anyhow::Result<()> {
    match args.command {
        KeysCommand::Create(args) => create(args, common),
        KeysCommand::List { kb, json } => {
            let kb = chosen(&kb, common)?;
            let keys = ApiKeys::at(&Place::new(&kb)?)?.list()?;
            if keys.is_empty() {
                warn_if_unmade(&kb, "correct `--kb` if another base was meant")?;
            }
            list(&keys, json)
        }
        KeysCommand::Revoke { id, kb } => {
            keys_of(&kb, common)?.revoke(&id)?;
            view::print(&format!("Revoked {id}."))
        }
    }
}

/// Refuses a key for a workspace that the base in a folder does not have: it would open one that is
/// made later under this name. Those of a shared base are in its database.
fn check_workspace(kb: &Path, new: &NewKey) -> anyhow::Result<()> {
    let Some(name) = &new.workspace else { return Ok(()) };
    if is_unmade(kb)? || Place::new(kb)?.address().is_some() || has_workspace(kb, name) {
        return Ok(());
    }
    Err(ConfigError {
        file: "--workspace".into(),
        key: name.clone(),
        reason: format!("`{}` has no such workspace", kb.display()),
        hint: "make it first: POST /api/v1/workspaces with its name, or the page Settings".into(),
    }
    .into())
}

/// The keys of a base, which are in its folder or in its database.
fn keys_of(kb: &KbDir, common: &Common) -> anyhow::Result<ApiKeys> {
    Ok(ApiKeys::at(&Place::new(&chosen(kb, common)?)?)?)
}

/// The base, of which a key must be revocable while the configuration is broken.
fn chosen(kb: &KbDir, common: &Common) -> anyhow::Result<PathBuf> {
    match kb.given() {
        Some(kb) => Ok(kb.to_owned()),
        None => Ok(kb.chosen(&load_config(common, vec![])?.config)),
    }
}

fn create(args: KeysCreate, common: &Common) -> anyhow::Result<()> {
    let documents = args.fields.filter()?;
    let new = NewKey {
        documents: (!documents.is_empty()).then_some(documents),
        name: args.name,
        scopes: args.scope.into_iter().collect(),
        workspace: Some(args.workspace),
        expires: args.days.map(|days| (SystemTime::now() + DAY * days).into()),
        budget_per_day_usd: args.usd_per_day,
        calls_per_day: args.calls_per_day,
    };
    let kb = chosen(&args.kb, common)?;
    let keys = ApiKeys::at(&Place::new(&kb)?)?;
    if args.unless_any && keys.exists()? {
        view::note("There is a key already; none is created.");
        return Ok(());
    }
    warn_if_unmade(
        &kb,
        "the key is for one that is made there; if that is not what was meant, correct `--kb`",
    )?;
    check_workspace(&kb, &new)?;
    let (key, text) = keys.create(new)?;
    if args.json {
        let mut shown = serde_json::to_value(&key)?;
        shown["key"] = json!(text);
        return view::print_json(&shown);
    }
    view::note("Store the key now: it is not shown again.");
    view::print(&text)
}

fn warn_if_unmade(kb: &Path, advice: &str) -> anyhow::Result<()> {
    if is_unmade(kb)? {
        view::warn(&format!("there is no base in `{}` yet: {advice}", kb.display()));
    }
    Ok(())
}

fn list(keys: &[Key], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return view::print_json(&keys);
    }
    if keys.is_empty() {
        return view::print("There are no keys.");
    }
    let heads = ["id", "name", "scopes", "workspace", "expires", "daily limits", "where"];
    let mut rows = vec![heads.map(|head| style(head).bold().to_string()).to_vec()];
    for key in keys {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.name()).collect();
        let until = key.expires.map_or("never".into(), |at| at.date_naive().to_string());
        let documents = key.documents.as_ref().map(serde_json::to_string).transpose()?;
        let documents = documents.unwrap_or_default();
        let usd = key.budget_per_day_usd.map(|usd| format!("${usd}"));
        let calls = key.calls_per_day.map(|calls| format!("{} calls", view::thousands(calls)));
        let limits: Vec<String> = usd.into_iter().chain(calls).collect();
        rows.push(vec![
            key.id.clone(),
            key.name.clone(),
            scopes.join(", "),
            key.workspace.clone(),
            until,
            limits.join(", "),
            documents,
        ]);
    }
    view::print(&table(&rows))
}
