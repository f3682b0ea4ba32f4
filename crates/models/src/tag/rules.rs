//! Entities without a model: what looks like a name, a title, a date or a number, with its kind
//! where a word in it or next to it says so. For English, and for names in any language written with
//! capitals.
use std::ops::Range;

use async_trait::async_trait;
use halma_core::text::{Name, NameKind, Value, names, sentences, split_words};
use halma_core::{LlmError, Marked, Mention, Tagger, mentions};
use serde::Deserialize;

/// Scores: a title or a date is hardly anything else, a word within a name tells more than one
/// next to it, and a capital alone tells the least.
const SURE: f32 = 0.9;
const LIKELY: f32 = 0.8;
const BY_CONTEXT: f32 = 0.6;
const CAPITAL: f32 = 0.5;

/// Before a number.
const CURRENCIES: &[char] = &['$', '€', '£', '¥'];

/// The built-in tagger.
pub struct Rules(Cues);

/// The words of `cues.toml`, which says what each list is for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cues {
    titles: Vec<String>,
    callings: Vec<String>,
    deeds: Vec<String>,
    born: Vec<String>,
    place_ends: Vec<String>,
    place_starts: Vec<String>,
    place_before: Vec<String>,
    organisations: Vec<String>,
    events: Vec<String>,
    works: Vec<String>,
    units: Vec<String>,
}

impl Default for Rules {
    fn default() -> Self {
        let cues = toml::from_str(include_str!("cues.toml"));
        Self(cues.expect("the lists are a part of the program"))
    }
}

#[async_trait]
impl Tagger for Rules {
    fn name(&self) -> &'static str {
        "rules"
    }

    async fn entities(&self, text: &str) -> Result<Vec<Mention>, LlmError> {
        let starts: Vec<usize> = sentences(text).into_iter().map(|range| range.start).collect();
        let marked = names(text).into_iter().filter_map(|name| self.0.mark(text, &starts, name));
        Ok(mentions(text, marked.collect()))
    }
}

impl Cues {
    fn mark(&self, text: &str, starts: &[usize], Name { range, kind }: Name) -> Option<Marked> {
        let (range, kind, score) = match kind {
            // What is quoted in lower case is a phrase and no title.
            NameKind::Quoted if !text[range.clone()].contains(char::is_uppercase) => return None,
            NameKind::Quoted => (range, "work", LIKELY),
            NameKind::Name if is_quoted(text, &range) => (range, "work", LIKELY),
            NameKind::Value(Value::Date(_) | Value::Year(_)) => (range, "date", SURE),
            NameKind::Value(Value::Number(_)) => {
                let range = self.with_unit(text, range)?;
                (range, "number", SURE)
            }
            NameKind::Name => {
                let range = self.with_title(text, starts, range);
                let (kind, score) = self.kind(&Around::read(text, starts, &range));
                (range, kind, score)
            }
        };
        Some(Marked { range, kind: kind.to_owned(), score })
    }

    /// A number with its currency or unit; none for a word that only stands for a number, such as the
    /// `Two` of `Two men`.
    fn with_unit(&self, text: &str, range: Range<usize>) -> Option<Range<usize>> {
        let start = match text[..range.start].chars().next_back() {
            Some(sign) if CURRENCIES.contains(&sign) => range.start - sign.len_utf8(),
            _ => range.start,
        };
        let rest = &text[range.end..];
        let following = rest.strip_prefix([' ', '-', '\u{a0}']).unwrap_or(rest);
        let fits = |unit: &&String| {
            let head = following.get(..unit.len());
            let ends = |at: usize| !following[at..].starts_with(char::is_alphanumeric);
            head.is_some_and(|head| head.eq_ignore_ascii_case(unit) && ends(unit.len()))
        };
        let unit = self.units.iter().filter(fits).max_by_key(|unit| unit.len());
        let end = unit.map_or(range.end, |unit| text.len() - following.len() + unit.len());
        let counted = end > range.end || start < range.start;
        let digits = text[range].starts_with(|c: char| c.is_ascii_digit());
        (digits || counted).then_some(start..end)
    }

