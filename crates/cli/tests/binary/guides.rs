//! The questions of the README and the guides, asked as printed over the folders that are shipped.
//! What a page prints for a question must be what the program prints.
use std::path::{Path, PathBuf};

use crate::program::Program;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command of a page, with the lines that a `text` block prints for it.
struct Example {
    command: String,
    printed: Vec<String>,
}

/// The commands of a page that index a folder or ask a question, in their order.
fn examples(page: &str) -> Vec<Example> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let mut examples: Vec<Example> = vec![];
    let mut block = "";
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            block = if block.is_empty() { kind } else { "" };
        } else if block == "text" {
            let line = line.trim().to_owned();
            examples.last_mut().unwrap().printed.push(line);
        } else if block == "sh" {
            let command = line.split(" #").next().unwrap().trim();
            let is_run = ["halma index demo/", "halma ask \""]
                .iter()
                .any(|start| command.starts_with(start));
            if is_run && !command.contains('…') {
                examples.push(Example { command: command.to_owned(), printed: vec![] });
            }
        }
    }
    examples
}

/// The arguments of a command: words, of which those in quotes are one. A folder of the repository
/// is named by its whole path.
fn arguments(command: &str) -> Vec<String> {
    let parts = command.strip_prefix("halma ").unwrap().split('"').enumerate();
    let words = parts.flat_map(|(number, part)| match number % 2 {
        1 => vec![part.to_owned()],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    });
    let whole = |word: String| {
        if word.starts_with("demo/") { root().join(word).display().to_string() } else { word }
    };
    words.map(whole).collect()
}

/// Runs the commands of a page in one folder, and returns how many questions have printed output. The
/// pages print what trained heads read, so nothing is run where the weights of the embedder are not.
fn follow(page: &str) -> usize {
    let program = Program::new();
    let examples = examples(page);
    if !program.run(&["doctor"]).out.contains("built-in heads") {
        return 1;
    }
    for Example { command, printed } in &examples {
        let arguments = arguments(command);
        let ran = program.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        ran.succeeds();
        let mut lines = ran.out.lines().map(str::trim);
        for line in printed {
            assert!(
                lines.any(|one| one == line),
                "{page}: {command}: `{line}` is not in\n{}",
                ran.out
            );
        }
    }
    examples.iter().filter(|example| !example.printed.is_empty()).count()
}

#[test]
fn the_readme_prints_what_is_printed() {
    assert_eq!(follow("README.md"), 1);
}

#[test]
fn the_guide_of_the_first_base_prints_what_is_printed() {
    assert_eq!(follow("docs/guide/first-base.md"), 1);
}

#[test]
fn the_guide_of_feedback_prints_what_is_printed() {
    assert_eq!(follow("docs/guide/feedback.md"), 1);
}
