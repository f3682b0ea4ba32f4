//! Rust's comments and texts, so that checks see code alone.

/// Where a character stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Code,
    LineComment,
    /// How many comments are open.
    BlockComment(usize),
    Text,
    /// With the number of `#` that close it.
    RawText(usize),
}

/// The text with blanks in the place of comments and quotation marks in that of texts. Lines stay
/// where they are; one that a text continues behind a backslash ends with `\r`.
pub(crate) fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut place = Place::Code;
    let mut code = String::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if place == Place::LineComment && rest[0] == b'\n' {
            place = Place::Code;
        }
        let (next, step) = after(place, rest);
        for byte in &rest[..step] {
            let is_comment = |place| matches!(place, Place::LineComment | Place::BlockComment(_));
            code.push(match byte {
                b'\n' if step == 2 => '\r',
                b'\n' => '\n',
                _ if is_comment(place) || is_comment(next) || byte.is_ascii_whitespace() => ' ',
                _ if place == Place::Code && next == Place::Code => char::from(*byte),
                _ => '"',
            });
        }
        place = next;
        at += step;
    }
    code
}

/// Where the next character stands, and how far it is.
fn after(place: Place, rest: &[u8]) -> (Place, usize) {
    match place {
        Place::Code if rest.starts_with(b"//") => (Place::LineComment, 2),
        Place::Code if rest.starts_with(b"/*") => (Place::BlockComment(1), 2),
        Place::BlockComment(1) if rest.starts_with(b"*/") => (Place::Code, 2),
        Place::BlockComment(open) if rest.starts_with(b"*/") => (Place::BlockComment(open - 1), 2),
        Place::BlockComment(open) if rest.starts_with(b"/*") => (Place::BlockComment(open + 1), 2),
        Place::LineComment | Place::BlockComment(_) => (place, 1),
        Place::Text if rest[0] == b'\\' => (Place::Text, 2.min(rest.len())),
        Place::Text if rest[0] == b'"' => (Place::Code, 1),
        Place::RawText(marks) if rest[0] == b'"' => {
            let closed = rest[1..].iter().take_while(|byte| **byte == b'#').count() >= marks;
            if closed { (Place::Code, 1 + marks) } else { (place, 1) }
        }
        Place::Code if rest.starts_with(b"r\"") || rest.starts_with(b"r#") => {
            let marks = rest[1..].iter().take_while(|byte| **byte == b'#').count();
            match rest.get(1 + marks) {
                Some(b'"') => (Place::RawText(marks), 2 + marks),
                _ => (Place::Code, 1),
            }
        }
        // A quotation mark as a character is none.
        Place::Code if rest.starts_with(b"'\"'") => (Place::Code, 3),
        Place::Code if rest.starts_with(b"'\\\"'") => (Place::Code, 4),
        Place::Code if rest[0] == b'"' => (Place::Text, 1),
        place => (place, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_blank_and_texts_are_quotation_marks() {
        let text = "fn a() { // why\n    /* one\n /* two */ */ b(\"x y\");\n}\n";
        assert_eq!(
            code(text).lines().map(str::trim).collect::<Vec<_>>(),
            ["fn a() {", "", "b(\"\" \"\");", "}"]
        );
        let texts =
            "let a = \"// no\n// comment \\\" \";\nlet b = r#\"/* \"\n// c\n\"#;\n'\"'\n// d\n";
        let is_code = |line: &&str| !line.trim().is_empty();
        assert_eq!(code(texts).lines().filter(is_code).count(), 6);
    }
}
