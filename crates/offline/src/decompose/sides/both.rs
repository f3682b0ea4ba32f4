//! `Are A and B both …?`, `Do A and B have the same …?`
use super::pair::find_pair;
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
    let pair = find_pair(&tokens, "and", 1)?;
    let rest = join(&tokens[pair.span.end..]);
    // `Are both A and B silent films` says it of both, too.
    let said_of_both = rest.contains("both") || rest.contains("same") || rest.contains("share");
    let both = if said_of_both { "" } else { "both " };
    let role = role(&tokens[1..pair.span.start]);
    let rest = format!("{opening} {both}{}", rest.trim()).replace(',', "");
    Some(Comparison { things: pair.names, kind: ComparisonKind::Both, role, rest })
}

/// The role before the sides: `director` for `the directors of both films`.
fn role(before: &[Token]) -> Option<String> {
    let of = before.iter().position(|token| token.lower == "of")?;
    let noun = before[of.checked_sub(1)?].lower.as_str();
    let one = noun.strip_suffix('s').filter(|one| leads(one).is_some()).unwrap_or(noun);
    (leads(noun) == Some(Leads::Person)).then(|| one.to_owned())
}
