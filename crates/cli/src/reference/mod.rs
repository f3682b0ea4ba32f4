//! The reference pages and the commented configuration, written from the code: commands from clap,
//! keys from the configuration types and the strategies. The texts that the code does not hold are
//! in `keys.toml` and `notes.txt`.
//!
//! `HALMA_WRITE_REFERENCE=1 cargo test -p halma-cli --bin halma reference` writes the files; without
//! the variable the tests fail when a file is not up to date.
mod commands;
mod config;
mod keys;

use std::path::Path;

/// Compares a file of the repository with what it should contain, or writes it.
fn check(path: &str, expected: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("HALMA_WRITE_REFERENCE").is_some() {
        std::fs::write(&file, expected).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == expected,
        "{path} is not up to date; write it with \
         HALMA_WRITE_REFERENCE=1 cargo test -p halma-cli --bin halma reference"
    );
}

/// A text in a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
