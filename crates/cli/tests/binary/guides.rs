//! The commands of the README and the guides, run as printed over the folders that are shipped.
//!
//! A block `sh` is run by a shell, and must print the lines of a `text` block that follows it, in
//! their order. A block that needs a model, a server or the network says so: `sh,no-run`.
use std::path::{Path, PathBuf};

use crate::program::Program;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Commands of a page, with the lines that are shown for them.
struct Example {
    place: String,
    commands: String,
    shown: Vec<String>,
}

/// The README and the pages of the folders whose commands are run.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    for folder in ["docs/start", "docs/guide"] {
        let files = std::fs::read_dir(root().join(folder)).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        pages.extend(names.map(|name| format!("{folder}/{name}")));
    }
    pages.sort();
    pages
}

/// The blocks of a page that are run, in their order.
fn examples(page: &str) -> Vec<Example> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let mut examples: Vec<Example> = vec![];
    let (mut block, mut before) = (None, "");
    for (line, number) in text.lines().zip(1..) {
        match (line.strip_prefix("```"), block) {
            (Some(_), Some(kind)) => (block, before) = (None, kind),
            (Some(kind), None) => {
                let place = format!("{page}:{number}");
                let name = kind.split(',').next().unwrap();
                assert!(
                    kind == "sh" || kind.ends_with(",no-run") || !is_shell(name),
                    "{place}: a block `{kind}` is `sh`, and is run, or says `{name},no-run`"
                );
                if kind == "sh" {
                    examples.push(Example { place, commands: String::new(), shown: vec![] });
                }
                block = Some(kind);
            }
            (None, Some("sh")) => {
                examples.last_mut().unwrap().commands.extend([line, "\n"]);
            }
            (None, Some("text")) if before == "sh" => {
                examples.last_mut().unwrap().shown.push(line.trim().to_owned());
            }
            (None, _) => {}
        }
    }
    examples
}

fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "console")
}

/// Runs the commands of a page in a folder of its own, and returns how many lines are shown. Guides
/// start from the base of the first one.
fn follow(page: &str) -> usize {
    let program = Program::new();
    std::os::unix::fs::symlink(root().join("demo"), program.path("demo")).unwrap();
    if page != "README.md" {
        program.run(&["index", "demo/everyday/documents"]).succeeds();
    }
    let mut lines = 0;
    for Example { place, commands, shown } in examples(page) {
        let ran = program.run_shell(&commands);
        assert_eq!(ran.code, 0, "{place}:\n{commands}{}", ran.err);
        let mut printed = ran.out.lines().map(str::trim);
        for line in &shown {
            assert!(
                printed.any(|one| one == line),
                "{place}: `{line}` is not, or not there, in\n{}",
                ran.out
            );
        }
        lines += shown.len();
    }
    lines
}

/// The pages show what trained heads read, so nothing is run where the weights of the embedder are
/// not.
#[test]
fn the_pages_print_what_they_show() {
    let all = pages();
    let blocks: usize = all.iter().map(|page| examples(page).len()).sum();
    assert!(blocks > 20, "{blocks} blocks are run");
    if Program::new().run(&["doctor"]).out.contains("built-in heads") {
        let lines: usize = all.iter().map(|page| follow(page)).sum();
        assert!(lines > 20, "{lines} lines are shown");
    }
}
