//! JSON as models write it when they are careless: quotes within strings, missing commas and
//! brackets, calls without quotes, a text that breaks off.
use super::call;
use super::json::{Entries, Json};

/// How deep objects and lists may nest; deeper ones say nothing.
const MAX_DEPTH: usize = 32;

/// What was read of an object.
pub(super) struct Read {
    pub(super) entries: Entries,
    /// In bytes.
    pub(super) length: usize,
    /// Where the first fault was.
    pub(super) mended: Option<String>,
    /// What stands where the text breaks off.
    pub(super) cut: Option<String>,
}

/// Reads the object that a text begins with.
pub(super) fn object(text: &str) -> Read {
    let mut reader = Reader { text, at: 0, mended: None, cut: None };
    let entries = reader.object(0);
    Read { entries, length: reader.at, mended: reader.mended, cut: reader.cut }
}

/// Where a string stands: what may follow it.
#[derive(Clone, Copy, PartialEq)]
enum As {
    Key,
    Value,
    Item,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    mended: Option<String>,
    cut: Option<String>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character that is not space.
    fn peek(&mut self) -> Option<char> {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn fault(&mut self) {
        let line = self.rest().lines().next().unwrap_or_default();
        self.mended.get_or_insert_with(|| line.chars().take(60).collect());
    }

    fn object(&mut self, depth: usize) -> Entries {
        let mut entries = vec![];
        self.eat('{');
        loop {
            match self.peek() {
                None => {
                    self.cut.get_or_insert_default();
                    return entries;
                }
                Some('}') => {
                    self.at += 1;
                    // A bracket too many: the object goes on after it.
                    let goes_on = self.rest().trim_start().strip_prefix(',');
                    if depth > 0 || !goes_on.is_some_and(|rest| rest.trim_start().starts_with('"'))
                    {
                        return entries;
                    }
                    self.fault();
                }
                Some(',') => self.at += 1,
                Some(_) => self.entry(depth, &mut entries),
            }
        }
    }

    fn entry(&mut self, depth: usize, entries: &mut Entries) {
        let start = self.at;
        let key = if self.peek().is_some_and(opens) { self.string(As::Key) } else { self.bare() };
        let Some(key) = key.filter(|key| !key.is_empty()) else {
            // Nothing that a key begins with.
            self.fault();
            let skipped = self.rest().chars().next().map_or(0, char::len_utf8);
            self.at += if self.at == start { skipped } else { 0 };
            return;
        };
        if !self.eat(':') {
            self.fault();
            entries.push((key, Json::Nothing));
            return;
        }
        match self.value(depth) {
            Some(value) => entries.push((key, value)),
            None => self.cut = Some(key),
        }
    }

    /// None where the text breaks off within it.
    fn value(&mut self, depth: usize) -> Option<Json> {
        match self.peek()? {
            '{' | '[' if depth >= MAX_DEPTH => {
                self.at = self.text.len();
                None
            }
            '{' => Some(Json::Object(self.object(depth + 1))),
            '[' if !call::is_end(self.rest().split_inclusive(']').next()?) => self.list(depth),
            quote if opens(quote) => self.string(As::Value).map(Json::Text),
            _ => self.bare().map(|word| match word.as_str() {
                "null" | "None" | "true" | "false" | "" => Json::Nothing,
                _ => Json::Text(word),
            }),
        }
    }

    fn list(&mut self, depth: usize) -> Option<Json> {
        self.eat('[');
        let mut items = vec![];
        loop {
            let next = self.peek()?;
            let start = self.at;
            match next {
                ']' => {
                    self.at += 1;
                    break;
                }
                ',' => self.at += 1,
                '}' => {
                    self.fault();
                    break;
                }
                quote if opens(quote) => {
                    let text = self.string(As::Item)?;
                    if self.peek() == Some(':') {
                        // It is the next key: the list was not closed.
                        self.at = start;
                        self.fault();
                        break;
                    }
                    items.push(Json::Text(text));
                }
                other => {
                    items.push(self.value(depth + 1)?);
                    // What begins no value is passed over.
                    self.at += if self.at == start { other.len_utf8() } else { 0 };
                }
            }
        }
        Some(Json::List(items))
    }

    /// A word or a call without quotes, up to what ends a value.
    fn bare(&mut self) -> Option<String> {
        self.fault();
        let (mut open, mut quoted) = (0_usize, false);
        let ends = |c: char| {
            match c {
                '"' => quoted = !quoted,
                '(' | '[' if !quoted => open += 1,
                ')' | ']' if !quoted && open > 0 => open -= 1,
                '\n' => return true,
                ',' | ':' | '{' | '}' | ']' if !quoted && open == 0 => return true,
                _ => {}
            }
            false
        };
        let rest = self.rest();
        let end = rest.find(ends).unwrap_or(rest.len());
        self.at += end;
        (end < rest.len()).then(|| rest[..end].trim().to_owned())
    }

    /// A string: it ends at the first quote that is followed by what may follow it, within its
    /// line; a call goes on to its last bracket.
    fn string(&mut self, place: As) -> Option<String> {
        let rest = self.rest();
        let open = rest.chars().next()?;
        let inside = &rest[open.len_utf8()..];
        let line = &inside[..inside.find('\n').unwrap_or(inside.len())];
        let closers: Vec<usize> = closers(line, open).collect();
        let after = |at: usize| {
            let quote = inside[at..].chars().next().map_or(0, char::len_utf8);
            &inside[at + quote..]
        };
        let fits = |at: &usize| follows(after(*at), place);
        let whole = |at: &usize| !call::is_open(&inside[..*at]);
        let found = closers.iter().copied().find(|at| fits(at) && whole(at));
        let found = found.or_else(|| closers.iter().copied().find(fits));
        let start = self.at;
        let (end, next) = match found {
            Some(at) => (at, inside.len() - after(at).len()),
            None if line.len() < inside.len() => {
                // The line ends the string.
                self.fault();
                let text = line.trim_end().trim_end_matches([',', ']', '}']).trim_end();
                (text.trim_end_matches(opens).len(), text.len())
            }
            None => {
                self.at = self.text.len();
                return None;
            }
        };
        let text = &inside[..end];
        if closers.first().is_some_and(|first| *first < end) {
            self.fault();
        }
        self.at = start + open.len_utf8() + next;
        Some(plain(text))
    }
}

fn opens(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '”')
}

