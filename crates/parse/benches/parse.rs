//! How fast documents are read on one core: `taskset -c 0 cargo bench -p halma-parse`. Bytes per
//! second for HTML, Markdown and sheets; pages per second for PDF.
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use halma_parse::{ParseOptions, parse};

fn read(name: &str, bytes: &[u8]) -> usize {
    let options = ParseOptions { ocr: false, seconds: 600, ..ParseOptions::default() };
    parse(name, bytes, &options).expect("the samples can be read").blocks.len()
}

fn page(sections: usize) -> String {
    let mut page = "<!doctype html><title>Fish</title><body>".to_owned();
    for section in 0..sections {
        write!(
            page,
            "<h2>Section {section}</h2><p>Sharks are <b>fish</b>, as <a href=\"f{section}.html\">everybody</a> \
             knows, and whales are not; some say so &amp; others do not.</p><ul><li>one<li>two</ul>\
             <table><tr><th>Name<th>Year</tr><tr><td>Jaws {section}<td>1975</tr></table>"
        )
        .expect("a string takes everything");
    }
    page
}

/// A document of the demo, or one of the sample documents in the folder that `HALMA_DATA` names.
fn sample(path: &str) -> Option<Vec<u8>> {
    let data = std::env::var_os("HALMA_DATA");
    let folder = match (path.starts_with("demo/"), data) {
        (true, _) => Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."),
        (false, Some(data)) => Path::new(&data).join("documents"),
        (false, None) => return None,
    };
    std::fs::read(folder.join(path)).ok()
}

fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bytes");
    group.sample_size(10);
    let html = page(10_000);
    group.throughput(Throughput::Bytes(html.len() as u64));
    group.bench_function("html, 3 MB", |bencher| {
        bencher.iter(|| read("a.html", black_box(html.as_bytes())));
    });
    if let Some(html) = sample("kreuzberg/web/international_emergency_medicine.html") {
        group.throughput(Throughput::Bytes(html.len() as u64));
        group.bench_function("html, a page of Wikipedia", |b| {
            b.iter(|| read("a.html", black_box(&html)));
        });
    }
    let markdown =
        "## Heading\n\nSome *words* and [a link](b.md).\n\n- one\n- two\n\n".repeat(30_000);
    group.throughput(Throughput::Bytes(markdown.len() as u64));
    group.bench_function("markdown, 2 MB", |b| {
        b.iter(|| read("a.md", black_box(markdown.as_bytes())));
    });
    let rows = "name,1975,some words,2.5\n".repeat(100_000);
    group.throughput(Throughput::Bytes(rows.len() as u64));
    group.bench_function("csv, 100,000 rows", |b| {
        b.iter(|| read("a.csv", black_box(rows.as_bytes())));
    });
    group.finish();
    let mut group = criterion.benchmark_group("pages");
    group.sample_size(10);
    for (name, path, pages) in [
        ("pdf, the demo's note", "demo/library/law/patent-dance.pdf", 2),
        ("pdf, a contract", "kreuzberg/pdfs/sample_contract.pdf", 10),
        (
            "pdf, an article in one column",
            "kreuzberg/pdfs/the_hideous_name_1985_pike85hideous.pdf",
            8,
        ),
        ("pdf, an article with tables", "kreuzberg/pdfs_with_tables/medium.pdf", 7),
        ("pdf, an article in two columns", "unstructured/pdf/multi-column-2p.pdf", 2),
    ] {
        let Some(bytes) = sample(path) else { continue };
        group.throughput(Throughput::Elements(pages));
        group.bench_function(name, |bencher| bencher.iter(|| read("a.pdf", black_box(&bytes))));
    }
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
