//! The reference page of the data sets is made from their list.
use std::path::PathBuf;

use halma_eval::{Format, reference};

#[test]
fn the_reference_page_is_current() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/data-sets.md");
    let page = reference();
    if std::env::var_os("HALMA_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/data-sets.md is not what the list says; regenerate it with \
         HALMA_WRITE_REFERENCE=1 cargo test -p halma-eval --test all reference"
    );
}

#[test]
fn the_page_lists_every_format() {
    let page = reference();
    for format in Format::all() {
        assert!(page.contains(&format!("| `{format}` | {} |", format.title())), "{format}");
    }
}
