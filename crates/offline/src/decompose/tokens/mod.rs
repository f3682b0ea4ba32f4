//! A question as tokens: a name or title is one token, however many words it has, so that no rule
//! splits it.

use std::ops::Range;

use halma_core::text::{name_runs, quotes};

use crate::lexicon::Lexicon;
use crate::lists::is_listed;
use crate::words::{Sentence, Shape};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    /// A name or a title.
    Name,
    /// The answer of an earlier question, `#1`.
    Reference,
    Number,
    Word,
}

/// A word or a name with the text up to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) lower: String,
    /// Everything up to the next token: blanks, commas, `'s`.
    pub(crate) after: String,
    pub(crate) tag: Tag,
}

impl Token {
    /// Whether it is a name or stands for one.
    pub(crate) fn names(&self) -> bool {
        matches!(self.tag, Tag::Name | Tag::Reference)
    }

    /// Whether a possessive `'s` or `'` follows.
    pub(crate) fn is_possessive(&self) -> bool {
        starts_possessive(self.after.trim_start())
            || (self.after.starts_with("' ") || self.after.starts_with("’ "))
                && self.text.ends_with('s')
    }

    /// Whether the phrase that it ends is cut off from what follows.
    pub(crate) fn breaks(&self) -> bool {
        self.after.contains([',', ';', '?', '!', ':', '—', '–'])
    }
}

fn starts_possessive(after: &str) -> bool {
    let mut rest = after.chars();
    matches!(rest.next(), Some('\'' | '’'))
        && matches!(rest.next(), Some('s' | 'S'))
        && rest.next().is_none_or(|c| !c.is_alphanumeric())
}

pub(crate) fn tokens(text: &str, lexicon: &Lexicon) -> Vec<Token> {
    let sentence = Sentence::new(text, lexicon);
    let names = named(&sentence);
    let mut tokens: Vec<Token> = vec![];
    let mut at = 0;
    while at < sentence.words.len() {
        let name = names.iter().find(|name| name.start == at);
        let end = name.map_or(at + 1, |name| name.end);
        let from = opening(&sentence, at);
        let bytes = from..sentence.words[end - 1].range.end;
        let next = sentence.words.get(end).map_or(sentence.text.len(), |_| opening(&sentence, end));
        let text = sentence.text[bytes.clone()].to_owned();
        let tag = match name {
            _ if text.starts_with('#') => Tag::Reference,
            Some(_) => Tag::Name,
            None if sentence.words[at].shape == Shape::Digit => Tag::Number,
            None => Tag::Word,
        };
        let after = sentence.text[bytes.end..next].to_owned();
        let mut token = Token { text, lower: String::new(), after, tag };
        close(&mut token);
        token.lower = token.text.to_lowercase();
        tokens.push(token);
        at = end;
    }
    joined(tokens)
}

/// The byte at which the token of a word begins: it includes a `#`, a quotation mark or a bracket.
fn opening(sentence: &Sentence, at: usize) -> usize {
    let start = sentence.words[at].range.start;
    let gap = match at.checked_sub(1) {
        Some(before) => sentence.words[before].range.end..start,
        None => 0..start,
    };
    let before = &sentence.text[gap];
    let marks = before.chars().rev().take_while(|c| matches!(c, '#' | '"' | '“' | '(' | '¿' | '¡'));
    start - marks.map(char::len_utf8).sum::<usize>()
}

/// The tokens as text, without the punctuation after the last one.
pub(crate) fn join(tokens: &[Token]) -> String {
    let mut text = String::new();
    for (i, token) in tokens.iter().enumerate() {
        text.push_str(&token.text);
        if i + 1 < tokens.len() {
            text.push_str(&token.after);
        }
    }
    text
}

/// Joins tokens that are one name although punctuation separates them.
pub(super) fn joined(tokens: Vec<Token>) -> Vec<Token> {
    let mut joined: Vec<Token> = vec![];
    let mut rest = tokens.into_iter().peekable();
    let mut bracket = false;
    while let Some(token) = rest.next() {
        let Some(last) = joined.last_mut().filter(|last| last.tag == Tag::Name) else {
            joined.push(token);
            continue;
        };
        let opens = last.after == " " && token.text.starts_with('(');
        if opens || bracket || continues(last, &token, rest.peek()) {
            append(last, &token);
            bracket = (bracket || opens) && !last.text.ends_with(')');
        } else {
            joined.push(token);
        }
    }
    joined
}

/// Whether a name continues: `Saxby, Ohio`, `Min's Mill`, `Beware! The Mill`.
fn continues(last: &Token, token: &Token, next: Option<&Token>) -> bool {
    if token.tag != Tag::Name || token.text.starts_with(['"', '“']) {
        return false;
    }
    let listed = next.is_some_and(|next| ["and", "or"].contains(&next.lower.as_str()));
    match last.after.as_str() {
        ", " => !listed && !last.text.contains(", "),
        "! " | "? " | "... " | "’s " | "'s " | "'S " | "' " | "’ " => true,
        _ => false,
    }
}

