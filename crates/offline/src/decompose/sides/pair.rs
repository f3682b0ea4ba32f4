//! Two names joined by `and` or `or`.
use std::ops::Range;

use crate::decompose::tokens::{Tag, Token, join};

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
