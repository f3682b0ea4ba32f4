//! The presets that are shipped: the files of `presets/`, in the order of their names.
use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use serde::Deserialize;

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
struct Paper {
    paper: String,
    table: Vec<Preset>,
}

fn read(file: &include_dir::File<'_>) -> Vec<Preset> {
    let text = file.contents_utf8().expect("the shipped files are text");
    let paper: Paper =
        toml::from_str(text).unwrap_or_else(|error| panic!("{}: {error}", file.path().display()));
    let name = paper.paper;
    paper.table.into_iter().map(|table| Preset { paper: name.clone(), ..table }).collect()
}

/// All presets, by paper and table.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}
