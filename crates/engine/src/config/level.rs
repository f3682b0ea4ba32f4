//! `kb.level`: a base is made for one of the levels of PIKE-RAG (Sections 3.3 and 4.2, Table 2), each
//! of which adds to the one below what its questions need ("phased system development"). A level is
//! a set of defaults: keys that are written down, or given by a flag, win.
use std::collections::BTreeMap;

use halma_core::ConfigError;
use toml::{Table, Value};

const LEVEL: &str = "kb.level";
const HIGHEST: i64 = 4;

/// What is switched on from a level on, below `[kb]`: a later line of the same key replaces an
/// earlier one.
///
/// 0: the files are read, with tables and figures, and cut into chunks; names need no model.
/// 1: chunks where the subject changes, with their summaries (Figure 5), atoms, tags (Figure 7) and
/// summaries of sections and documents, so that every granularity is searched (Figure 8).
/// 2: entities, facts and the relations between them, for what links several passages.
/// 3: rows with vectors and facts, of which series are made; tables that are asked for are named by
/// `tables_of`, because only the user knows them.
/// 4: communities, for what speaks of everything.
const PROFILE: &[(i64, &str, Setting)] = &[
    (0, "atoms", Setting::Word("none")),
    (0, "chunks", Setting::Word("structure")),
    (0, "entities", Setting::Word("names")),
    (0, "tags", Setting::Switch(false)),
    (0, "summaries", Setting::Switch(false)),
    (0, "communities", Setting::Switch(false)),
    (1, "atoms", Setting::Word("questions")),
    (1, "chunks", Setting::Word("model")),
    (1, "tags", Setting::Switch(true)),
    (1, "summaries", Setting::Switch(true)),
    (2, "entities", Setting::Word("model")),
    (4, "communities", Setting::Switch(true)),
];

/// Vectors that a level needs; those of the levels above are not made.
const VECTORS: &[(i64, &str)] =
    &[(1, "atom"), (1, "tag"), (2, "entity"), (2, "fact"), (3, "row"), (4, "community")];

#[derive(Clone, Copy)]
enum Setting {
    Word(&'static str),
    Switch(bool),
}

impl Setting {
    fn value(self) -> Value {
        match self {
            Self::Word(word) => Value::String(word.to_owned()),
            Self::Switch(on) => Value::Boolean(on),
        }
    }
}

/// Gives the keys that are not set the values of the level, with the level as their origin.
pub(super) fn apply(
    table: &mut Table,
    origins: &mut BTreeMap<String, String>,
) -> Result<(), ConfigError> {
    let Some(level) = table.get("kb").and_then(|kb| kb.get("level")) else { return Ok(()) };
    let level = level.as_integer().filter(|level| (0..=HIGHEST).contains(level));
    let origin = origins.get(LEVEL).cloned().unwrap_or_default();
    let level = level.ok_or_else(|| ConfigError {
        file: origin.clone(),
        key: LEVEL.into(),
        reason: format!("it is not a whole number from 0 to {HIGHEST}"),
        hint: "docs/guide/documents.md describes what each level makes".into(),
    })?;
    let origin = format!("{LEVEL} = {level} ({origin})");
    let mut defaults: BTreeMap<Vec<&str>, Value> = BTreeMap::new();
    for (_, key, setting) in PROFILE.iter().filter(|(from, ..)| *from <= level) {
        defaults.insert(vec!["kb", key], setting.value());
    }
    for (from, layer) in VECTORS {
        defaults.insert(vec!["kb", "vectors", layer], Value::Boolean(level >= *from));
    }
    defaults.insert(vec!["strategy", "auto", "highest"], Value::Integer(level));
    for (path, value) in defaults {
        if !is_set(table, &path) {
            super::load::put(table, &path, value);
            origins.insert(path.join("."), origin.clone());
        }
    }
    Ok(())
}

fn is_set(table: &Table, path: &[&str]) -> bool {
    match path {
        [] => false,
        [key] => table.contains_key(*key),
        [key, rest @ ..] => {
            table.get(*key).and_then(Value::as_table).is_some_and(|inner| is_set(inner, rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use halma_kb::{Atoms, Chunks, Entities};

    use crate::config::load::{Loaded, flag_value, load};
    use crate::config::show::show;

    fn at(level: &str, more: &str) -> Loaded {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("halma.toml");
        std::fs::write(&file, more).unwrap();
        let flag = ("kb.level".to_owned(), flag_value(level), "--level".to_owned());
        load(Some(&file), vec![flag]).unwrap()
    }

    #[test]
    fn each_level_adds_to_the_one_below() {
        let kb = |level: &str| at(level, "").config.kb;
        let lowest = kb("0");
        assert_eq!((lowest.atoms, lowest.tags), (Atoms::None, false));
        assert!(!lowest.vectors.atom && lowest.vectors.section);
        let first = kb("1");
        assert_eq!((first.atoms, first.chunks), (Atoms::Questions, Chunks::Model));
        assert_eq!((first.tags, first.summaries, first.entities), (true, true, Entities::Names));
        assert_eq!((kb("2").entities, kb("2").communities), (Entities::Model, false));
        assert!(!kb("2").vectors.row && kb("3").vectors.row && !kb("3").communities);
        let highest = kb("4");
        assert!(highest.communities && highest.vectors.community);
    }

    #[test]
    fn what_is_written_down_wins_and_the_origin_is_told() {
        let loaded = at("2", "[kb]\nentities = \"names\"\n[strategy.auto]\nhighest = 1\n");
        assert_eq!(loaded.config.kb.entities, Entities::Names);
        let shown = show(&loaded).unwrap();
        let origin = |key: &str| {
            let value = shown.iter().find(|value| value.key == key).unwrap();
            (value.value.to_string(), value.origin.clone())
        };
        assert!(origin("kb.entities").1.ends_with("halma.toml"));
        assert!(origin("strategy.auto.highest").1.ends_with("halma.toml"));
        assert_eq!(origin("kb.tags"), ("true".into(), "kb.level = 2 (--level)".into()));
        assert_eq!(origin("kb.chunk_chars").1, "default");
        assert_eq!(at("3", "").config.strategy["auto"]["highest"].as_integer(), Some(3));
    }

    #[test]
    fn another_level_is_refused() {
        for wrong in ["5", "-1", "\"two\"", "1.5"] {
            let flag = ("kb.level".to_owned(), flag_value(wrong), "--level".to_owned());
            let error = load(Some("/dev/null".as_ref()), vec![flag]).err().unwrap();
            assert_eq!(
                (error.key.as_str(), error.file.as_str()),
                ("kb.level", "--level"),
                "{wrong}"
            );
        }
    }
}
