//! `Which …, A or B?`, `Was A or B …?`, `Between A and B, …?`
use super::both::{find_pair, join_groups};
use super::{Comparison, ComparisonKind};
use crate::decompose::tokens::tokens;
use crate::lexicon::Lexicon;

pub(super) fn parse(text: &str, lexicon: &Lexicon) -> Option<Comparison> {
    between(text)
        .or_else(|| out_of(text))
        .or_else(|| listed(text))
        .or_else(|| inside(text, lexicon))
}

fn comparison(one: &str, other: &str, rest: &str) -> Option<Comparison> {
    let trim = |side: &str| side.trim().trim_matches(',').trim_start_matches("either ").to_owned();
    let things = [trim(one), trim(other)];
    // A side has a name; `did he leave or stay` has none.
    let named = |side: &String| side.chars().any(|c| c.is_uppercase() || c.is_ascii_digit());
    let rest = rest.to_owned();
    let kind = ComparisonKind::Either;
    things.iter().all(named).then_some(Comparison { things, kind, role: None, rest })
}

/// `Between A and B, which …`
fn between(text: &str) -> Option<Comparison> {
    let after = text.strip_prefix("Between ").or_else(|| text.strip_prefix("between "))?;
    let (sides, rest) = after.rsplit_once(", ")?;
    let (one, other) = split_sides(sides, " and ")?;
    comparison(one, other, rest)
}

/// `Who … out of A and B`, `Who …, between A and B`
fn out_of(text: &str) -> Option<Comparison> {
    let marks = [" out of ", " between "];
    let (rest, sides) = marks.iter().find_map(|mark| text.split_once(mark))?;
    let asks = ["who", "which", "what"].iter().any(|word| rest.to_lowercase().starts_with(word));
    let (one, other) = split_sides(sides, " and ").or_else(|| split_sides(sides, " or "))?;
    comparison(one, other, rest.trim_end_matches(',')).filter(|_| asks)
}

/// `Which …, A or B` and `Which film, A or B, …`
fn listed(text: &str) -> Option<Comparison> {
    let (left, right) = text.rsplit_once(" or ")?;
    let is_side = |rest: &str| {
        rest.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || "\"“¿¡".contains(c))
            || rest.starts_with("the ")
    };
    if !is_side(right) {
        return None;
    }
    // The first comma after which a name stands: titles hold commas of their own.
    let (at, mark) = left
        .match_indices([',', ':', '?'])
        .find(|(at, mark)| is_side(left[at + mark.len()..].trim_start()))?;
    let one = left[at + mark.len()..].trim();
    let head = left[..at].trim();
    let last = right.rsplit_once(", ").filter(|(_, tail)| tail.starts_with(char::is_lowercase));
    match last {
        Some((other, tail)) => comparison(one, other, &format!("{head} {tail}")),
        None => comparison(one, right, head),
    }
}

/// `Was A or B born first`
fn inside(text: &str, lexicon: &Lexicon) -> Option<Comparison> {
    let tokens = tokens(text, lexicon);
    let pair = find_pair(&tokens, "or", 0)?;
    let before = &tokens[..pair.span.start];
    let lead = before.iter().rposition(|token| token.lower != "the").map_or(0, |at| at + 1);
    let rest = join_groups(&before[..lead], &tokens[pair.span.end..]);
    comparison(&pair.names[0], &pair.names[1], &rest)
}

/// The two sides of a conjunction; the first whose right side can begin a name.
fn split_sides<'t>(sides: &'t str, conjunction: &str) -> Option<(&'t str, &'t str)> {
    let begins = |rest: &str| !rest.starts_with(char::is_lowercase) || rest.starts_with("the ");
    let mut splits = sides
        .match_indices(conjunction)
        .map(|(at, _)| (&sides[..at], &sides[at + conjunction.len()..]));
    splits.find(|(one, other)| !one.is_empty() && !other.is_empty() && begins(other))
}
