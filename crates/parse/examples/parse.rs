//! Shows what becomes of files: `cargo run -p halma-parse --example parse -- [--text] FILE…`
use std::io::Write;
use std::time::Instant;

use halma_parse::{ParseOptions, Parsed, parse};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    for file in &files {
        let bytes = std::fs::read(file)?;
        let start = Instant::now();
        let result = parse(file, &bytes, &ParseOptions::default());
        let milliseconds = start.elapsed().as_millis();
        match result {
            Ok(parsed) => {
                writeln!(out, "{milliseconds:>6} ms  {}  {file}", summary(&parsed))?;
                for warning in &parsed.warnings {
                    writeln!(out, "           warning: {warning}")?;
                }
                if flags.iter().any(|flag| flag == "--text") {
                    writeln!(out, "{}", parsed.text)?;
                }
            }
            Err(refusal) => {
                writeln!(
                    out,
                    "{milliseconds:>6} ms  refused  {file}: {refusal}; {}",
                    refusal.hint
                )?;
            }
        }
    }
    Ok(())
}

fn summary(parsed: &Parsed) -> String {
    let shapes = parsed.tables.iter().map(|t| format!("{}x{}", t.columns.len(), t.rows.len()));
    format!(
        "{} title={:?} date={} language={} blocks={} links={} figures={} pages={} tables={:?}",
        parsed.format,
        parsed.title.as_deref().unwrap_or("-"),
        parsed.date.as_deref().unwrap_or("-"),
        parsed.language.as_deref().unwrap_or("-"),
        parsed.blocks.len(),
        parsed.links.len(),
        parsed.figures.len(),
        parsed.pages.len(),
        shapes.collect::<Vec<_>>(),
    )
}
