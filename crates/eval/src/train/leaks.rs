//! What is held out of the training data: by a hash of the question, so that it never depends on the
//! order of the file or on what else is in it; and whether a training question gives a held-out one
//! away, by its words or by what it is about.
use std::collections::{HashMap, HashSet};

use halma_core::text::{NameKind, names, normalise_name, words};

use crate::data::DataSet;

/// A name in more than this share of the held-out questions is common knowledge: a country, say.
const COMMON_SHARE: usize = 100;
/// A name in fewer questions than this is never common.
const COMMON_LEAST: usize = 5;

/// A share in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share(pub u8);

impl Share {
    /// Whether a question is held out. Its words count, not its id: a question that comes twice is
    /// on one side.
    pub fn holds_out(self, question: &str) -> bool {
        let hash = blake3::hash(worded(question).as_bytes());
        let number = u16::from_le_bytes([hash.as_bytes()[0], hash.as_bytes()[1]]);
        number % 100 < u16::from(self.0)
    }
}

/// A question in the form by which questions are compared: its words, without case and accents.
pub(super) fn worded(question: &str) -> String {
    words(&normalise_name(question)).join(" ")
}

/// What is done with a training question that shares a name with a held-out one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnEntities {
    /// It is counted and kept.
    #[default]
    Report,
    Drop,
}

/// The questions that a model will be measured on.
#[derive(Debug, Clone, Default)]
pub struct HeldOut {
    questions: HashSet<String>,
    entities: HashSet<String>,
}

/// What is shared with a held-out question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leak {
    Question,
    Entity(String),
}

impl HeldOut {
    pub fn new(data: &DataSet) -> Self {
        Self::of(data.items.iter().map(|item| (item.question.text.as_str(), &item.answers[..])))
    }

    /// Of questions, each with its answers.
    pub(super) fn of<'a>(questions: impl Iterator<Item = (&'a str, &'a [String])>) -> Self {
        let mut counts: HashMap<String, usize> = HashMap::new();
        let (mut held_out, mut number) = (HashSet::new(), 0);
        for (question, answers) in questions {
            number += 1;
            held_out.insert(worded(question));
            for entity in entities(question, answers) {
                *counts.entry(entity).or_default() += 1;
            }
        }
        let common = COMMON_LEAST.max(number / COMMON_SHARE);
        let entities = counts.into_iter().filter(|(_, count)| *count < common);
        Self { questions: held_out, entities: entities.map(|(entity, _)| entity).collect() }
    }

    pub(super) fn leak(&self, question: &str, answers: &[String]) -> Option<Leak> {
        if self.questions.contains(&worded(question)) {
            return Some(Leak::Question);
        }
        let shared = entities(question, answers).into_iter();
        // The first by name, so that a report is the same every time.
        shared.filter(|entity| self.entities.contains(entity)).min().map(Leak::Entity)
    }
}

/// The names in a question, and its answers where they are names.
fn entities(question: &str, answers: &[String]) -> HashSet<String> {
    let named = names(question).into_iter();
    let named = named.filter(|name| !matches!(name.kind, NameKind::Value(_)));
    let named = named.map(|name| normalise_name(&question[name.range]));
    let answers = answers.iter().map(|answer| normalise_name(answer));
    let name = |text: &String| {
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        letters > 2 && !matches!(text.as_str(), "yes" | "true" | "false")
    };
    named.chain(answers).filter(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Format, Item};
    use crate::metrics::{Metric, Profile};

    fn held_out(questions: &[(&str, &str)]) -> HeldOut {
        let item = |(text, answer): &(&str, &str)| Item::new("q", *text, [(*answer).to_owned()]);
        HeldOut::new(&DataSet {
            name: "held".into(),
            format: Format::USER,
            metric: Metric::Span(Profile::Squad),
            items: questions.iter().map(item).collect(),
            refused: vec![],
        })
    }

    #[test]
    fn questions_leak_by_their_words_and_by_their_names() {
        let held_out = held_out(&[
            ("Who built the Varn Lighthouse?", "Ilse Thorn"),
            ("Was the ferry late?", "yes"),
        ]);
        let leak = |question: &str, answer: &str| held_out.leak(question, &[answer.to_owned()]);
        assert_eq!(leak("who built the varn lighthouse", "x"), Some(Leak::Question));
        let shared = Some(Leak::Entity("varn lighthouse".into()));
        assert_eq!(leak("When did the Varn Lighthouse open?", "1911"), shared);
        assert_eq!(leak("Who is the best?", "Ilse Thorn"), Some(Leak::Entity("ilse thorn".into())));
        assert_eq!(leak("Was the bus late?", "yes"), None);
    }

    #[test]
    fn a_name_that_everyone_uses_gives_nothing_away() {
        let many: Vec<(String, String)> = (0..6)
            .map(|n| (format!("Which river of Norway is number {n}?"), format!("River {n}")))
            .collect();
        let many: Vec<(&str, &str)> = many.iter().map(|(q, a)| (q.as_str(), a.as_str())).collect();
        let held_out = held_out(&many);
        assert_eq!(held_out.leak("What is the capital of Norway?", &["Oslo".into()]), None);
    }

    #[test]
    fn about_the_share_is_held_out_whatever_the_order() {
        let count = |share: u8| {
            (0..1_000).filter(|n| Share(share).holds_out(&format!("Who is number {n}?"))).count()
        };
        assert_eq!((count(0), count(100)), (0, 1_000));
        assert!((150..250).contains(&count(20)), "{}", count(20));
        let same = Share(50);
        assert_eq!(same.holds_out("Who is  André?"), same.holds_out("who is andre"));
    }
}
