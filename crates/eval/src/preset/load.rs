//! The presets that are shipped: the files of `presets/`, in the order of their names.
use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use serde::Deserialize;
use toml::{Table, Value};

use super::Preset;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/presets");

static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let mut files: Vec<_> = FILES.files().collect();
    files.sort_by_key(|file| file.path());
    files.into_iter().flat_map(read).collect()
});

/// The tables of one paper.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PaperTables {
    paper: String,
    /// Keys of every table that is run and does not have them; notes are added to its own.
    defaults: Table,
    table: Vec<Table>,
}

fn read(file: &include_dir::File<'_>) -> Vec<Preset> {
    let text = file.contents_utf8().expect("the shipped files are text");
    let refuse = |error: toml::de::Error| -> ! { panic!("{}: {error}", file.path().display()) };
    let paper: PaperTables = toml::from_str(text).unwrap_or_else(|error| refuse(error));
    let preset = |table: &Table| {
        let runs = !table.contains_key("not_run");
        let table = if runs { with_defaults(table, &paper.defaults) } else { table.clone() };
        let preset: Preset = table.try_into().unwrap_or_else(|error| refuse(error));
        Preset { paper: paper.paper.clone(), ..preset }.with_common_settings()
    };
    paper.table.iter().map(preset).collect()
}

fn with_defaults(table: &Table, defaults: &Table) -> Table {
    let mut merged = table.clone();
    for (key, value) in defaults {
        match (merged.get_mut(key), value) {
            (Some(Value::Array(notes)), Value::Array(more)) if key == "notes" => {
                notes.extend(more.iter().cloned());
            }
            (Some(_), _) => {}
            (None, value) => {
                merged.insert(key.clone(), value.clone());
            }
        }
    }
    merged
}

/// All presets, by paper and table.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}
