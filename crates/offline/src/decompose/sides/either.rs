//! `Which …, A or B?`, `Was A or B …?`, `Between A and B, …?`
use super::super::super::lexicon::Lexicon;
use super::super::tokens::{Tag, Token, said, tokens};
use super::Comparison;

pub(super) fn of(text: &str) -> Option<Comparison> {
    between(text).or_else(|| out_of(text)).or_else(|| listed(text)).or_else(|| asked(text))
}

fn comparison(a: &str, b: &str, rest: String) -> Option<Comparison> {
    let bare = |side: &str| side.trim().trim_matches(',').trim_start_matches("either ").to_owned();
    let things = [bare(a), bare(b)];
    // A side has a name; `did he leave or stay` has none.
    let named = |side: &String| side.chars().any(|c| c.is_uppercase() || c.is_ascii_digit());
    things.iter().all(named).then_some(Comparison { things, role: None, rest })
}

/// `Between A and B, which …`
fn between(text: &str) -> Option<Comparison> {
    let after = text.strip_prefix("Between ").or_else(|| text.strip_prefix("between "))?;
    let (sides, rest) = after.rsplit_once(", ")?;
    let (a, b) = parted(sides, " and ")?;
    comparison(a, b, rest.to_owned())
}

/// `Who … out of A and B`, `Who …, between A and B`
fn out_of(text: &str) -> Option<Comparison> {
    let marks = [" out of ", " between "];
    let (rest, sides) = marks.iter().find_map(|mark| text.split_once(mark))?;
    let asks = ["who", "which", "what"].iter().any(|word| rest.to_lowercase().starts_with(word));
    let (a, b) = parted(sides, " and ").or_else(|| parted(sides, " or "))?;
    comparison(a, b, rest.trim_end_matches(',').to_owned()).filter(|_| asks)
}

/// `Which …, A or B` and `Which film, A or B, …`
fn listed(text: &str) -> Option<Comparison> {
    let (left, right) = text.rsplit_once(" or ")?;
    let side = |rest: &str| {
        rest.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || "\"“¿¡".contains(c))
            || rest.starts_with("the ")
    };
    if !side(right) {
        return None;
    }
    // The first comma after which a name stands: titles hold commas of their own.
    let cut = left
        .match_indices([',', ':', '?'])
        .find(|(at, mark)| side(left[at + mark.len()..].trim_start()));
    let (at, mark) = cut?;
    let a = left[at + mark.len()..].trim();
    let head = left[..at].trim();
    let last = right.rsplit_once(", ").filter(|(_, tail)| tail.starts_with(char::is_lowercase));
    match last {
        Some((b, tail)) => comparison(a, b, format!("{head} {tail}")),
        None => comparison(a, right, head.to_owned()),
    }
}

/// `Was A or B born first`
fn asked(text: &str) -> Option<Comparison> {
    let found = tokens(text, &Lexicon::new());
    let or = found.iter().position(|token| token.lower == "or")?;
    let name = |token: &&Token| token.tag == Tag::Name;
    let a = found.get(or.checked_sub(1)?).filter(name)?;
    let b = found.get(or + 1).filter(name)?;
    let start = found[..or - 1].iter().rposition(|token| token.lower != "the").map_or(0, |i| i + 1);
    let rest = format!("{} {}", said(&found[..start]), said(&found[or + 2..]));
    comparison(&a.text, &b.text, rest.trim().to_owned())
}

/// The two sides of a word between them; the first whose right side can begin a name.
pub(super) fn parted<'t>(sides: &'t str, word: &str) -> Option<(&'t str, &'t str)> {
    let begins = |rest: &str| !rest.starts_with(char::is_lowercase) || rest.starts_with("the ");
    let mut found =
        sides.match_indices(word).map(|(at, _)| (&sides[..at], &sides[at + word.len()..]));
    found.find(|(a, b)| !a.is_empty() && !b.is_empty() && begins(b))
}
