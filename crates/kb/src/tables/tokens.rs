//! The words of a query, as far as they must be known to give them names and sources. What is
//! allowed and what it means is left to SQLite.
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// A name in double quotes, backticks or square brackets.
    Quoted,
    /// A text, a number, a parameter.
    Value,
    Mark(char),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) range: Range<usize>,
    /// How many brackets are open around it.
    pub(super) depth: usize,
}

/// The tokens of a query, without comments.
pub(super) fn tokens(sql: &str) -> Vec<Token> {
    let mut tokens = vec![];
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(c) = sql[at..].chars().next() {
        let (length, kind) = next(&sql[at..], c);
        if let Some(kind) = kind {
            depth = depth.saturating_sub(usize::from(kind == TokenKind::Mark(')')));
            tokens.push(Token { kind, range: at..at + length, depth });
            depth += usize::from(kind == TokenKind::Mark('('));
        }
        at += length;
    }
    tokens
}

/// How long the next token is, and what it is, if anything.
fn next(rest: &str, c: char) -> (usize, Option<TokenKind>) {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let run = |fits: &dyn Fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
    match c {
        _ if c.is_whitespace() => (run(&char::is_whitespace), None),
        '-' if rest.starts_with("--") => (rest.find('\n').unwrap_or(rest.len()), None),
        '/' if rest.starts_with("/*") => (rest.find("*/").map_or(rest.len(), |at| at + 2), None),
        '\'' => (closed(rest, '\''), Some(TokenKind::Value)),
        '"' | '`' => (closed(rest, c), Some(TokenKind::Quoted)),
        '[' => (rest.find(']').map_or(rest.len(), |at| at + 1), Some(TokenKind::Quoted)),
        _ if c.is_ascii_digit() => (run(&|c| word(c) || c == '.'), Some(TokenKind::Value)),
        _ if word(c) => (run(&word), Some(TokenKind::Word)),
        _ => (c.len_utf8(), Some(TokenKind::Mark(c))),
    }
}

/// The length of what stands in quotes; a doubled one does not close it.
fn closed(rest: &str, quote: char) -> usize {
    let mut at = 1;
    while let Some(end) = rest[at..].find(quote) {
        at += end + 1;
        if !rest[at..].starts_with(quote) {
            return at;
        }
        at += 1;
    }
    rest.len()
}

impl Token {
    pub(super) fn is(&self, sql: &str, word: &str) -> bool {
        self.kind == TokenKind::Word && sql[self.range.clone()].eq_ignore_ascii_case(word)
    }

    pub(super) fn is_any(&self, sql: &str, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(sql, word))
    }

    /// The name that it is, without its quotes, in small letters.
    pub(super) fn name(&self, sql: &str) -> Option<String> {
        let text = &sql[self.range.clone()];
        match self.kind {
            TokenKind::Word => Some(text.to_lowercase()),
            TokenKind::Quoted => {
                let quote = text.chars().next().filter(|c| *c != '[');
                let inside = text.get(1..text.len().max(2) - 1)?;
                let undoubled = quote.map(|q| inside.replace(&format!("{q}{q}"), &q.to_string()));
                Some(undoubled.unwrap_or_else(|| inside.to_owned()).to_lowercase())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_texts_and_comments_are_told_apart() {
        let sql = "SELECT \"a \"\" b\", [c d] -- it's\n FROM t /* x */ WHERE (n = 'it''s ; x') ;";
        let tokens = tokens(sql);
        let names: Vec<String> = tokens.iter().filter_map(|token| token.name(sql)).collect();
        assert_eq!(names, ["select", "a \" b", "c d", "from", "t", "where", "n"]);
        let inner = tokens.iter().find(|token| token.is(sql, "n")).unwrap();
        assert_eq!(inner.depth, 1);
        assert_eq!(tokens.last().unwrap().kind, TokenKind::Mark(';'));
        assert_eq!(tokens.iter().filter(|token| token.kind == TokenKind::Value).count(), 1);
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(sql in "([a-z0-9 '\"`\\[\\]().;*/é-]|--|/\\*|\n){0,40}") {
            let tokens = tokens(&sql);
            prop_assert!(tokens.windows(2).all(|two| two[0].range.end <= two[1].range.start));
            for token in tokens {
                let _ = token.name(&sql);
            }
        }
    }
}
