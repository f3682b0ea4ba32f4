//! Questions of a plan with their answers, and the answers put where the plan refers to them.
use std::collections::HashMap;
use std::sync::Arc;

use halma_core::text::words;
use halma_core::{AnswerText, Citation, Entity};
use serde::{Deserialize, Serialize};

use super::plan::{Call, Plan, Step};
use crate::shared::references::{references, replace};

/// A question with its answers; none where they are unknown.
#[derive(Debug, Clone, Default)]
pub(super) struct Solved {
    /// As it was asked.
    pub(super) question: String,
    /// A sentence.
    pub(super) answer: String,
    pub(super) answers: Vec<String>,
    /// What the answers rest on.
    pub(super) citations: Vec<Citation>,
    /// Those entities of the graph that the answers name: two of one label are two.
    pub(super) entities: Vec<Entity>,
}

/// What a question and its answers are to a prompt.
#[derive(Debug, Serialize)]
pub(super) struct Exchange<'a> {
    question: &'a str,
    answer: &'a str,
    answers: &'a [String],
    /// Answers that are not listed.
    more: usize,
}

/// A reply with answers: how they follow, a sentence, and a list, which is empty where nothing
/// answers.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct AnswerReply {
    #[serde(default)]
    pub(super) rationale: String,
    #[serde(default)]
    pub(super) answer: String,
    pub(super) answers: Vec<AnswerText>,
}

/// A thing that an operator is called with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Thing {
    pub(super) name: String,
    /// As the graph knows it, where an earlier answer tells.
    pub(super) entities: Vec<Entity>,
}

/// The answers so far, by the places of their nodes.
#[derive(Clone, Copy)]
pub(super) struct KnownAnswers<'a> {
    pub(super) plan: &'a Plan,
    pub(super) solved: &'a [Option<Arc<Solved>>],
    /// The most answers that a text lists.
    pub(super) shown: usize,
}

impl Solved {
    pub(super) fn unknown(question: impl Into<String>) -> Self {
        Self { question: question.into(), ..Self::default() }
    }

    pub(super) fn is_known(&self) -> bool {
        !self.answers.is_empty()
    }

    pub(super) fn exchange(&self, shown: usize) -> Exchange<'_> {
        let Self { question, answer, answers, .. } = self;
        let listed = &answers[..answers.len().min(shown)];
        Exchange { question, answer, answers: listed, more: answers.len() - listed.len() }
    }
}

impl AnswerReply {
    /// The sentence, or how the answers follow where there is none.
    pub(super) fn sentence(&self) -> String {
        let sentence = self.answer.trim();
        if sentence.is_empty() { self.rationale.trim() } else { sentence }.to_owned()
    }

    /// The answers without blanks and repeats.
    pub(super) fn list(&self) -> Vec<String> {
        let mut list: Vec<String> = vec![];
        for AnswerText(one) in &self.answers {
            let one = one.trim();
            if !one.is_empty() && !list.iter().any(|earlier| earlier == one) {
                list.push(one.to_owned());
            }
        }
        list
    }
}

