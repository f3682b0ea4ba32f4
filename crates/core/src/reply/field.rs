//! One text field of a JSON reply, read while the reply is generated.

/// Reads the string `name` of a JSON object piece by piece. Thoughts and a code fence before the
/// object are skipped, and an escape that is cut between two pieces is completed by the next. An
/// object after prose is not read: it may be a draft in thoughts that no tag opened, and what has
/// been shown cannot always be taken back. However small the pieces are, each part of the reply is
/// looked at a fixed number of times.
#[derive(Debug)]
pub struct FieldReader {
    /// The key with its quotation marks, in lower case.
    key: String,
    reply: String,
    /// The reply in lower case; its bytes stand at the same positions.
    lower: String,
    search: Search,
    /// The position in `reply` up to which the string has been read; `None` before its beginning.
    at: Option<usize>,
    ended: bool,
}

/// What is known of a reply before the string begins.
#[derive(Debug, Clone, Copy)]
enum Search {
    /// Nothing but white space up to this position.
    Blank(usize),
    /// Thoughts, or prose that may be thoughts, until a tag closes them.
    Thoughts,
    /// The head of the reply, or what follows thoughts: a code fence at most, then the object.
    Head(usize),
    /// The object: the key is searched for from here.
    Object(usize),
}

/// The tags between which models think.
const THOUGHTS: &[&str] = &["think", "thinking", "thought", "reasoning"];

/// Bytes of the longest tag.
const LONGEST_TAG: usize = "</reasoning>".len();

/// Bytes before an object, and between a key and its value, after which there is none.
const LONGEST_GAP: usize = 256;

impl FieldReader {
    pub fn new(name: &str) -> Self {
        let key = format!("\"{}\"", name.to_lowercase());
        let (reply, lower) = (String::new(), String::new());
        Self { key, reply, lower, search: Search::Blank(0), at: None, ended: false }
    }

    /// Takes the next piece of the reply and returns what it adds to the field.
    pub fn push(&mut self, piece: &str) -> String {
        let before = self.reply.len();
        self.reply.push_str(piece);
        if self.at.is_none() {
            self.lower.push_str(&piece.to_ascii_lowercase());
            self.at = self.beginning(before);
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

    /// The position after the quotation mark that opens the string; the reply is new from `new` on.
    fn beginning(&mut self, new: usize) -> Option<usize> {
        let from = self.lower.floor_char_boundary(new.saturating_sub(LONGEST_TAG));
        if let Some(end) = end_of_thoughts(&self.lower[from..]) {
            self.search = Search::Head(from + end);
        }
        loop {
            self.search = match self.search {
                Search::Blank(at) => {
                    let rest = self.lower[at..].trim_start();
                    let at = self.lower.len() - rest.len();
                    match rest.strip_prefix('<') {
                        _ if rest.is_empty() => {
                            self.search = Search::Blank(at);
                            return None;
                        }
                        Some(tag)
                            if THOUGHTS.iter().any(|name| is_head(&format!("{name}>"), tag)) =>
                        {
                            // It may turn out to be another tag.
                            self.search = Search::Blank(at);
                            return None;
                        }
                        Some(tag) if opens_thoughts(tag) => Search::Thoughts,
                        _ => Search::Head(at),
                    }
                }
                Search::Thoughts => return None,
                Search::Head(at) => {
                    let rest = &self.reply[at..];
                    let near = &rest[..rest.floor_char_boundary(LONGEST_GAP.min(rest.len()))];
                    match near.find('{') {
                        Some(object) if is_fence(&near[..object]) => Search::Object(at + object),
                        Some(_) => Search::Thoughts,
                        None if near.len() < rest.len() => Search::Thoughts,
                        None => return None,
                    }
                }
                Search::Object(at) => match self.value(at) {
                    AfterKey::Text(at) => return Some(at),
                    AfterKey::Missing(next) => {
                        self.search = Search::Object(next);
                        return None;
                    }
                    AfterKey::Other(next) => Search::Object(next),
                },
            };
        }
    }

    /// What stands after the first key that is found from a position on.
    fn value(&self, from: usize) -> AfterKey {
        let Some(offset) = self.lower[from..].find(&self.key) else {
            // Its beginning may be there.
            let next = self.lower.len().saturating_sub(self.key.len());
            return AfterKey::Missing(from.max(self.lower.floor_char_boundary(next)));
        };
        let after = from + offset + self.key.len();
        let rest = &self.reply[after..];
        let value = rest.trim_start();
        let inner = value.strip_prefix(':').map_or(value, str::trim_start);
        if inner.len() < value.len()
            && let Some(inner) = inner.strip_prefix('"')
        {
            return AfterKey::Text(self.reply.len() - inner.len());
        }
        if inner.is_empty() && rest.len() < LONGEST_GAP {
            AfterKey::Missing(from + offset)
        } else {
            AfterKey::Other(after)
        }
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

/// What a reply has after a key.
enum AfterKey {
    /// A string, from this position on.
    Text(usize),
    /// Nothing yet: the rest has not arrived, and is looked at from this position on.
    Missing(usize),
    /// Something else: the key may come again after this position.
    Other(usize),
}

/// The position after the last tag in a text that closes thoughts.
fn end_of_thoughts(lower: &str) -> Option<usize> {
    let closed = THOUGHTS.iter().filter_map(|name| {
        let close = format!("</{name}>");
        lower.rfind(&close).map(|at| at + close.len())
    });
    closed.max()
}

/// Whether a text is the beginning of another, which it may still become.
fn is_head(whole: &str, text: &str) -> bool {
    text.len() < whole.len() && whole.starts_with(text)
}

fn opens_thoughts(tag: &str) -> bool {
    let open = |name: &&str| tag.strip_prefix(*name).is_some_and(|rest| rest.starts_with('>'));
    THOUGHTS.iter().any(open)
}

/// Whether a text before an object is a code fence, or none at all.
fn is_fence(before: &str) -> bool {
    let before = before.trim();
    before.is_empty()
        || before.trim_end_matches(|c: char| c.is_ascii_alphanumeric()).ends_with("```")
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

    #[test]
    fn a_long_reply_in_small_pieces_is_read_once() {
        for (head, piece) in
            [("", " "), ("", "{"), ("<think>", "x"), ("{", "\"answer\" "), ("prose", ".")]
        {
            let mut reader = FieldReader::new("answer");
            reader.push(head);
            for _ in 0..100_000 {
                assert_eq!(reader.push(piece), "");
            }
            reader.push("</think>");
            assert_eq!(reader.push("{\"answer\": \"A\"}"), "A", "{head}{piece}");
        }
    }

    proptest! {
        #[test]
        fn any_reply_is_read_in_pieces_as_a_whole(
            // Without a tag that closes thoughts: in pieces a draft before it may be shown.
            reply in "(<think>|\\{|\"answer\"|: ?|\"|[a \n`x]){0,12}",
            size in 1_usize..5,
        ) {
            let whole = FieldReader::new("answer").push(&reply);
            let mut reader = FieldReader::new("answer");
            let chars: Vec<char> = reply.chars().collect();
            let pieces = chars.chunks(size).map(|piece| piece.iter().collect::<String>());
            prop_assert_eq!(pieces.map(|piece| reader.push(&piece)).collect::<String>(), whole);
        }

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
