//! Halves from a plain sentence by rules: `Orla Finch built the lift of Oldbridge.` is a clue to
//! Orla Finch and a question about Oldbridge. What the rules do not understand they leave alone.
use halma_core::text::{NameKind, Value, Words, name_runs, names};

use super::checks::holds;
use super::statement_verbs::{is_auxiliary, is_participle, is_verb};

/// A sentence as who or what, and what is said of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    pub(super) subject: String,
    /// From the verb on, without the full stop and without what follows a semicolon or `which`.
    pub(super) rest: String,
}

/// The fewest and most words that say enough and not too much.
const WORDS: std::ops::RangeInclusive<usize> = 3..=24;

/// Words that point to another sentence, so that the sentence cannot be understood alone.
const POINTING: &[&str] =
    &["him", "it", "later", "so", "such", "them", "there", "these", "this", "those", "too"];

/// The longest insertion after the subject, in bytes: `, a boy of nine from Oldbridge,`.
const INSERTION: usize = 80;

impl Statement {
    /// `None` unless the sentence begins with a name and its verb follows.
    pub(super) fn parse(sentence: &str) -> Option<Self> {
        let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
        let bare = sentence.strip_suffix('.')?;
        let bare = bare.strip_prefix("The ").unwrap_or(bare);
        let words = Words::new(bare);
        let run = name_runs(&words).into_iter().next().filter(|run| run.start == 0)?;
        let subject = words.slice(&run).to_owned();
        let after = past_insertion(&bare[subject.len()..]);
        let rest = cut(after.strip_prefix(' ')?).to_owned();
        let verb = rest.split(' ').next().is_some_and(is_verb);
        let points = rest.split(' ').any(|word| POINTING.contains(&word.trim_end_matches(',')));
        let fits = verb && !points && WORDS.contains(&rest.split(' ').count());
        fits.then_some(Self { subject, rest })
    }

    /// The question whose answer is the subject.
    pub(super) fn for_subject(&self, kind: Option<&str>) -> String {
        match kind {
            Some("person" | "human") => format!("Who {}?", self.rest),
            Some(kind) => format!("Which {kind} {}?", self.rest),
            None => format!("Who or what {}?", self.rest),
        }
    }

    /// The subject, told by what is said of it.
    pub(super) fn phrase(&self, kind: Option<&str>) -> String {
        match kind {
            Some(kind @ ("person" | "human")) => format!("the {kind} who {}", self.rest),
            kind => format!("the {} that {}", kind.unwrap_or("one"), self.rest),
        }
    }

    /// A question about the subject, with its answer: when something was done, or how many of
    /// something there are.
    pub(super) fn about_subject(&self) -> Option<(String, String)> {
        self.when().or_else(|| self.how_many())
    }

    /// `was restored in 1954` → `When was … restored?`
    fn when(&self) -> Option<(String, String)> {
        let (auxiliary, said) = self.rest.split_once(' ')?;
        let participle = said.split(' ').next()?;
        if !["is", "was", "were"].contains(&auxiliary) || !is_participle(participle) {
            return None;
        }
        let date =
            |kind: &NameKind| matches!(kind, NameKind::Value(Value::Date(_) | Value::Year(_)));
        let found = names(said);
        let last = found.iter().rfind(|name| date(&name.kind) && name.range.end == said.len())?;
        let before = said[..last.range.start].trim_end();
        let done = before.strip_suffix(" in").or_else(|| before.strip_suffix(" on"))?;
        let question = format!("When {auxiliary} {} {done}?", self.subject);
        Some((question, said[last.range.clone()].to_owned()))
    }

    /// `has made 72 flights` → `How many flights has … made?`
    fn how_many(&self) -> Option<(String, String)> {
        let words: Vec<&str> = self.rest.split(' ').collect();
        let (auxiliary, rest) = words.split_first()?;
        if !is_auxiliary(auxiliary) || !auxiliary.starts_with("ha") {
            return None;
        }
        let (done, rest) = match rest.split_first() {
            Some((done, rest)) if is_participle(done) => (format!(" {done}"), rest),
            _ => (String::new(), rest),
        };
        let (number, counted) = rest.split_first()?;
        let digits = number.chars().all(|c| c.is_ascii_digit() || c == ',');
        let plain = |word: &&str| word.chars().all(char::is_alphabetic);
        if !digits || !(1..=3).contains(&counted.len()) || !counted.iter().all(plain) {
            return None;
        }
        let counted = counted.join(" ");
        let question = format!("How many {counted} {auxiliary} {}{done}?", self.subject);
        Some((question, (*number).to_owned()))
    }

    /// Whether the sentence says something about this name without beginning with it.
    pub(super) fn is_about(&self, name: &str) -> bool {
        holds(&self.rest, name) && !holds(&self.subject, name)
    }
}

/// What follows `, …,` or ` (…)` at the beginning, where there is one.
fn past_insertion(text: &str) -> &str {
    let (open, close) = if text.starts_with(", ") { (2, ", ") } else { (2, ") ") };
    if !text.starts_with(", ") && !text.starts_with(" (") {
        return text;
    }
    match text[open..].find(close).filter(|length| *length < INSERTION) {
        // The blank before the verb stays.
        Some(length) => &text[open + length + close.len() - 1..],
        None => text,
    }
}

/// Without the clauses that add something else.
fn cut(rest: &str) -> &str {
    const ENDS: &[&str] = &["; ", ": ", ", which ", ", who ", ", where ", ", but ", ", and "];
    let end = ENDS.iter().filter_map(|end| rest.find(end)).min();
    &rest[..end.unwrap_or(rest.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(sentence: &str) -> Statement {
        Statement::parse(sentence).unwrap()
    }

    #[test]
    fn the_subject_is_told_by_what_it_did() {
        let built = statement(
            "Orla Finch, a smith from Saxby, built the first lift of Oldbridge, which burned.",
        );
        assert_eq!(built.subject, "Orla Finch");
        assert_eq!(built.for_subject(Some("person")), "Who built the first lift of Oldbridge?");
        assert_eq!(built.phrase(None), "the one that built the first lift of Oldbridge");
        assert!(built.is_about("Oldbridge") && !built.is_about("Orla Finch"));
        let lies = statement("The Tarr (a river) lies north of the old town.");
        assert_eq!(lies.for_subject(Some("river")), "Which river lies north of the old town?");
    }

    #[test]
    fn dates_and_numbers_are_asked_for() {
        let rebuilt = statement("Gull House was restored by the town in March 1954.");
        assert_eq!(
            rebuilt.about_subject(),
            Some(("When was Gull House restored by the town?".into(), "March 1954".into()))
        );
        let made = statement("Ferry Gull has made 72 crossings.");
        assert_eq!(
            made.about_subject(),
            Some(("How many crossings has Ferry Gull made?".into(), "72".into()))
        );
        assert_eq!(statement("Gull House was a home of the poor.").about_subject(), None);
    }

    #[test]
    fn what_is_no_plain_sentence_is_left_alone() {
        for sentence in [
            "He built the first lift of Oldbridge.",
            "In 1954 Gull House was restored by the town.",
            "Orla Finch of the Board of Works in the town.",
            "Orla Finch built it.",
            "Orla Finch painted it for the town hall.",
            "Did Orla Finch build the first lift?",
            "",
        ] {
            assert_eq!(Statement::parse(sentence), None, "{sentence}");
        }
    }
}