/// The places of the quotes that may close a string, those after a backslash left out.
fn closers(line: &str, open: char) -> impl Iterator<Item = usize> {
    let mut escaped = false;
    line.char_indices().filter_map(move |(at, c)| {
        let closes = c == open || (open == '“' && c == '”');
        let here = closes && !escaped;
        escaped = c == '\\' && !escaped;
        here.then_some(at)
    })
}

/// Whether what stands after a quote may follow a string at this place.
fn follows(after: &str, place: As) -> bool {
    let rest = after.trim_start();
    let new_line = after[..after.len() - rest.len()].contains('\n');
    let mut chars = rest.chars();
    let Some(next) = chars.next() else { return place != As::Key };
    let then = chars.as_str().trim_start();
    let begins = |c: char| opens(c) || matches!(c, '{' | '[');
    match next {
        ':' if place != As::Value => {
            then.starts_with(begins) || call::begins(then) || then.starts_with("null")
        }
        '}' => place != As::Key,
        ']' => place == As::Item,
        ',' if place == As::Value => then.is_empty() || then.starts_with(|c| opens(c) || c == '}'),
        ',' if place == As::Item => {
            then.is_empty() || then.starts_with(|c| begins(c) || c == ']' || c == '}')
        }
        quote if opens(quote) => new_line && place != As::Key,
        _ => false,
    }
}

/// Without its escapes.
fn plain(text: &str) -> String {
    if let Ok(plain) = serde_json::from_str(&format!("\"{text}\"")) {
        return plain;
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next() {
                Some('n' | 't' | 'r') | None => ' ',
                Some(escaped) => escaped,
            },
            c => c,
        });
    }
    out
}
