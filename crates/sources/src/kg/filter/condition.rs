//! Conditions in English, as far as they are comparisons: `mean radius > 700 km`, `born before
//! 1900`, `located in France`, `is a lighthouse`.
use std::cmp::Ordering;

use halma_core::text::normalise_name;
use halma_core::{FactValue, ValueKind};

use super::units::{converted, unit};
use halma_core::text::dates::Period;

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compare {
    Below,
    AtMost,
    Above,
    AtLeast,
    Same,
}

/// A number with its unit, a time, or both where the words can mean either.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Amount {
    pub(crate) number: Option<f64>,
    pub(crate) unit: String,
    pub(crate) period: Option<Period>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    Amount(Compare, Amount),
    Between(Amount, Amount),
    /// The value is called this.
    Called(String),
    /// The entity is of the class of this name.
    Class(String),
}

/// One way to understand a condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    /// The words for the property; empty for a class.
    pub(crate) property: String,
    pub(crate) test: Test,
}

/// Comparisons in words, the longer before what they begin with. `true`: of times only.
const COMPARISONS: &[(Compare, bool, &[&str])] = &[
    (
        Compare::AtLeast,
        false,
        &["greater than or equal to", "no less than", "not less than", "at least", ">="],
    ),
    (
        Compare::AtMost,
        false,
        &["less than or equal to", "no more than", "not more than", "at most", "up to", "<="],
    ),
    (Compare::Above, false, &["more than", "greater than", "larger than", "bigger than"]),
    (Compare::Above, false, &["higher than", "longer than", "taller than", "wider than"]),
    (Compare::Above, false, &["deeper than", "heavier than", "above", "over", "exceeding"]),
    (Compare::Above, false, &["exceeds", ">"]),
    (Compare::Above, true, &["later than", "after"]),
    (Compare::Below, false, &["less than", "fewer than", "smaller than", "lower than"]),
    (Compare::Below, false, &["shorter than", "lighter than", "below", "under", "<"]),
    (Compare::Below, true, &["earlier than", "prior to", "before"]),
    (Compare::AtLeast, true, &["since"]),
    (Compare::AtMost, true, &["until"]),
    (Compare::Same, false, &["equal to", "exactly", "equals", "=", "is", "was", "of"]),
    (Compare::Same, true, &["during", "in", "on"]),
];

/// What adjectives say of a property that is not named.
const IMPLIED: &[(&str, &str)] = &[
    ("taller", "height"),
    ("heavier", "mass"),
    ("lighter", "mass"),
    ("longer", "length"),
    ("wider", "width"),
    ("deeper", "depth"),
    ("higher", "elevation"),
];

/// A condition with one of these is not one comparison.
const JOINED: &[&str] = &["not", "never", "no", "or", "and", "without", "except", "neither", "nor"];

const MAGNITUDES: &[(&str, f64)] =
    &[("hundred", 1e2), ("thousand", 1e3), ("million", 1e6), ("billion", 1e9), ("trillion", 1e12)];

/// Words before a property that say nothing.
const LEADING: &[&str] = &[
    "a", "an", "are", "had", "has", "have", "having", "is", "that", "the", "was", "were", "which",
    "who", "whose", "with", "it", "its", "they", "of",
];

/// Words after a property that only lead to its value.
const TRAILING: &[&str] =
    &["a", "an", "are", "be", "is", "of", "the", "was", "were", "=", "equals", "to"];

/// The ways to understand a condition, the likeliest first; none where it is not a comparison.
pub(crate) fn readings(condition: &str) -> Vec<Reading> {
    let tokens = tokens(condition);
    let lower: Vec<String> = tokens.iter().map(|token| token.to_lowercase()).collect();
    let words: Vec<&str> = lower.iter().map(String::as_str).collect();
    let mut readings: Vec<Reading> =
        between(&words).or_else(|| compared(&words)).into_iter().collect();
    if !readings.is_empty() {
        return readings;
    }
    if words.is_empty() || words.iter().any(|word| JOINED.contains(word)) {
        return readings;
    }
    readings.extend(class(&words, &tokens));
    // `located in France`: the longest property first, then shorter ones.
    for at in (1..words.len()).rev() {
        let property = property(&words[..at]);
        let value = trimmed(&tokens[at..]);
        if !property.is_empty() && !value.is_empty() {
            readings.push(Reading { property, test: Test::Called(value) });
        }
    }
    readings
}

