//! Chores of the repository. `cargo run -p xtask -- tidy` checks what the compiler cannot: the
//! floors, the prompt files, the lengths of files, the documents. It runs as an ordinary test too.
mod budget;
mod cycles;
mod demo;
mod documents;
mod edges;
mod folders;
mod layers;
mod lexer;
mod lines;
mod prompts;
mod shipped;
mod tidy;
mod use_paths;
mod vocabulary;
mod world;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["tidy"] {
        return run_tidy();
    }
    say("usage: cargo run -p xtask -- tidy");
    ExitCode::from(2)
}

fn run_tidy() -> ExitCode {
    match tidy::tidy(root()) {
        Ok(violations) if violations.is_empty() => ExitCode::SUCCESS,
        Ok(violations) => {
            for violation in &violations {
                say(&violation.to_string());
            }
            say(&format!("tidy: {} violations", violations.len()));
            ExitCode::FAILURE
        }
        Err(error) => {
            say(&format!("tidy: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository, one above this crate.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate lies in the repository")
}

fn say(line: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(std::io::stderr(), "{line}");
}
