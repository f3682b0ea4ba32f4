//! Operator calls as a plan writes them: found in a text, and split into arguments.
use crate::shared::references::{begins_with_reference, references};

/// The operators of Section 3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Search,
    Relate,
    Filter,
}

const OPERATORS: [(Operator, &str); 3] =
    [(Operator::Search, "Search"), (Operator::Relate, "Relate"), (Operator::Filter, "Filter")];

/// An operator with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrittenCall {
    pub(super) operator: Operator,
    pub(super) arguments: Vec<Argument>,
    /// Its quotes, brackets or commas do not match.
    pub(super) repaired: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Argument {
    Text(String),
    List(Vec<Argument>),
    Call(WrittenCall),
}

/// The calls of a text, and the text without them.
pub(super) fn all(text: &str) -> (Vec<WrittenCall>, String) {
    let text = &text.replace("\\\"", "\"");
    let (mut calls, mut around) = (vec![], String::new());
    let mut rest = text.as_str();
    while let Some(next) = next(rest) {
        around.push_str(next.before);
        let mut scanner = Scanner { text: next.inside, at: 0, repaired: false };
        let arguments = scanner.arguments(')', 0);
        rest = &next.inside[scanner.at..];
        let repaired = scanner.repaired;
        calls.push(WrittenCall { operator: next.operator, arguments, repaired });
    }
    around.push_str(rest);
    (calls, around)
}

/// Whether a text begins with a call.
pub(super) fn begins(text: &str) -> bool {
    head(text.trim_start()).is_some()
}

/// The operator that a text begins with, and what follows its opening bracket. Only the head of the
/// text is looked at.
fn head(text: &str) -> Option<(Operator, &str)> {
    OPERATORS.iter().find_map(|(operator, name)| {
        let written = text.get(..name.len())?;
        let rest = &text[name.len()..];
        let bracket = rest.trim_start();
        // In a sentence, a word that is not directly before its bracket is not a call.
        let is_name =
            written == *name || bracket.len() == rest.len() && written.eq_ignore_ascii_case(name);
        Some((*operator, bracket.strip_prefix('(').filter(|_| is_name)?))
    })
}

/// `[END]`, in any of the ways it is written: `[end]`, `END`, `[DR]`, `[Direct Reasoning]`.
pub(super) fn is_end(text: &str) -> bool {
    let bare = text.trim().trim_matches(['"', '\'', '.', '[', ']', '(', ')', '<', '>']).trim();
    let word = bare.to_lowercase().replace(['_', '-'], " ");
    matches!(word.as_str(), "end" | "dr" | "direct reasoning")
}

/// A text without the `[END]` after it, and whether there was one.
pub(super) fn without_end(text: &str) -> (&str, bool) {
    match text.rfind('[').filter(|at| is_end(&text[*at..])) {
        Some(at) => (text[..at].trim_end(), true),
        None => (text, false),
    }
}

/// The next operator of a text.
struct Next<'a> {
    before: &'a str,
    operator: Operator,
    /// From after its opening bracket.
    inside: &'a str,
}

fn next(text: &str) -> Option<Next<'_>> {
    for (at, _) in text.match_indices('(') {
        let before = text[..at].trim_end();
        let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        let name = &before[before.trim_end_matches(letter).len()..];
        let named = OPERATORS.iter().find(|(_, proper)| {
            // In a sentence, a word that is not directly before its bracket is not a call.
            name == *proper || before.len() == at && name.eq_ignore_ascii_case(proper)
        });
        if let Some((operator, _)) = named {
            let before = &before[..before.len() - name.len()];
            return Some(Next { before, operator: *operator, inside: &text[at + 1..] });
        }
    }
    None
}

/// How deep calls and lists may nest.
const MAX_DEPTH: usize = 16;

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    repaired: bool,
}

