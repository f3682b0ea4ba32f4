//! Names of originals, which clients send: none of them leads out of the folder.
use std::path::{Component, Path};

use halma_kb::is_metadata_file;

/// The most characters of a name, and the most bytes of one part of it.
const MAX_NAME_CHARS: usize = 1_000;
const MAX_PART_BYTES: usize = 200;

/// A name as it is used below a folder, with `/`; the error says what is wrong with it.
pub fn safe_name(name: &str) -> Result<String, &'static str> {
    let name = name.replace('\\', "/");
    let parts: Vec<&str> = name.split('/').collect();
    if name.chars().count() > MAX_NAME_CHARS || parts.iter().any(|part| part.len() > MAX_PART_BYTES)
    {
        return Err("the name is too long");
    }
    if name.chars().any(|c| c.is_control() || is_direction_mark(c)) {
        return Err("the name holds invisible characters");
    }
    if parts.iter().any(|part| part.trim().is_empty()) {
        return Err("a part of the name is empty");
    }
    if parts.iter().any(|part| part.starts_with('.')) {
        return Err("a part of the name begins with a dot");
    }
    if is_metadata_file(&name) {
        return Err("files that end with `.meta.json` hold the fields of others");
    }
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !Path::new(&name).components().all(plain) || name.contains(':') {
        return Err("the name is not a path below a folder");
    }
    Ok(name)
}

/// Marks that change the direction of writing, which make a name look like a different one.
fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let long = "x".repeat(300);
        for wrong in [
            "",
            ".",
            "..",
            "../a",
            "a/../b",
            "/etc/passwd",
            "\\\\host\\a",
            "a//b",
            "a/",
            ".ssh/a",
            "C:\\a",
            "a\0b",
            "a\nb",
            "a\u{202e}fdp.exe",
            " ",
            &long,
        ] {
            assert!(safe_name(wrong).is_err(), "{wrong:?}");
        }
        for right in ["a.md", "a b/ü.pdf", "x/y/z.txt", "<script>.md", "a..b"] {
            assert_eq!(safe_name(right).unwrap(), right);
        }
        assert_eq!(safe_name("x\\y.md").unwrap(), "x/y.md");
    }
}
