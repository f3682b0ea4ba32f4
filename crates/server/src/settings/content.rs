//! What is changed over HTTP, as it is stored.
use std::collections::{BTreeMap, BTreeSet};

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// The settings that all servers of a base share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// Name of a prompt → its text.
    pub(crate) prompts: BTreeMap<String, String>,
    /// Role → name of a model.
    pub(crate) roles: BTreeMap<String, String>,
    /// Name of a workspace besides the default one → its folder, which names its replicas, its
    /// folder of keys and what it is called in the database.
    pub(crate) workspaces: BTreeMap<String, String>,
    /// Folders whose contents are being removed; none is used again meanwhile.
    pub(crate) removed: BTreeSet<String>,
    /// What a newer version of Halma stores here stays as it is.
    #[serde(flatten)]
    others: BTreeMap<String, serde_json::Value>,
}

impl Settings {
    /// Adds a workspace.
    pub(crate) fn add(&mut self, name: &str) -> Result<(), Problem> {
        if self.workspaces.contains_key(name) {
            let detail = format!("the workspace `{name}` already exists");
            return Err(Problem::new(StatusCode::CONFLICT, detail));
        }
        // A name of a workspace has no `~`.
        let mut folders = (2..).map(|number| format!("{name}~{number}"));
        let mut folder = name.to_owned();
        while self.removed.contains(&folder) {
            folder = folders.next().unwrap_or_default();
        }
        self.workspaces.insert(name.to_owned(), folder);
        Ok(())
    }

    /// Removes a workspace; its folder is returned.
    pub(crate) fn remove(&mut self, name: &str) -> Result<String, Problem> {
        let folder = self.workspaces.remove(name);
        let folder = folder.ok_or_else(|| Problem::not_found("such workspace"))?;
        self.removed.insert(folder.clone());
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_used_again_at_once_and_its_folder_when_nothing_is_left_in_it() {
        let mut settings = Settings::default();
        settings.add("law").unwrap();
        assert!(settings.add("law").is_err() && settings.remove("tax").is_err());
        assert_eq!(settings.remove("law").unwrap(), "law");
        settings.add("law").unwrap();
        assert_eq!(settings.remove("law").unwrap(), "law~2");
        settings.add("law").unwrap();
        assert_eq!(settings.workspaces["law"], "law~3");
        settings.removed.clear();
        settings.remove("law").unwrap();
        settings.add("law").unwrap();
        assert_eq!(settings.workspaces["law"], "law");
    }

    #[test]
    fn what_a_newer_version_stores_stays() {
        let text = r#"{"roles":{"reader":"m"},"themes":{"a":1}}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        let again = serde_json::to_value(&settings).unwrap();
        assert_eq!(again["themes"]["a"], 1);
        assert_eq!(again["roles"]["reader"], "m");
    }
}
