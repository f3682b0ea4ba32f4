//! Rules that a line, a length or a file name can break.
use crate::shipped::shipped;
use crate::tidy::{Source, Violation};

/// Lines of a Rust file.
const LONG: usize = 600;

const VAGUE: &[&str] = &["manager", "helper", "util", "utils", "helpers"];

/// Where machines that build have their files, and where persons have theirs.
const BUILD_PATHS: &[&str] = &["/root/", "/tmp/build/"];
const PERSONAL_PATHS: &[&str] = &["/home/", "/Users/", "C:\\Users\\"];

pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let mut violations = vec![];
    for source in sources {
        violations.extend(machine_paths(source, BUILD_PATHS));
        violations.extend(vague_name(source));
        if source.is_rust() {
            violations.extend(length(source));
            violations.extend(unfinished(source));
        } else {
            violations.extend(machine_paths(source, PERSONAL_PATHS));
        }
    }
    for source in &shipped(sources) {
        violations.extend(unwraps(source));
        // A test may need somebody's home for an example; what is shipped may not.
        violations.extend(machine_paths(source, PERSONAL_PATHS));
    }
    violations
}

fn length(source: &Source) -> Option<Violation> {
    let lines = source.text.lines().count();
    let hint = "split it by what it is about";
    (lines > LONG)
        .then(|| source.violation(LONG + 1, format!("{lines} lines, at most {LONG}"), hint))
}

/// Marks of work that is not done, as the compiler lets them through.
fn unfinished(source: &Source) -> Vec<Violation> {
    // Put together here, so that this file does not break its own rule.
    let marks = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[", "ignore")];
    let mut violations = vec![];
    // A test that takes minutes is run by a command of the Makefile, one over published files by those who
    // have them; both say so.
    let reasons = [
        concat!("make ", "soak"),
        concat!("make ", "robustness"),
        concat!("make ", "attack"),
        concat!("make ", "real-model"),
        concat!("\"needs HALMA_", "DATA: "),
    ];
    let explained = |line: &str| reasons.iter().any(|reason| line.contains(reason));
    for (index, line) in source.text.lines().enumerate().filter(|(_, line)| !explained(line)) {
        for mark in marks.iter().filter(|mark| code(line).contains(**mark)) {
            let hint = "finish the work, or leave it out and say so in the docs";
            violations.push(source.violation(index + 1, format!("`{mark}` is here"), hint));
        }
    }
    violations
}

/// `unwrap` outside tests: an error that nobody reads.
fn unwraps(source: &Source) -> Vec<Violation> {
    let call = concat!(".unwrap", "()");
    let found = source.text.lines().enumerate().filter(|(_, line)| code(line).contains(call));
    let hint = "hand the error on with `?`, or `expect(\"why it cannot be\")`";
    found.map(|(i, _)| source.violation(i + 1, format!("`{call}` outside tests"), hint)).collect()
}

fn machine_paths(source: &Source, paths: &[&str]) -> Vec<Violation> {
    if source.path == "xtask/src/lines.rs" {
        return vec![];
    }
    let mut violations = vec![];
    for (index, line) in source.text.lines().enumerate() {
        for path in paths.iter().filter(|path| stands_alone(line, path)) {
            let what = format!("`{path}…` is a path of one machine");
            let hint = "use a path relative to the repository or to the user's folders";
            violations.push(source.violation(index + 1, what, hint));
        }
    }
    violations
}

/// Whether the path begins here and is not the middle of a longer one.
fn stands_alone(line: &str, path: &str) -> bool {
    let begins = |at: usize| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"._-/$}~*".contains(c))
    };
    line.match_indices(path).any(|(at, _)| begins(at))
}

fn vague_name(source: &Source) -> Option<Violation> {
    let name = source.path.rsplit('/').next()?;
    let stem = name.split('.').next()?.to_lowercase();
    let mut words = stem.split(['_', '-']);
    let vague = words.find(|word| VAGUE.contains(word) || word.ends_with("manager"))?.to_owned();
    let hint = "name the file after the thing it holds";
    Some(source.violation(1, format!("`{vague}` in a file name says nothing"), hint))
}

/// A line without its comment.
fn code(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{said, sources};

    fn violations(path: &str, text: &str) -> Vec<String> {
        said(&check(&sources(&[(path, text)])))
    }

    #[test]
    fn a_file_has_an_end() {
        let long = "fn f() {}\n".repeat(600);
        assert!(violations("crates/kb/src/a.rs", &long).is_empty());
        let expected = ["crates/kb/src/a.rs:601: 601 lines, at most 600"];
        assert_eq!(violations("crates/kb/src/a.rs", &format!("{long}fn g() {{}}\n")), expected);
    }

    #[test]
    fn unfinished_work_is_found_and_talk_about_it_is_not() {
        let text = concat!("fn f() { todo", "!() }\n// todo", "!() is not allowed\n");
        let expected = [concat!("crates/kb/src/a.rs:1: `todo", "!(` is here")];
        assert_eq!(violations("crates/kb/src/a.rs", text), expected);
        let ignored = concat!("#[test]\n#[", "ignore = \"later\"]\nfn f() {}\n");
        assert_eq!(violations("crates/kb/tests/a.rs", ignored).len(), 1);
        let soaked = concat!("#[test]\n#[", "ignore = \"minutes; `make soak` runs it\"]\n");
        assert!(violations("crates/kb/tests/a.rs", soaked).is_empty());
        let needy = concat!("#[test]\n#[", "ignore = \"needs HALMA_", "DATA: the files\"]\n");
        assert!(violations("crates/kb/tests/a.rs", needy).is_empty());
    }

    #[test]
    fn unwrap_is_for_tests() {
        let text = concat!(
            "fn f() { g().unwrap",
            "() }\n#[cfg(test)]\nmod tests { fn f() { g().unwrap",
            "() } }\n"
        );
        let expected = [concat!("crates/kb/src/a.rs:1: `.unwrap", "()` outside tests")];
        assert_eq!(violations("crates/kb/src/a.rs", text), expected);
        assert!(violations("crates/testkit/src/a.rs", text).is_empty());
        assert!(violations("crates/kb/tests/a.rs", text).is_empty());
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        let expected = ["docs/a.md:1: `/home/…` is a path of one machine"];
        assert_eq!(violations("docs/a.md", "see `/home/ann/base`\n"), expected);
        assert!(violations("docs/a.md", "see ../home/base and $HOME/work/x\n").is_empty());
        let example = "#[cfg(test)]\nmod tests {\n    const HOME: &str = \"/home/ann\";\n}\n";
        assert!(violations("crates/kb/src/a.rs", example).is_empty());
        assert_eq!(
            violations("crates/kb/src/a.rs", "const HOME: &str = \"/home/ann\";\n").len(),
            1
        );
    }

    #[test]
    fn a_file_is_named_after_what_it_holds() {
        let expected = ["crates/kb/src/string_utils.rs:1: `utils` in a file name says nothing"];
        assert_eq!(violations("crates/kb/src/string_utils.rs", ""), expected);
        assert!(violations("crates/kb/src/utility_bills.rs", "").is_empty());
    }
}
