//! JSON as models write it when they are careless.
use serde_json::{Map, Number, Value};

/// How deep a reply may nest before it is refused.
const MAX_DEPTH: usize = 64;

/// Reads JSON with single or curly quotes, bare keys, trailing commas, Python literals, comments
/// and raw newlines in strings. `None` if even so it is not a complete value.
pub(crate) fn parse_loose(text: &str) -> Option<Value> {
    let mut reader = LooseReader { rest: text };
    let value = reader.value(0)?;
    reader.skip();
    reader.rest.is_empty().then_some(value)
}

struct LooseReader<'a> {
    rest: &'a str,
}

impl LooseReader<'_> {
    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let comment = self.rest.starts_with("//") || self.rest.starts_with('#');
            if !comment {
                return;
            }
            self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip();
        match self.rest.chars().next()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            quote @ ('"' | '\'' | '“' | '‘') => self.string(quote).map(Value::String),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.eat('{');
        let mut fields = Map::new();
        while !self.eat('}') {
            self.skip();
            let key = match self.rest.chars().next()? {
                quote @ ('"' | '\'' | '“' | '‘') => self.string(quote)?,
                _ => self.bare()?.to_owned(),
            };
            if !self.eat(':') {
                return None;
            }
            let value = self.value(depth + 1)?;
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
            items.push(self.value(depth + 1)?);
            if !self.eat(',') && !self.rest.starts_with(']') {
                return None;
            }
        }
        Some(Value::Array(items))
    }

    fn string(&mut self, quote: char) -> Option<String> {
        let close = match quote {
            '“' => '”',
            '‘' => '’',
            quote => quote,
        };
        let mut out = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            match c {
                '\\' => match chars.next()?.1 {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    'b' | 'f' => out.push(' '),
                    'u' => {
                        let code: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&code, 16).ok()?;
                        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    other => out.push(other),
                },
                c if c == close => {
                    self.rest = &self.rest[i + c.len_utf8()..];
                    return Some(out);
                }
                c => out.push(c),
            }
        }
        None
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
