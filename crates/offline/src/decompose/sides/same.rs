//! `Are A and B both …?`, `Do A and B have the same …?`
use super::super::super::relations::{Leads, leads};
use super::Comparison;
use super::either::parted;

/// Words that open a question for yes or no about two things.
const OPENS: &[&str] = &["are", "were", "do", "did", "does", "is", "was", "have", "has", "can"];

/// What begins the part of the question that is said of both sides.
const SAID_OF_BOTH: &[&str] = &[
    " both ",
    " located ",
    " situated ",
    " from the ",
    " of the same",
    " in the same",
    " have ",
    " has ",
    " had ",
    " share ",
    " originate ",
    " born ",
    " the same ",
    " die ",
    " died ",
    " members ",
    " based ",
    " made ",
    " found ",
    " considered ",
    " originally ",
    " play ",
    " use ",
    " belong ",
    " come ",
    " work ",
    " also ",
];

pub(super) fn of(text: &str) -> Option<Comparison> {
    let (opens, after) = text.split_once(' ')?;
    let lower = text.to_lowercase();
    let alike =
        ["both", "same", "share"].iter().any(|cue| lower.split(' ').any(|word| word == *cue));
    let opens = opens.to_lowercase();
    if !OPENS.contains(&opens.as_str()) || !alike {
        return None;
    }
    let (role, sides) = opened(after);
    let with = sides.find(" as ").filter(|_| lower.contains(" the same "));
    if let Some((a, b)) = with.map(|at| (&sides[..at], &sides[at + 4..])) {
        // `Does A have the same nationality as B`
        let at = a.find(" have ").or_else(|| a.find(" the same "))?;
        return compared([&a[..at], b], role, &format!("{opens} {}", &a[at..]));
    }
    let (a, b) = twice(sides).or_else(|| parted(sides, " and "))?;
    let cut = |cue: &&str| b.find(cue).filter(|at| *at > 0);
    // Titles hold `from the` and its like, but hardly `both`.
    let end = cut(&" both ").or_else(|| SAID_OF_BOTH.iter().filter_map(cut).min());
    let end = end.or_else(|| lower_tail(b)).or_else(|| b.rfind(", "))?;
    let (b, rest) = b.split_at(end);
    // `Are both A and B silent films` says it of both, too.
    let rest = if rest.contains("both") || rest.contains("same") {
        rest.to_owned()
    } else {
        format!("both{rest}")
    };
    compared([a, b], role, &format!("{opens} {}", rest.trim()))
}

fn compared(sides: [&str; 2], role: Option<String>, rest: &str) -> Option<Comparison> {
    let things = sides.map(|side| bare(side).to_owned());
    let rest = rest.replace(',', "");
    let named = |side: &String| side.chars().any(|c| c.is_uppercase() || c.is_ascii_digit());
    things.iter().all(named).then_some(Comparison { things, role, rest })
}

/// A side without `the film` or `director of` before it and without a comma after it.
fn bare(side: &str) -> &str {
    let mut side = side.trim().trim_end_matches(',');
    if let Some((_, thing)) = side.split_once(" of ").filter(|(role, _)| is_role(role)) {
        side = thing;
    }
    let mut rest = side;
    while let Some((word, after)) = rest.split_once(' ') {
        let small = word.chars().all(|c| c.is_lowercase() || c == ',');
        if !small || after.is_empty() {
            break;
        }
        rest = after;
    }
    if rest.chars().any(char::is_uppercase) { rest } else { side }
}

fn is_role(phrase: &str) -> bool {
    let last = phrase.rsplit(' ').next().unwrap_or(phrase);
    phrase.split(' ').count() < 4 && leads(last) == Some(Leads::Person)
}

/// The role before the sides, `the directors of both films`, and the sides.
fn opened(after: &str) -> (Option<String>, &str) {
    let role = after.split_once(" of ").filter(|(phrase, _)| is_role(phrase));
    let Some((phrase, sides)) = role else { return (None, after) };
    let noun = phrase.rsplit(' ').next().unwrap_or(phrase);
    let one = noun.strip_suffix('s').filter(|one| leads(one).is_some()).unwrap_or(noun);
    (Some(one.to_owned()), sides)
}

/// `… A and director of film B …`
fn twice(sides: &str) -> Option<(&str, &str)> {
    let ands = sides.match_indices(" and ");
    let mut found = ands.map(|(at, word)| (&sides[..at], &sides[at + word.len()..]));
    found.find(|(_, b)| b.split_once(" of ").is_some_and(|(phrase, _)| is_role(phrase)))
}

/// Where the words in lower case begin that end the text.
fn lower_tail(text: &str) -> Option<usize> {
    let mut end = text.len();
    for word in text.rsplit(' ') {
        if word.starts_with(|c: char| !c.is_lowercase()) || end < word.len() + 1 {
            break;
        }
        end -= word.len() + 1;
    }
    (end < text.len() && end > 0).then_some(end)
}
