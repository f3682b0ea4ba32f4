//! JSON as models write it when they are careless.
use serde_json::{Map, Number, Value};

/// How deep a reply may nest before it is refused.
const MAX_DEPTH: usize = 64;

/// Characters that are looked at for each byte of a text, after which the first possible end of a
/// string is taken without looking further: however the quotes stand, the work grows with the length
/// of the text alone.
const STEPS_PER_BYTE: usize = 8;

/// Reads JSON with single or curly quotes, bare keys, trailing commas, Python literals, comments
/// and raw newlines in strings, and where that fails also with quotes in strings that are not
/// escaped. `None` if even so it is not a complete value.
pub(crate) fn parse_loose(text: &str) -> Option<Value> {
    [Quotes::Escaped, Quotes::Bare].into_iter().find_map(|quotes| {
        let mut reader = LooseReader::new(text, quotes);
        let value = reader.value(Place::Alone, 0)?;
        reader.skip();
        reader.rest.is_empty().then_some(value)
    })
}

/// Where a string ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// At the first quote that is not escaped.
    Escaped,
    /// At one that is followed by what may follow a string in its place.
    Bare,
}

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Alone,
    Key,
    /// In an object.
    Field,
    /// In an array.
    Item,
}

impl Place {
    /// Whether a string may end before this text. Another value after a comma must begin as one, so
    /// that a sentence that continues does not.
    fn may_end_before(self, after: &str) -> bool {
        let after = after.trim_start();
        let (close, begins): (char, &[char]) = match self {
            Self::Alone => return after.is_empty(),
            Self::Key => return after.starts_with(':'),
            Self::Field => ('}', &['}']),
            Self::Item => (']', &[']', '[', '{']),
        };
        let next = after.strip_prefix(',').map(str::trim_start);
        let continues =
            |next: &str| next.is_empty() || next.starts_with(QUOTES) || next.starts_with(begins);
        next.map_or(after.is_empty() || after.starts_with(close), continues)
    }
}

const QUOTES: [char; 4] = ['"', '\'', '“', '‘'];

struct LooseReader<'a> {
    rest: &'a str,
    quotes: Quotes,
    /// Characters of strings that were looked at.
    steps: usize,
    max_steps: usize,
}

impl<'a> LooseReader<'a> {
    fn new(text: &'a str, quotes: Quotes) -> Self {
        Self { rest: text, quotes, steps: 0, max_steps: text.len().saturating_mul(STEPS_PER_BYTE) }
    }

    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let end = match self.rest {
                rest if rest.starts_with("/*") => "*/",
                rest if rest.starts_with("//") || rest.starts_with('#') => "\n",
                _ => return,
            };
            self.rest = self.rest.split_once(end).map_or("", |(_, rest)| rest);
        }
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, place: Place, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip();
        match self.rest.chars().next()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            quote if QUOTES.contains(&quote) => self.string(quote, place).map(Value::String),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.eat('{');
        let mut fields = Map::new();
        while !self.eat('}') {
            self.skip();
            let key = match self.rest.chars().next()? {
                quote if QUOTES.contains(&quote) => self.string(quote, Place::Key)?,
                _ => self.bare()?.to_owned(),
            };
            if !self.eat(':') {
                return None;
            }
            let value = self.value(Place::Field, depth + 1)?;
            fields.insert(key, value);
            if !self.eat(',') && !self.rest.starts_with(['}', '"']) {
                return None;
            }
        }
        Some(Value::Object(fields))
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.eat('[');
        let mut items = vec![];
        while !self.eat(']') {
            items.push(self.value(Place::Item, depth + 1)?);
            if !self.eat(',') && !self.rest.starts_with(']') {
                return None;
            }
        }
        Some(Value::Array(items))
    }

    fn string(&mut self, quote: char, place: Place) -> Option<String> {
        let close = match quote {
            '“' => '”',
            '‘' => '’',
            quote => quote,
        };
        let inside = &self.rest[quote.len_utf8()..];
        let end = match self.quotes {
            Quotes::Escaped => self.first_quote(inside, close)?,
            Quotes::Bare => self.likely_end(inside, close, place)?,
        };
        self.rest = &inside[end + close.len_utf8()..];
        unescaped(&inside[..end])
    }

    fn first_quote(&mut self, inside: &str, close: char) -> Option<usize> {
        let mut characters = inside.char_indices();
        while let Some((at, c)) = characters.next() {
            self.steps += 1;
            match c {
                '\\' => drop(characters.next()?),
                c if c == close => return Some(at),
                _ => {}
            }
        }
        None
    }

    /// The first quote before which no bracket is left open and after which the string may end; if
    /// its line has none, the first after which the string may end.
    fn likely_end(&mut self, inside: &str, close: char, place: Place) -> Option<usize> {
        let (mut open, mut first) = (0_usize, None);
        let mut characters = inside.char_indices();
        while let Some((at, c)) = characters.next() {
            self.steps += 1;
            if first.is_some() && (self.steps > self.max_steps || c == '\n') {
                break;
            }
            match c {
                '\\' => drop(characters.next()),
                '(' | '[' => open += 1,
                ')' | ']' => open = open.saturating_sub(1),
                c if c == close && place.may_end_before(&inside[at + c.len_utf8()..]) => {
                    if open == 0 {
                        return Some(at);
                    }
                    first = first.or(Some(at));
                }
                _ => {}
            }
        }
        first
    }

    fn bare(&mut self) -> Option<&str> {
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || "_-+.".contains(c)))?;
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn word(&mut self) -> Option<Value> {
        match self.bare()? {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            "null" | "None" => Some(Value::Null),
            number => match number.parse::<i64>() {
                Ok(whole) => Some(Value::Number(whole.into())),
                Err(_) => Number::from_f64(number.parse().ok()?).map(Value::Number),
            },
        }
    }
}

