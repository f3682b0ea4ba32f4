//! The reference pages of the data sets and of the presets are made from their data.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::path::PathBuf;

use halma_eval::{Format, preset_reference, presets, reference};

fn check(name: &str, page: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("HALMA_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/{name} is not what the data say; regenerate it with \
         HALMA_WRITE_REFERENCE=1 cargo test -p halma-eval --test all reference"
    );
}

#[test]
fn the_reference_of_data_sets_is_current_and_lists_every_format() {
    let page = reference();
    check("data-sets.md", &page);
    for format in Format::all() {
        assert!(page.contains(&format!("| `{format}` | {} |", format.title())), "{format}");
    }
}

#[test]
fn the_reference_of_presets_is_current_and_lists_every_preset_that_is_run() {
    let page = preset_reference();
    check("presets.md", &page);
    for preset in presets().iter().filter(|preset| preset.not_run.is_none()) {
        assert!(page.contains(&format!("\n| `{}` | ", preset.name)), "{}", preset.name);
    }
}
