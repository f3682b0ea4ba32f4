//! Operator calls as a plan writes them: found in a text, and taken apart into arguments.
use super::quotes::mended;
use super::tokens::tokens;

/// The operators of Section 3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Search,
    Relate,
    Filter,
}

/// Other names that models give them.
const NAMES: [(Operator, &str, &[&str]); 3] = [
    (Operator::Search, "Search", &["find", "lookup", "retrieve", "query"]),
    (Operator::Relate, "Relate", &["relation", "related", "attribute"]),
    (Operator::Filter, "Filter", &["select", "where", "filterby"]),
];

/// An operator with what stands in its brackets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Written {
    pub(super) operator: Operator,
    pub(super) arguments: Vec<Argument>,
    /// It goes by another name.
    pub(super) renamed: bool,
    /// Its quotes, brackets or commas had to be mended.
    pub(super) mended: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Argument {
    Text(String),
    List(Vec<Argument>),
    Call(Written),
}

/// The calls that stand side by side in a text, and the text without them.
pub(super) fn all(text: &str) -> (Vec<Written>, String) {
    let text = &text.replace("\\\"", "\"");
    let (mut calls, mut around) = (vec![], String::new());
    let mut rest = text.as_str();
    while let Some((before, operator, renamed, inside)) = next(rest) {
        around.push_str(before);
        let mut scanner = Scanner { text: inside, at: 0, mended: false };
        let arguments = scanner.arguments(')', 0);
        let mended = scanner.mended;
        rest = &inside[scanner.at..];
        calls.push(Written { operator, arguments, renamed, mended });
    }
    around.push_str(rest);
    (calls, around)
}

/// Whether a text begins with a call.
pub(super) fn begins(text: &str) -> bool {
    next(text.trim_start()).is_some_and(|(before, ..)| before.is_empty())
}

/// Whether a call begins in a text and does not end in it.
pub(super) fn is_open(text: &str) -> bool {
    next(text).is_some() && !is_balanced(text)
}

/// Whether every bracket that is opened is closed.
pub(super) fn is_balanced(text: &str) -> bool {
    let open = text.matches('(').count();
    open > 0 && open == text.matches(')').count() || open == 0 && !text.contains(')')
}

/// `[END]`, in any of the ways it is written: `[end]`, `END`, `[DR]`, `[Direct Reasoning]`.
pub(super) fn is_end(text: &str) -> bool {
    let text = text.trim().trim_matches(['"', '\'', '.']).trim();
    let bracketed =
        text.strip_prefix(['[', '(', '<']).and_then(|t| t.strip_suffix([']', ')', '>']));
    let word = bracketed.unwrap_or(text).trim().to_lowercase().replace(['_', '-'], " ");
    let bare = matches!(word.as_str(), "end" | "dr" | "direct reasoning");
    bare || bracketed.is_some()
        && matches!(word.as_str(), "reason" | "reasoning" | "direct" | "done")
}

/// What stands before the next operator, the operator, whether it is renamed, and what stands
/// after its opening bracket.
fn next(text: &str) -> Option<(&str, Operator, bool, &str)> {
    for (at, _) in text.match_indices('(') {
        let before = text[..at].trim_end();
        let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        let name = &before[before.trim_end_matches(letter).len()..];
        let plain = name.to_ascii_lowercase().replace('_', "");
        for (operator, proper, others) in NAMES {
            let renamed = name != proper;
            // In a sentence, only a word that is set against its bracket is a call.
            let set = before.len() == at;
            if !renamed
                || set && (plain == proper.to_ascii_lowercase() || others.contains(&plain.as_str()))
            {
                let start = before.len() - name.len();
                return Some((&text[..start], operator, renamed, &text[at + 1..]));
            }
        }
    }
    None
}

/// How deep calls and lists may stand in one another.
const MAX_DEPTH: usize = 16;

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    mended: bool,
}