/// The text of a string as it is written between its quotes.
fn unescaped(written: &str) -> Option<String> {
    let mut out = String::with_capacity(written.len());
    let mut characters = written.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match characters.next()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' | 'f' => out.push(' '),
            'u' => {
                let code: String = characters.by_ref().take(4).collect();
                let code = u32::from_str_radix(&code, 16).ok()?;
                out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            other => out.push(other),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn quotes_that_are_not_escaped_end_no_string() {
        let read = |text: &str| parse_loose(text).unwrap_or_default();
        assert_eq!(
            read(r#"{"call": "Search("Olm", "song (1999)")", "why": "It is "the" one."}"#),
            json!({"call": r#"Search("Olm", "song (1999)")"#, "why": r#"It is "the" one."#})
        );
        assert_eq!(
            read(r#"{"Who wrote "Olm", the song?": ["1. Is "Olm", a song?", "2. [1]?"]}"#),
            json!({r#"Who wrote "Olm", the song?"#: [r#"1. Is "Olm", a song?"#, "2. [1]?"]})
        );
        // A bracket that nothing closes.
        assert_eq!(read(r#"{"a": "one ("x"", "b": "2"}"#), json!({"a": "one (\"x\"", "b": "2"}));
        assert_eq!(read(r#"{"a": ["x (1", "y"], "b": "z "q" z"}"#)["a"], json!(["x (1", "y"]));
        assert_eq!(read("{'a': 'it's so', 'b': 'x'}"), json!({"a": "it's so", "b": "x"}));
        for cut in [r#"{"a": "x"#, r#"{"a": "one "two" three}"#, r#"{"a" "b"}"#] {
            assert_eq!(parse_loose(cut), None, "{cut}");
        }
    }

    /// Characters of strings that both ways of reading look at.
    fn steps(text: &str) -> usize {
        let both = [Quotes::Escaped, Quotes::Bare].map(|quotes| {
            let mut reader = LooseReader::new(text, quotes);
            let _ = reader.value(Place::Alone, 0);
            reader.steps
        });
        both.into_iter().sum()
    }

    #[test]
    fn work_grows_with_the_length_alone() {
        for piece in ["\"(\", ", "\"(\"(\",", "\"[\"a\": ", "('a', ", "\"(\" , \"", "“(”, "] {
            let long = format!("[{}", piece.repeat(20_000));
            assert!(steps(&long) <= (STEPS_PER_BYTE + 3) * long.len(), "{piece}");
        }
    }

    proptest! {
        #[test]
        fn any_text_takes_work_by_its_length(
            piece in "[\\[\\]{}(\"',: a\\\\\n“”]{1,12}",
            times in 1_usize..400,
            opening in "[\\[{\"]{0,3}",
        ) {
            let text = format!("{opening}{}", piece.repeat(times));
            prop_assert!(steps(&text) <= (STEPS_PER_BYTE + 3) * text.len());
        }
    }
}