/// Words and comparison signs; punctuation after a word is left out.
fn tokens(condition: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(condition.len() + 8);
    let signs = condition.replace('≥', ">=").replace('≤', "<=").replace("==", "=");
    let mut chars = signs.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '<' | '>' => {
                spaced.push(' ');
                spaced.push(c);
                spaced.extend(chars.next_if_eq(&'='));
                spaced.push(' ');
            }
            '=' | ':' => spaced.push_str(" = "),
            '"' | '“' | '”' | '(' | ')' => spaced.push(' '),
            c => spaced.push(c),
        }
    }
    let words =
        spaced.split_whitespace().map(|word| word.trim_end_matches([',', '.', '?', '!', ';']));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn property(words: &[&str]) -> String {
    let from = words.iter().take_while(|word| LEADING.contains(word)).count();
    let rest = &words[from..];
    let after = rest.iter().rev().take_while(|word| TRAILING.contains(word)).count();
    rest[..rest.len() - after].join(" ")
}

fn trimmed(tokens: &[String]) -> String {
    let skipped = tokens.iter().take_while(|token| {
        TRAILING.contains(&token.to_lowercase().as_str()) && token.as_str() != "The"
    });
    tokens[skipped.count()..].join(" ")
}

/// `is a lighthouse`, `type is lighthouse`, `are lighthouses`.
fn class(words: &[&str], tokens: &[String]) -> Option<Reading> {
    const NAMED: &[&str] = &["type", "kind", "class", "instance", "example", "sort"];
    let said = words.iter().take_while(|word| {
        LEADING.contains(word) || TRAILING.contains(word) || NAMED.contains(word)
    });
    let from = said.count();
    let told = words[..from].iter().any(|word| {
        NAMED.contains(word) || ["is", "are", "was", "were", "a", "an", "="].contains(word)
    });
    let name = tokens[from..].join(" ");
    (told && !name.is_empty())
        .then_some(Reading { property: String::new(), test: Test::Class(name) })
}

/// `between 1800 and 1900`, `from 5 to 10 km`.
fn between(words: &[&str]) -> Option<Reading> {
    let joined = |at: usize| match words[at] {
        "between" => Some("and"),
        "from" => Some("to"),
        _ => None,
    };
    let at = (0..words.len()).find(|&at| joined(at).is_some())?;
    let (mut low, used) = amount(&words[at + 1..])?;
    let next = at + 1 + used;
    if words.get(next).copied() != joined(at) {
        return None;
    }
    let (high, used) = amount(&words[next + 1..])?;
    if low.unit.is_empty() {
        low.unit.clone_from(&high.unit);
    }
    let property = property_around(words, at, next + 1 + used)?;
    Some(Reading { property, test: Test::Between(low, high) })
}

/// The words before the comparison, or those after the value: `over 700 km in diameter`.
fn property_around(words: &[&str], from: usize, to: usize) -> Option<String> {
    if words[to..].iter().chain(&words[..from]).any(|word| JOINED.contains(word)) {
        return None;
    }
    let before = property(&words[..from]);
    if !before.is_empty() {
        return words[to..].is_empty().then_some(before);
    }
    let rest = &words[to..];
    let leading = rest.iter().take_while(|word| ["in", "of"].contains(word)).count();
    let after = property(&rest[leading..]);
    (!after.is_empty()).then_some(after)
}

fn compared(words: &[&str]) -> Option<Reading> {
    let starts = |at: usize, phrase: &str| {
        let mut said = words[at..].iter();
        phrase.split(' ').all(|word| said.next() == Some(&word))
    };
    for at in 0..words.len() {
        let phrases = COMPARISONS.iter().flat_map(|(compare, of_time, phrases)| {
            phrases.iter().map(move |phrase| (phrase, compare, of_time))
        });
        for (phrase, compare, of_time) in phrases.filter(|(phrase, ..)| starts(at, phrase)) {
            let from = at + phrase.split(' ').count();
            let Some((amount, used)) = amount(&words[from..]) else { continue };
            if *of_time && amount.period.is_none() {
                continue;
            }
            let to = from + used;
            let (compare, to) =
                widened(*compare, &words[to..]).map_or((*compare, to), |c| (c, to + 2));
            let named = property_around(words, at, to);
            let implied = || {
                let adjective = IMPLIED.iter().find(|(adjective, _)| *adjective == words[at])?;
                (to == words.len() && property(&words[..at]).is_empty())
                    .then(|| adjective.1.to_owned())
            };
            let property = named.or_else(implied)?;
            return Some(Reading { property, test: Test::Amount(compare, amount) });
        }
    }
    None
}

