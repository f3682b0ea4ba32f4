//! One text field of a JSON reply, read while the reply is generated.

/// Reads the string `name` of a JSON object piece by piece. Thoughts and a code fence before the
/// object are skipped, and an escape that is cut between two pieces is completed by the next. An
/// object after prose is not read: it may be a draft in thoughts that no tag opened, and what has
/// been shown cannot always be taken back.
#[derive(Debug)]
pub struct FieldReader {
    /// The key with its quotation marks, in lower case.
    key: String,
    reply: String,
    /// The position in `reply` up to which the string has been read; `None` before its beginning.
    at: Option<usize>,
    ended: bool,
}

/// The tags between which models think.
const THOUGHTS: &[&str] = &["think", "thinking", "thought", "reasoning"];

impl FieldReader {
    pub fn new(name: &str) -> Self {
        let key = format!("\"{}\"", name.to_lowercase());
        Self { key, reply: String::new(), at: None, ended: false }
    }

    /// Takes the next piece of the reply and returns what it adds to the field.
    pub fn push(&mut self, piece: &str) -> String {
        self.reply.push_str(piece);
        if self.at.is_none() {
            self.at = self.beginning();
        }
        let mut text = String::new();
        while let Some((c, next)) = self.at.filter(|_| !self.ended).and_then(|at| self.next(at)) {
            self.at = Some(next);
            match c {
                Some(c) => text.push(c),
                None => self.ended = true,
            }
        }
        text
    }

    /// The position after the quotation mark that opens the string.
    fn beginning(&self) -> Option<usize> {
        let after_thoughts = end_of_thoughts(&self.reply)?;
        let object = after_thoughts + self.reply[after_thoughts..].find('{')?;
        let before = self.reply[after_thoughts..object].trim();
        let fence = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric()).ends_with("```");
        if !before.is_empty() && !fence {
            return None;
        }
        // Lengths in bytes must not change, so that positions stay the same.
        let lower = self.reply.to_ascii_lowercase();
        let mut from = after_thoughts;
        while let Some(found) = lower[from..].find(&self.key) {
            let after = from + found + self.key.len();
            let rest = self.reply[after..].trim_start();
            let value = rest.strip_prefix(':').map(str::trim_start);
            if let Some(inner) = value.and_then(|value| value.strip_prefix('"')) {
                return Some(self.reply.len() - inner.len());
            }
            from = after;
        }
        None
    }

    /// The character at a position of the string, `None` for its end, and the position after it. No
    /// result when the rest of an escape has not arrived yet.
    fn next(&self, at: usize) -> Option<(Option<char>, usize)> {
        let rest = &self.reply[at..];
        let first = rest.chars().next()?;
        if first == '"' {
            return Some((None, at + 1));
        }
        if first != '\\' {
            return Some((Some(first), at + first.len_utf8()));
        }
        let escaped = rest[1..].chars().next()?;
        let c = match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' | 'f' => ' ',
            'u' => return unicode(rest).map(|(c, length)| (Some(c), at + length)),
            other => other,
        };
        Some((Some(c), at + 1 + escaped.len_utf8()))
    }
}

/// The character of `\uXXXX` or of two that are a surrogate pair, and the length of the escape.
fn unicode(text: &str) -> Option<(char, usize)> {
    let unit = |from: usize| {
        let digits = text.get(from..from + 4)?;
        Some(u32::from_str_radix(digits, 16).unwrap_or(u32::from(char::REPLACEMENT_CHARACTER)))
    };
    let first = unit(2)?;
    if !(0xD800..0xDC00).contains(&first) {
        return Some((char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6));
    }
    if text.len() < 8 {
        return None;
    }
    if !text[6..].starts_with("\\u") {
        return Some((char::REPLACEMENT_CHARACTER, 6));
    }
    let second = unit(8)?;
    let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400);
    let c = low.and_then(|low| char::from_u32(0x10000 + ((first - 0xD800) << 10) + low));
    Some(c.map_or((char::REPLACEMENT_CHARACTER, 6), |c| (c, 12)))
}

/// The position after the thoughts at the head of a reply; `None` while the model still thinks.
fn end_of_thoughts(reply: &str) -> Option<usize> {
    let lower = reply.to_ascii_lowercase();
    let closed = THOUGHTS.iter().filter_map(|name| {
        let close = format!("</{name}>");
        lower.rfind(&close).map(|at| at + close.len())
    });
    if let Some(end) = closed.max() {
        return Some(end);
    }
    let trimmed = lower.trim_start();
    let Some(tag) = trimmed.strip_prefix('<') else { return Some(0) };
    for name in THOUGHTS {
        let open = format!("{name}>");
        if open.starts_with(tag) || tag.starts_with(&open) {
            return None;
        }
    }
    Some(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&str]) -> Vec<String> {
        let mut reader = FieldReader::new("answer");
        pieces.iter().map(|piece| reader.push(piece)).collect()
    }

    #[test]
    fn the_field_is_read_as_it_arrives() {
        assert_eq!(
            read(&["{\"ratio", "nale\": \"no \\\"answer\\\": x\", \"ans", "wer\" : \"A", "da.\"}"]),
            ["", "", "A", "da."]
        );
        assert_eq!(read(&["Sure:\n```json\n{\"Answer\": \"x\"", ", \"b\": \"y\"}```"]), ["x", ""]);
        assert_eq!(read(&["{\"answer\": 42}"]), [""]);
        assert_eq!(read(&["plain prose"]), [""]);
    }

    #[test]
    fn thoughts_are_skipped_with_their_drafts() {
        assert_eq!(
            read(&["<thi", "nk>{\"answer\": \"draft\"}", "</think>{\"answer\": \"A\"}"]),
            ["", "", "A"]
        );
    }

    #[test]
    fn an_object_after_prose_may_be_a_draft() {
        let draft = "Perhaps {\"answer\": \"draft\"}";
        assert_eq!(read(&[draft, "</think>\n{\"answer\": \"A\"}"]), ["", "A"]);
        assert_eq!(read(&["Here is the reply:\n{\"answer\": \"A\"}"]), [""]);
    }

    #[test]
    fn escapes_may_be_cut_anywhere() {
        let reply = r#"{"answer": "é \"q\" \\ \n \u00e9 \ud83d\ude00 \ud83d! end"}"#;
        let whole = "é \"q\" \\ \n é 😀 \u{FFFD}! end";
        for at in reply.char_indices().map(|(at, _)| at) {
            assert_eq!(read(&[&reply[..at], &reply[at..]]).concat(), whole, "cut at {at}");
        }
    }

    proptest! {
        #[test]
        fn any_text_in_any_pieces_is_read_back(text in "\\PC{0,40}", size in 1_usize..7) {
            let reply = serde_json::json!({"rationale": "r", "answer": text}).to_string();
            let mut reader = FieldReader::new("answer");
            let chars: Vec<char> = reply.chars().collect();
            let pieces = chars.chunks(size).map(|piece| piece.iter().collect::<String>());
            prop_assert_eq!(pieces.map(|piece| reader.push(&piece)).collect::<String>(), text);
        }

        #[test]
        fn nonsense_is_survived(pieces in prop::collection::vec("[\\PC\\\\\"u{}:<>answer]{0,9}", 0..9)) {
            let mut reader = FieldReader::new("answer");
            for piece in pieces {
                reader.push(&piece);
            }
        }
    }
}
