//! What commands say when they are stopped, find nothing or have nothing to show.
mod interrupted;

use crate::program::{Program, Ran, write_library};

const QUESTION: &str = "Who was the first king of Atlantis?";

fn indexed(flags: &[&str]) -> Program {
    let program = Program::new();
    write_library(&program);
    program.run(&[&["index", "library"], flags].concat()).succeeds();
    program
}

/// The note of a question that has no answer.
fn note(ran: &Ran) -> &str {
    ran.succeeds();
    let shown = ["No answer was found.", "Nearest passages"];
    assert!(shown.iter().any(|text| ran.out.contains(text)), "{}", ran.out);
    ran.err.trim()
}

#[test]
fn a_question_to_an_empty_base_is_noted_as_such() {
    let program = indexed(&[]);
    program.run(&["kb", "delete", "*"]).succeeds();
    let expected = "The base holds no documents; run `halma index FOLDER`.";
    assert_eq!(note(&program.run(&["ask", QUESTION])), expected);
    let json = program.run(&["ask", QUESTION, "--json"]);
    assert_eq!((json.json()["abstained"].clone(), json.err.as_str()), (true.into(), ""));
}

#[test]
fn a_question_without_an_answer_notes_the_filters_that_it_was_asked_with() {
    let program = indexed(&["--meta", "kind=note"]);
    let ask = |flags: &[&str]| program.run(&[&["ask", QUESTION], flags].concat());
    assert_eq!(note(&ask(&[])), "", "the whole base was searched");
    let unknown = ask(&["--where", "author=Tarrant"]);
    let expected = "No document has the field `author`; `halma kb meta DOCUMENT` prints the fields";
    assert!(note(&unknown).starts_with(expected), "{}", unknown.err);
    let other = ask(&["--where", "kind=letter"]);
    let expected = "Only what the filters admit was searched";
    assert!(note(&other).starts_with(expected), "{}", other.err);
}

#[test]
fn the_differences_of_prompts_are_printed_file_by_file() {
    let program = Program::new();
    let diff = || program.run(&["prompts", "diff", "--prompts", "mine"]);
    let none = "No prompt differs from the built-in prompts.\n";
    program.run(&["prompts", "export", "mine"]).succeeds();
    assert_eq!((diff().code, diff().out.as_str()), (0, none));

    let path = program.path("mine/naive/answer.md");
    let built_in = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{built_in}Answer in one word.\n")).unwrap();
    let edited = diff();
    edited.succeeds();
    let lines: Vec<&str> = edited.out.lines().collect();
    assert_eq!(lines[0], "--- built-in/naive/answer.md");
    assert!(lines[1].starts_with("+++ ") && lines[1].ends_with("answer.md"), "{}", edited.out);
    let is_change = |line: &&&str| line.starts_with(['+', '-']);
    let shown: Vec<&&str> = lines[2..].iter().filter(is_change).collect();
    assert_eq!(shown, [&"+Answer in one word."], "{}", edited.out);

    // The mistake is shown before the error that it is.
    std::fs::write(&path, format!("{built_in}{{{{ nonsense }}}}\n")).unwrap();
    let wrong = diff();
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(wrong.out.contains("+{{ nonsense }}"), "{}", wrong.out);
    assert!(wrong.err.contains("nonsense"), "{}", wrong.err);
}