    /// A name with the title before it, which at the head of a sentence may have been taken for an
    /// ordinary word.
    fn with_title(&self, text: &str, starts: &[usize], range: Range<usize>) -> Range<usize> {
        let around = Around::read(text, starts, &range);
        let title = around.before.as_ref().filter(|(word, _)| {
            holds(&self.titles, &word.to_lowercase()) && word.starts_with(char::is_uppercase)
        });
        title.map_or(range.clone(), |(_, start)| *start..range.end)
    }

    fn kind(&self, around: &Around<'_>) -> (&'static str, f32) {
        let (first, last) = (around.words.first(), around.words.last());
        let is =
            |word: Option<&String>, cues: &[String]| word.is_some_and(|word| holds(cues, word));
        let any = |cues: &[String]| around.words.iter().any(|word| holds(cues, word));
        let several = around.words.len() > 1;
        // What it is called tells first, and of that the kinds that other kinds' words occur in.
        if several && any(&self.events) {
            return ("event", LIKELY);
        }
        if several && is(first, &self.titles) {
            return ("person", SURE);
        }
        if several && any(&self.organisations) {
            return ("organisation", LIKELY);
        }
        if several && (is(last, &self.place_ends) || is(first, &self.place_starts)) {
            return ("place", LIKELY);
        }
        self.kind_by_context(around)
    }

    /// The kind that the words around a name suggest.
    fn kind_by_context(&self, around: &Around<'_>) -> (&'static str, f32) {
        let before = around.before.map(|(word, _)| word.to_lowercase()).unwrap_or_default();
        let [following, second] = &around.following;
        let being = ["was", "is", "were", "had", "has"].contains(&following.as_str());
        let person = holds(&self.callings, &before)
            || holds(&self.deeds, following)
            || following == "born"
            || (being && holds(&self.born, second));
        if person {
            return ("person", BY_CONTEXT);
        }
        if holds(&self.works, &before) {
            return ("work", BY_CONTEXT);
        }
        if holds(&self.place_before, &before) {
            return ("place", BY_CONTEXT);
        }
        ("name", CAPITAL)
    }
}

/// A name with the words around it.
struct Around<'t> {
    /// Its words, in lower case.
    words: Vec<String>,
    /// The word before it in its sentence, and where that begins.
    before: Option<(&'t str, usize)>,
    /// The two words after it in its sentence, in lower case.
    following: [String; 2],
}

impl<'t> Around<'t> {
    fn read(text: &'t str, starts: &[usize], range: &Range<usize>) -> Self {
        let next = starts.partition_point(|start| *start <= range.start);
        let start = next.checked_sub(1).map_or(0, |at| starts[at]);
        let end = starts.get(next).copied().unwrap_or(text.len()).max(range.end);
        let lower = |word: Range<usize>, of: &str| of[word].to_lowercase();
        let named = &text[range.clone()];
        let words = split_words(named).into_iter().map(|word| lower(word, named)).collect();
        let head = &text[start..range.start];
        let before = split_words(head).pop().filter(|word| {
            // Not across a comma or a bracket.
            head[word.end..].chars().all(|c| c.is_whitespace() || c == '.' || c == '"')
        });
        let before = before.map(|word| (&head[word.clone()], start + word.start));
        let tail = &text[range.end..end];
        let mut following = split_words(tail).into_iter().map(|word| lower(word, tail));
        let following =
            [following.next().unwrap_or_default(), following.next().unwrap_or_default()];
        Self { words, before, following }
    }
}

/// Whether a name is all that stands between two quotation marks.
fn is_quoted(text: &str, range: &Range<usize>) -> bool {
    text[..range.start].ends_with(['"', '“']) && text[range.end..].starts_with(['"', '”'])
}

fn holds(cues: &[String], word: &str) -> bool {
    cues.iter().any(|cue| cue == word)
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
