//! `Are A and B both …?`, `Do A and B have the same …?`
use std::ops::Range;

use super::{Comparison, ComparisonKind};
use crate::decompose::tokens::{Tag, Token, join, tokens};
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

/// Two names and the tokens that they span, from the first name to the second.
pub(super) struct Pair {
    pub(super) names: [String; 2],
    pub(super) span: Range<usize>,
}

/// The first pair of names around the conjunction from token `from` on; words that describe may
/// stand before the second one (`the film X and the film Y`).
pub(super) fn find_pair(tokens: &[Token], conjunction: &str, from: usize) -> Option<Pair> {
    let is_name = |at: &usize| tokens.get(*at).is_some_and(|token| token.tag == Tag::Name);
    (from..tokens.len()).find_map(|at| {
        let token = &tokens[at];
        // One run of capitals: `Low Tide and High Noon`.
        let joined = token.text.split_once(&format!(" {conjunction} "));
        if let (true, Some((one, other))) = (is_name(&at), joined)
            && !token.text.starts_with(['"', '“', '('])
        {
            let names = [one.to_owned(), other.to_owned()];
            return Some(Pair { names, span: at..at + 1 });
        }
        let first = at.checked_sub(1).filter(|before| *before >= from && is_name(before))?;
        let second = (at + 1..at + 5).find(is_name).filter(|_| token.lower == conjunction)?;
        let description = &tokens[at + 1..second];
        if description.iter().any(|token| token.tag != Tag::Word || token.breaks()) {
            return None;
        }
        let names = [tokens[first].text.clone(), tokens[second].text.clone()];
        Some(Pair { names, span: first..second + 1 })
    })
}

/// Two groups of tokens as one text.
pub(super) fn join_groups(before: &[Token], after: &[Token]) -> String {
    format!("{} {}", join(before), join(after)).trim().to_owned()
}