impl<'a> KnownAnswers<'a> {
    pub(super) fn at(&self, place: usize) -> Option<&'a Solved> {
        self.solved.get(place).and_then(Option::as_deref)
    }

    /// Whether every answer that a text refers to is there. A Search that found nothing leaves the
    /// name that it was for: what cannot be found by its name may be found by what it is related to.
    pub(super) fn settles(&self, text: &str) -> bool {
        let places =
            Plan::references(text).into_iter().filter_map(|number| self.plan.place(number));
        places.into_iter().all(|place| {
            let is_known = self.at(place).is_some_and(Solved::is_known);
            is_known || self.searched(place).is_some_and(|name| self.settles(name))
        })
    }

    fn searched(&self, place: usize) -> Option<&'a str> {
        match &self.plan.nodes[place].step {
            Step::Call(Call::Search { name, .. }) => Some(name),
            _ => None,
        }
    }

    /// A text with all answers put where it refers to them; in the place of an answer that there
    /// is none of stands the question, in brackets, or the name that was searched for.
    pub(super) fn together(&self, text: &str) -> String {
        self.replaced(text, |place| self.listed(place))
    }

    /// One text for each choice among the answers that it refers to, at most `most`, and how many
    /// more there would be.
    pub(super) fn each(&self, text: &str, limit: usize) -> (Vec<String>, usize) {
        let mut places: Vec<usize> = Plan::references(text)
            .into_iter()
            .filter_map(|number| self.plan.place(number))
            .collect();
        places.retain(|place| self.at(*place).is_some_and(Solved::is_known));
        let mut choices: Vec<Vec<&str>> = vec![vec![]];
        let mut all: usize = 1;
        for place in &places {
            let answers = self.at(*place).map_or(&[][..], |solved| &solved.answers);
            all = all.saturating_mul(answers.len());
            let next = choices.iter().flat_map(|before| {
                answers.iter().map(|one| [before.as_slice(), &[one.as_str()]].concat())
            });
            choices = next.take(limit.max(1)).collect();
        }
        let text = |chosen: &Vec<&str>| {
            self.replaced(text, |place| match places.iter().position(|at| *at == place) {
                Some(at) => chosen[at].to_owned(),
                None => self.listed(place),
            })
        };
        let texts: Vec<String> = choices.iter().map(text).collect();
        let left_out = all - texts.len();
        (texts, left_out)
    }

    /// The things that an argument names: a reference alone stands for all answers of its node.
    pub(super) fn things(&self, argument: &str, limit: usize) -> (Vec<Thing>, usize) {
        let alone = references(argument.trim())
            .first()
            .filter(|one| one.range == (0..argument.trim().len()))
            .and_then(|one| self.plan.place(one.number()?))
            .and_then(|place| self.at(place));
        let Some(solved) = alone.filter(|solved| solved.is_known()) else {
            let (names, left_out) = self.each(argument, limit);
            let thing = |name| Thing { name, entities: vec![] };
            return (names.into_iter().map(thing).collect(), left_out);
        };
        let mut by_name: HashMap<Vec<String>, Vec<Entity>> = HashMap::new();
        for entity in &solved.entities {
            by_name.entry(words(&entity.label)).or_default().push(entity.clone());
        }
        let thing = |name: &String| Thing {
            name: name.clone(),
            entities: by_name.get(&words(name)).cloned().unwrap_or_default(),
        };
        let things: Vec<Thing> = solved.answers.iter().take(limit).map(thing).collect();
        let left_out = solved.answers.len() - things.len();
        (things, left_out)
    }

    /// The questions and answers of a node's parts; in the place of a part without an answer those
    /// of its own parts that have one.
    pub(super) fn below(&self, place: usize) -> Vec<&'a Solved> {
        let Step::Inner(parts) = &self.plan.nodes[place].step else { return vec![] };
        let mut below = vec![];
        for part in parts {
            let solved = self.at(*part);
            if !solved.is_some_and(Solved::is_known) {
                below.extend(self.below(*part).into_iter().filter(|solved| solved.is_known()));
            }
            below.extend(solved);
        }
        below
    }

    fn listed(&self, place: usize) -> String {
        match self.at(place).filter(|solved| solved.is_known()) {
            None => match self.searched(place) {
                Some(name) => self.together(name),
                None => format!("({})", self.together(&self.plan.nodes[place].question)),
            },
            Some(Solved { answers, .. }) => listed(answers, self.shown),
        }
    }

    fn replaced(&self, text: &str, by: impl Fn(usize) -> String) -> String {
        replace(text, |_, reference| {
            let bracket = text[reference.range.clone()].starts_with('#');
            let place = reference.number().filter(|_| bracket).and_then(|n| self.plan.place(n));
            place.map(&by)
        })
    }
}

/// Answers as a text names them, at most `shown`.
pub(super) fn listed(answers: &[String], shown: usize) -> String {
    match answers.len().saturating_sub(shown) {
        0 => answers.join(", "),
        more => format!("{} and {more} more", answers[..shown].join(", ")),
    }
}

/// The entities that a name stands for.
pub(super) fn labelled<'e>(
    entities: &'e [Entity],
    name: &str,
) -> impl Iterator<Item = &'e Entity> + use<'e> {
    let name = words(name);
    entities.iter().filter(move |entity| words(&entity.label) == name)
}
