//! The 85 sample documents in the folder that `HALMA_DATA` names: all are read or refused with a
//! reason, and their tables come out as an independent reader counts them.
use std::path::{Path, PathBuf};
use std::time::Instant;

use halma_parse::{Parsed, Table};

use crate::parse;
use crate::truth::{self, Shape};

fn documents() -> Vec<PathBuf> {
    let data = std::env::var_os("HALMA_DATA").expect("HALMA_DATA names a folder with `documents`");
    let mut files = vec![];
    collect(&Path::new(&data).join("documents"), &mut files);
    files.sort();
    assert!(!files.is_empty(), "there are no documents in HALMA_DATA");
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

fn with_extension(extension: &str) -> Vec<(String, Vec<u8>)> {
    let all = documents().into_iter();
    let matching = all.filter(|path| path.extension().is_some_and(|ending| ending == extension));
    matching
        .map(|path| (path.to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect()
}

#[test]
#[ignore = "needs HALMA_DATA: the sample documents"]
fn every_document_is_read_or_refused_with_a_reason() {
    let mut slowest = (0, PathBuf::new());
    for path in documents() {
        let bytes = std::fs::read(&path).unwrap();
        let start = Instant::now();
        // `parse` itself gives up after its limit of time, with a refusal.
        match parse(&path.to_string_lossy(), &bytes) {
            Ok(parsed) => assert!(!parsed.text.trim().is_empty(), "{}", path.display()),
            Err(refusal) => panic!("{}: {refusal}; {}", path.display(), refusal.hint),
        }
        slowest = slowest.max((start.elapsed().as_millis(), path));
    }
    eprintln!("slowest: {slowest:?} ms");
}

/// A table of ours has the columns of the file, and its rows save those of the header.
fn agrees(ours: &Table, truth: &Shape) -> bool {
    let header = truth.rows.checked_sub(truth.titles + ours.rows.len());
    let named = ours.columns.iter().any(|name| !name.is_empty());
    ours.columns.len() == truth.columns
        && header.is_some_and(|rows| rows <= 3 && named == (rows > 0))
}

/// In the same order.
fn compare(name: &str, parsed: &Parsed, truth: &[Shape]) {
    let shapes = |t: &Table| (t.columns.len(), t.rows.len());
    let ours: Vec<_> = parsed.tables.iter().map(shapes).collect();
    assert_eq!(parsed.tables.len(), truth.len(), "{name}: {ours:?} for {truth:#?}");
    for (ours, truth) in parsed.tables.iter().zip(truth) {
        assert!(
            agrees(ours, truth),
            "{name}: {:?} for {truth:?}\n{:?}",
            shapes(ours),
            ours.columns
        );
    }
}

#[test]
#[ignore = "needs HALMA_DATA: the sample documents"]
fn tables_of_pages_come_out_as_they_are() {
    for (name, bytes) in with_extension("html") {
        let parsed = parse(&name, &bytes).unwrap();
        let truth = truth::html(&String::from_utf8_lossy(&bytes));
        // Left out are tables that arrange a page: a single cell, or tables inside and no names.
        let data = |shape: &Shape| shape.cells > 1 && shape.words && (shape.names || !shape.nested);
        compare(&name, &parsed, &truth.into_iter().filter(data).collect::<Vec<_>>());
    }
}

#[test]
#[ignore = "needs HALMA_DATA: the sample documents"]
fn tables_of_word_come_out_as_they_are() {
    for (name, bytes) in with_extension("docx") {
        let parsed = parse(&name, &bytes).unwrap();
        // Left out are frames around a table, and tables without a word.
        let data = |shape: &Shape| shape.words && !(shape.cells == 1 && shape.nested);
        compare(&name, &parsed, &truth::docx(&bytes).into_iter().filter(data).collect::<Vec<_>>());
    }
}

#[test]
#[ignore = "needs HALMA_DATA: the sample documents"]
fn sheets_come_out_as_they_are() {
    for (name, bytes) in with_extension("xlsx") {
        let parsed = parse(&name, &bytes).unwrap();
        let mut truth = truth::xlsx(&bytes);
        assert_eq!(parsed.tables.len(), truth.len(), "{name}");
        for ours in &parsed.tables {
            let place = truth.iter().position(|truth| agrees(ours, truth));
            let shape = (ours.columns.len(), ours.rows.len());
            truth
                .remove(place.unwrap_or_else(|| {
                    panic!("{name}: {shape:?} {:?} in {truth:?}", ours.columns)
                }));
        }
    }
}

#[test]
#[ignore = "needs HALMA_DATA: the sample documents"]
fn separated_values_come_out_as_they_are() {
    for (name, bytes) in with_extension("csv") {
        let parsed = parse(&name, &bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text
            .trim_start_matches('\u{feff}')
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let table = &parsed.tables[0];
        // None of these files has a line end inside quotes.
        assert_eq!(table.rows.len() + 1, lines.len(), "{name}");
        for (row, line) in table.rows.iter().zip(&lines[1..]) {
            assert_eq!(parsed.text[row.range.clone()].trim(), line.trim(), "{name}");
        }
    }
}