impl<'a> Scanner<'a> {
    /// From the next character that is not white space.
    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    /// The arguments up to the closing bracket, which may be missing at the end.
    fn arguments(&mut self, close: char, depth: usize) -> Vec<Argument> {
        let mut found = vec![];
        loop {
            match self.rest().chars().next() {
                Some(c) if c == close => {
                    self.at += 1;
                    return found;
                }
                Some(',') => self.at += 1,
                // The end, or the call's bracket where a list's own is missing.
                None | Some(')') => {
                    self.repaired = true;
                    return found;
                }
                Some(']') => {
                    self.repaired = true;
                    self.at += 1;
                }
                Some(_) => found.extend(self.argument(close, depth)),
            }
        }
    }

    fn argument(&mut self, close: char, depth: usize) -> Option<Argument> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        if let Some((operator, inside)) = head(rest).filter(|_| depth < MAX_DEPTH) {
            self.at = self.text.len() - inside.len();
            let outer = std::mem::replace(&mut self.repaired, false);
            let arguments = self.arguments(')', depth + 1);
            let repaired = std::mem::replace(&mut self.repaired, outer);
            return Some(Argument::Call(WrittenCall { operator, arguments, repaired }));
        }
        if first == '"' || first == '\'' && quoted(rest, first, close).is_some() {
            return Some(Argument::Text(self.string(first, close)));
        }
        // `[1]` and `[2, 3]` are references, `["A", "B"]` is a list.
        let reference = begins_with_reference(rest);
        if first == '[' && !reference && depth < MAX_DEPTH {
            self.at += 1;
            return Some(Argument::List(self.arguments(']', depth + 1)));
        }
        self.bare(close)
    }

    fn string(&mut self, quote: char, close: char) -> String {
        let rest = self.rest();
        let inside = &rest[quote.len_utf8()..];
        let base = self.text.len() - inside.len();
        let end = quoted(rest, quote, close).unwrap_or_else(|| {
            // No quote closes it: the call's bracket does.
            self.repaired = true;
            inside.rfind(close).unwrap_or(inside.len())
        });
        self.at = base + end + usize::from(inside[end..].starts_with(quote));
        let text = inside[..end].trim();
        // Quotes within it that do not match.
        self.repaired |= text.matches('"').count() % 2 == 1;
        text.to_owned()
    }

    /// A word without quotes, up to the next comma or bracket.
    fn bare(&mut self, close: char) -> Option<Argument> {
        let rest = self.rest();
        let (mut open, mut quote) = (0_usize, false);
        let ends = |c: char| {
            match c {
                '"' => quote = !quote,
                '(' | '[' => open += 1,
                ')' | ']' if open > 0 => open -= 1,
                ',' => return open == 0 && !quote,
                c => return c == close,
            }
            false
        };
        let end = rest.find(ends).unwrap_or(rest.len());
        let word = rest[..end].trim();
        self.at += end;
        let reference = !references(word).is_empty() && word.starts_with(['[', '#', '<']);
        self.repaired |= !reference;
        (!word.is_empty()).then(|| Argument::Text(word.to_owned()))
    }
}

/// Bytes of an argument at most: no quote is searched for further, so that a long text full of quotes
/// is read about once.
const LONGEST_ARGUMENT: usize = 1_000;

/// Where the string that `rest` begins with ends, from after its quote: at the first quote that an
/// argument's end follows and before which no bracket is left open; or else at the first that an
/// argument's end follows.
fn quoted(rest: &str, quote: char, close: char) -> Option<usize> {
    let inside = &rest[quote.len_utf8()..];
    let near = inside.char_indices().take_while(|(at, _)| *at < LONGEST_ARGUMENT);
    let (mut open, mut first) = (0_i32, None);
    for (at, c) in near {
        match c {
            '(' => open += 1,
            ')' => open -= 1,
            c if c == quote => {
                let after = inside[at + quote.len_utf8()..].trim_start();
                let ends = after.is_empty() || after.starts_with(close);
                let continues = after.strip_prefix(',');
                if open == 0 && (ends || continues.is_some_and(argument)) {
                    return Some(at);
                }
                if ends || continues.is_some() {
                    first = first.or(Some(at));
                }
            }
            _ => {}
        }
    }
    first
}

/// Whether another argument stands after a comma, and not a sentence that continues.
fn argument(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(['"', '\'', '[', ')', '#', '<']) || begins(text)
}