impl<'a> Scanner<'a> {
    /// From where the next thing that is not space begins.
    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    /// The arguments up to the closing bracket, which may be missing at the end.
    fn arguments(&mut self, close: char, depth: usize) -> Vec<Argument> {
        let mut found = vec![];
        loop {
            let rest = self.rest();
            match rest.chars().next() {
                None => {
                    self.mended = true;
                    return found;
                }
                Some(c) if c == close => {
                    self.at += 1;
                    return found;
                }
                Some(',') => self.at += 1,
                // The other bracket closes a list whose own is missing.
                Some(')') if close == ']' => {
                    self.mended = true;
                    return found;
                }
                Some(']') => {
                    self.mended = true;
                    self.at += 1;
                }
                Some(_) => found.extend(self.argument(close, depth)),
            }
        }
    }

    fn argument(&mut self, close: char, depth: usize) -> Option<Argument> {
        self.skip_keyword();
        let rest = self.rest();
        let first = rest.chars().next()?;
        if let Some((before, operator, renamed, inside)) = next(rest)
            && before.is_empty()
            && depth < MAX_DEPTH
        {
            self.at = self.text.len() - inside.len();
            let outer = std::mem::replace(&mut self.mended, false);
            let arguments = self.arguments(')', depth + 1);
            let mended = std::mem::replace(&mut self.mended, outer);
            return Some(Argument::Call(Written { operator, arguments, renamed, mended }));
        }
        if "\"“".contains(first) || first == '\'' && quoted(rest, first, close).is_some() {
            return Some(Argument::Text(self.string(first, close)));
        }
        // `[1]` is a reference, `[2, 3]` and `["A", "B"]` are lists.
        let reference =
            tokens(rest).first().is_some_and(|one| one.range.start == 0 && one.labels.len() == 1);
        if first == '[' && !reference && depth < MAX_DEPTH {
            self.at += 1;
            return Some(Argument::List(self.arguments(']', depth + 1)));
        }
        self.bare(close)
    }

    /// `name=` before an argument.
    fn skip_keyword(&mut self) {
        let rest = self.rest();
        let after = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '_');
        let word = rest.len() - after.len();
        let Some(value) = after.trim_start().strip_prefix(['=', ':']) else { return };
        if word > 0 && value.trim_start().starts_with(['"', '\'', '[', '“']) {
            self.mended = true;
            self.at = self.text.len() - value.len();
        }
    }

    fn string(&mut self, open: char, close: char) -> String {
        let rest = self.rest();
        let inside = &rest[open.len_utf8()..];
        let base = self.text.len() - inside.len();
        let Some((end, length)) = quoted(rest, open, close) else {
            // No quote closes it: the call's bracket does.
            self.mended = true;
            let end = inside.rfind(close).unwrap_or(inside.len());
            self.at = base + end;
            return mended(inside[..end].trim().trim_end_matches(['"', '\''])).0;
        };
        let (text, changed) = mended(inside[..end].trim());
        self.mended |= changed;
        self.at = base + end + length;
        text
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
        // A bare number in a list is a reference: `[2, 3]`.
        if close == ']' && word.len() < 4 && word.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(Argument::Text(format!("[{word}]")));
        }
        let reference = !tokens(word).is_empty() && word.starts_with('[') && word.ends_with(']');
        let (text, changed) = mended(word);
        self.mended |= !reference || changed;
        (!text.is_empty()).then_some(Argument::Text(text))
    }
}

/// Where the string that `rest` begins with ends, from after its quote, with the length of the
/// closing quote: the first that an argument's end follows and no bracket is left open before.
fn quoted(rest: &str, open: char, close: char) -> Option<(usize, usize)> {
    let shut = if open == '“' { '”' } else { open };
    let inside = &rest[open.len_utf8()..];
    let at = |sure: bool| {
        inside.match_indices([shut, open]).find(|(at, quote)| {
            let after = inside[at + quote.len()..].trim_start();
            let ends = after.is_empty() || after.starts_with(close);
            let goes_on = after.strip_prefix(',').is_some_and(|next| !sure || argument(next));
            (ends || goes_on) && (!sure || is_balanced(&inside[..*at]))
        })
    };
    at(true).or_else(|| at(false)).map(|(at, quote)| (at, quote.len()))
}

/// Whether what stands after a comma is another argument, no sentence that goes on.
fn argument(text: &str) -> bool {
    let text = text.trim_start();
    let keyword = text.split_once('=').is_some_and(|(word, _)| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
    });
    text.starts_with(['"', '“', '\'', '[', ')']) || keyword || begins(text)
}
