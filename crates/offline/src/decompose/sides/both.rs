//! `Are A and B both …?`, `Do A and B have the same …?`
use super::pair::{Pair, find_pair};
use super::{Comparison, ComparisonKind};
use crate::decompose::tokens::{Token, join, tokens};
use crate::lexicon::Lexicon;
use crate::lists::{Leads, leads};

/// Words that open a question for yes or no about two things.
const OPENING: &[&str] = &["are", "were", "do", "did", "does", "is", "was", "have", "has", "can"];

pub(super) fn parse(text: &str, lexicon: &Lexicon) -> Option<Comparison> {
    let tokens = tokens(text, lexicon);
    let opening = tokens.first()?.lower.clone();
    let says = |word: &str| tokens.iter().any(|token| token.lower == word);
    if !OPENING.contains(&opening.as_str()) || !["both", "same", "share"].into_iter().any(says) {
        return None;
    }
    let (pair, rest) = match find_pair(&tokens, "and", 1) {
        Some(pair) => {
            let rest = join(&tokens[pair.span.end..]);
            (pair, rest)
        }
        None => same_as(&tokens)?,
    };
    // `Are both A and B silent films` says it of both, too.
    let said_of_both = rest.contains("both") || rest.contains("same") || rest.contains("share");
    let both = if said_of_both { "" } else { "both " };
    let role = role(&tokens[1..pair.span.start]);
    let rest = format!("{opening} {both}{}", rest.trim()).replace(',', "");
    Some(Comparison { things: pair.names, kind: ComparisonKind::Both, role, rest })
}

/// `Does A have the same nationality as B?`
fn same_as(tokens: &[Token]) -> Option<(Pair, String)> {
    let first = tokens.iter().position(Token::names)?;
    let second = tokens.iter().rposition(Token::names).filter(|second| *second > first + 1)?;
    let between = &tokens[first + 1..second];
    let same = between.iter().position(|token| token.lower == "same")?;
    let compared = between.iter().rposition(|token| token.lower == "as")?;
    let names = [tokens[first].text.clone(), tokens[second].text.clone()];
    let pair = Pair { names, span: first..second + 1 };
    (same < compared).then(|| (pair, join(&between[..compared])))
}

/// The role before the sides: `director` for `the directors of both films`.
fn role(before: &[Token]) -> Option<String> {
    let of = before.iter().position(|token| token.lower == "of")?;
    let noun = before[of.checked_sub(1)?].lower.as_str();
    let one = noun.strip_suffix('s').filter(|one| leads(one).is_some()).unwrap_or(noun);
    (leads(noun) == Some(Leads::Person)).then(|| one.to_owned())
}