fn append(last: &mut Token, token: &Token) {
    last.text = format!("{}{}{}", last.text, last.after, token.text);
    last.after.clone_from(&token.after);
    close(last);
    last.lower = last.text.to_lowercase();
}

/// Moves the mark that closes a bracket or quotation of the token into it.
pub(super) fn close(token: &mut Token) {
    for (open, shut) in [('(', ')'), ('"', '"'), ('“', '”')] {
        let (opened, closed) = (token.text.matches(open).count(), token.text.matches(shut).count());
        let lacks = if open == shut { opened % 2 == 1 } else { opened > closed };
        if lacks && token.after.starts_with(shut) {
            token.after.remove(0);
            token.text.push(shut);
        }
    }
}

/// Runs of words that are one name each, in order and without overlap.
pub(super) fn named(sentence: &Sentence) -> Vec<Range<usize>> {
    let mut names: Vec<Range<usize>> = quotes(&sentence.plain);
    let separate = |names: &[Range<usize>], run: &Range<usize>| {
        names.iter().all(|other| run.end <= other.start || other.end <= run.start)
    };
    let titles = (1..sentence.words.len()).filter_map(|at| title(sentence, at));
    let runs = name_runs(&sentence.plain);
    for run in titles.chain(runs.iter().flat_map(|run| split_at_in(sentence, run))) {
        if separate(&names, &run) {
            names.push(run);
        }
    }
    names.sort_by_key(|run| run.start);
    names
}

/// The title that begins at a word after `film` and the like: every capitalised word, with the
/// small words between them.
fn title(sentence: &Sentence, at: usize) -> Option<Range<usize>> {
    let work = sentence.word(at - 1).to_lowercase();
    let large = |at: usize| sentence.words.get(at).is_some_and(|word| word.shape != Shape::Lower);
    if !is_listed("works", &work) || sentence.gap(at - 1) != " " || !large(at) {
        return None;
    }
    let mut end = at + 1;
    loop {
        let small = (end..end + 3).find(|&next| large(next)).filter(|&next| {
            (end..next).all(|i| sentence.words[i].stop)
                && (end - 1..next).all(|i| [" ", "-", ": ", "'", "’"].contains(&sentence.gap(i)))
        });
        match small {
            Some(next) => end = next + 1,
            None => return Some(at..end),
        }
    }
}

/// The parts of a run around `in`.
fn split_at_in(sentence: &Sentence, run: &Range<usize>) -> Vec<Range<usize>> {
    let mut parts = vec![];
    let mut start = run.start;
    for at in run.clone() {
        if sentence.word(at) == "in" {
            let mut end = at;
            while end > start && sentence.words[end - 1].shape == Shape::Lower {
                end -= 1;
            }
            parts.push(start..end.max(start + 1));
            start = at + 1;
            while start < run.end && sentence.words[start].shape == Shape::Lower {
                start += 1;
            }
        }
    }
    parts.push(start..run.end);
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let tokens = tokens(text, &Lexicon::new());
        tokens.into_iter().filter(Token::names).map(|token| token.text).collect()
    }

    #[test]
    fn a_name_is_one_token() {
        for (text, expected) in [
            ("Who is the mayor of Saxby, Ohio?", vec!["Saxby, Ohio"]),
            ("Who sang \"low tide\" in Oslo?", vec!["\"low tide\"", "Oslo"]),
            ("Who directed the film Born in the Mill?", vec!["Born in the Mill"]),
            ("Who played Orla Finch in Low Tide?", vec!["Orla Finch", "Low Tide"]),
            ("Who wrote Low Tide (1974 Film) for Bauer?", vec!["Low Tide (1974 Film)", "Bauer"]),
            ("Who directed film Beware! The Mill?", vec!["Beware! The Mill"]),
            ("When was #1 born, and where is Min's Mill?", vec!["#1", "Min's Mill"]),
            ("who wrote the song?", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn the_tokens_give_the_text_back() {
        let text = "When did Quill's father (a smith), of \"Low Tide\", leave Oslo?";
        assert_eq!(format!("{}?", join(&tokens(text, &Lexicon::new()))), text);
    }

    #[test]
    fn possessives_are_recognised() {
        let tokens = tokens("Mara Quill's father's name, not Finch's", &Lexicon::new());
        let owners = tokens.iter().filter(|token| token.is_possessive());
        assert_eq!(
            owners.map(|token| token.text.as_str()).collect::<Vec<_>>(),
            ["Mara Quill", "father", "Finch"]
        );
    }
}
