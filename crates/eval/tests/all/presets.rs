//! The reference page of the presets is made from their data.
use std::path::PathBuf;

use halma_eval::{preset_reference, presets};

#[test]
fn the_reference_page_is_current() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/presets.md");
    let page = preset_reference();
    if std::env::var_os("HALMA_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/presets.md is not what the presets say; regenerate it with \
         HALMA_WRITE_REFERENCE=1 cargo test -p halma-eval --test all presets"
    );
}

#[test]
fn the_page_lists_every_preset_that_is_run() {
    let page = preset_reference();
    for preset in presets().iter().filter(|preset| preset.not_run.is_none()) {
        assert!(page.contains(&format!("\n| `{}` | ", preset.name)), "{}", preset.name);
    }
}