/// `700 km or more`.
fn widened(compare: Compare, after: &[&str]) -> Option<Compare> {
    match after {
        ["or", "more" | "later" | "above" | "over", ..] if compare == Compare::Same => {
            Some(Compare::AtLeast)
        }
        ["or", "less" | "fewer" | "earlier" | "below" | "under", ..]
            if compare == Compare::Same =>
        {
            Some(Compare::AtMost)
        }
        _ => None,
    }
}

/// The amount at the beginning of the words, and the number of words it takes.
fn amount(words: &[&str]) -> Option<(Amount, usize)> {
    let skipped = usize::from(words.first().is_some_and(|word| ["a", "an"].contains(word)));
    let words = &words[skipped..];
    let period = Period::parse_prefix(words);
    let first = words.first()?;
    let digits = first.replace(',', "");
    let plain = digits.trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.');
    let attached = &digits[plain.len()..];
    let number = plain.parse::<f64>().ok().filter(|number| number.is_finite());
    let number = number.filter(|_| attached.is_empty() || unit(attached).is_some());
    if let (Some((period, used)), true) =
        (period, number.is_none() || period.is_some_and(|p| p.1 > 1))
    {
        return Some((
            Amount { number: None, unit: String::new(), period: Some(period) },
            skipped + used,
        ));
    }
    let mut number = number?;
    let mut used = 1;
    while let Some((_, times)) =
        words.get(used).and_then(|word| MAGNITUDES.iter().find(|(name, _)| name == word))
    {
        number *= times;
        used += 1;
    }
    let mut said = attached.to_owned();
    let next = words.get(used).filter(|_| said.is_empty());
    // A word after a number is its unit, known or not: `500 employees`, `3 days`.
    if let Some(next) = next.filter(|word| !["in", "of", "or", "and", "to"].contains(word)) {
        (*next).clone_into(&mut said);
        used += 1;
    }
    let period = period.map(|(period, _)| period).filter(|_| said.is_empty() && used == 1);
    Some((Amount { number: Some(number), unit: said, period }, skipped + used))
}

impl Test {
    /// Whether a value passes; `None` where the two cannot be compared.
    pub(crate) fn passes(&self, value: &FactValue) -> Option<bool> {
        match self {
            Self::Amount(compare, amount) => amount.compare(*compare, value),
            Self::Between(low, high) => {
                let above = low.compare(Compare::AtLeast, value)?;
                Some(above && high.compare(Compare::AtMost, value)?)
            }
            Self::Called(name) => Some(normalise_name(&value.text) == normalise_name(name)),
            Self::Class(_) => None,
        }
    }

    /// Whether the words name a time.
    pub(crate) fn of_time(&self) -> bool {
        match self {
            Self::Amount(_, amount) => amount.period.is_some(),
            Self::Between(low, high) => low.period.is_some() && high.period.is_some(),
            Self::Called(_) | Self::Class(_) => false,
        }
    }
}

/// A date as graphs have it: `1886-05-01`, `1886`, but also `1880s` and `44 BC`.
fn period(date: &str) -> Option<Period> {
    let lower = date.to_lowercase();
    let words: Vec<&str> = lower.split(' ').collect();
    let spelled = || Period::parse_prefix(&words).filter(|(_, used)| *used == words.len());
    Period::from_value(date).or_else(|| spelled().map(|(period, _)| period))
}

impl Amount {
    fn compare(&self, compare: Compare, value: &FactValue) -> Option<bool> {
        match value.kind {
            ValueKind::Date => self.in_time(compare, period(&value.text)?),
            ValueKind::Number => {
                let number: f64 = value.text.parse().ok()?;
                let wanted = converted(self.number?, &self.unit, &value.unit)?;
                let order = number.partial_cmp(&wanted)?;
                // Conversions round the last digit.
                let near = (number - wanted).abs() <= wanted.abs() * 1e-9;
                let order = if near { Ordering::Equal } else { order };
                Some(match compare {
                    Compare::Below => order.is_lt(),
                    Compare::AtMost => order.is_le(),
                    Compare::Above => order.is_gt(),
                    Compare::AtLeast => order.is_ge(),
                    Compare::Same => order.is_eq(),
                })
            }
            ValueKind::Truth | ValueKind::Text => None,
        }
    }

    /// A value that is known less closely than it would have to be does not pass.
    fn in_time(&self, compare: Compare, period: Period) -> Option<bool> {
        let wanted = self.period?;
        Some(match compare {
            Compare::Below => period.last < wanted.first,
            Compare::AtMost => period.last <= wanted.last,
            Compare::Above => period.first > wanted.last,
            Compare::AtLeast => period.first >= wanted.first,
            Compare::Same => period.first >= wanted.first && period.last <= wanted.last,
        })
    }
}
