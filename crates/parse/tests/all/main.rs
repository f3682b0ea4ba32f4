//! The crate as its callers see it.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "this is all tests, what they share included"
)]
mod amplified;
mod any_bytes;
mod bad_input;
#[path = "../../src/check.rs"]
mod check;
mod demo;
mod documents;
mod formats;
mod old;
mod old_files;
mod sheets;
mod truth;

/// As `check.rs` names it.
mod parsed {
    pub(crate) use halma_parse::{Block, BlockKind, Parsed};
}

use std::path::{Path, PathBuf};

use halma_parse::{ParseOptions, Parsed, Refusal};

/// Reads without tesseract, so that the result is the same everywhere.
fn parse(name: &str, bytes: &[u8]) -> Result<Parsed, Refusal> {
    let options = ParseOptions { ocr: false, seconds: 60, ..ParseOptions::default() };
    let parsed = halma_parse::parse(name, bytes, &options)?;
    check::check(&parsed);
    Ok(parsed)
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of `tests/files`.
fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn cells(table: &halma_parse::Table) -> Vec<String> {
    table.rows.iter().map(|row| row.cells.join("|")).collect()
}
