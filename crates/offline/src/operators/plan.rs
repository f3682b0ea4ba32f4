//! Task `plan`: a question as steps of `Search` and `Relate`, from the chain of simpler questions that the
//! rules make of it.
//!
//! Each question of the chain is a search for the thing that it names, unless an earlier leaf has
//! found it, and a relation of that thing. A comparison needs no step of its own: the question is
//! concluded from the look-ups of both sides.
use std::ops::Range;

use serde::Serialize;
use serde_json::json;

use super::relation::{content, relation};
use crate::decompose::chain;
use crate::decompose::sides::comparison;
use crate::decompose::tokens::{Tag, Token, join, tokens};
use crate::input::QuestionInput;
use crate::lexicon::Lexicon;
use crate::references::references;

pub(crate) fn reply(lexicon: &Lexicon, input: &QuestionInput) -> String {
    let question = input.question.text.trim();
    let sides = comparison(question, lexicon)
        .map(|comparison| comparison.things.to_vec())
        .unwrap_or_default();
    let mut planner = Planner { lexicon, sides, leaves: vec![], answers: vec![] };
    for step in chain(question, lexicon) {
        let answer = planner.add_step(&step.question);
        planner.answers.push(answer);
    }
    if planner.leaves.is_empty() {
        planner.add(question, "search", vec![question.to_owned()]);
    }
    json!({ "steps": planner.leaves }).to_string()
}

/// A step of the plan.
#[derive(Debug, PartialEq, Serialize)]
struct Leaf {
    question: String,
    operator: &'static str,
    arguments: Vec<String>,
}

struct Planner<'a> {
    lexicon: &'a Lexicon,
    /// The things that a comparison names; each is one name, with or without capitals.
    sides: Vec<String>,
    leaves: Vec<Leaf>,
    /// The number of the leaf that answers each question of the chain.
    answers: Vec<usize>,
}

/// The first reference number for the sides of a comparison: more than a chain has questions.
const FIRST_SIDE: usize = 101;

impl Planner<'_> {
    /// Adds the leaves of a question; the number of the one that answers it.
    fn add_step(&mut self, question: &str) -> usize {
        let tokens = tokens(&self.mark_sides(question), self.lexicon);
        let mut renumbered = self.renumber(&tokens);
        if tokens.iter().filter(|token| token.tag == Tag::Reference).count() > 1 {
            return self.add(&join(&renumbered), "reason", vec![]);
        }
        let first = |tag: Tag| tokens.iter().position(|token| token.tag == tag);
        let Some(at) = first(Tag::Reference).or_else(|| first(Tag::Name)) else {
            let words = content(tokens.iter());
            let words = if words.is_empty() { join(&tokens) } else { words };
            return self.add(&join(&tokens), "search", vec![words]);
        };
        let kind = kind(&tokens, at);
        let subject = self.subject(&tokens[at], &join(&tokens[kind.clone()]));
        renumbered[at].text = format!("#{subject}");
        renumbered.drain(kind.clone());
        let relation = relation(&tokens, |k: &usize| *k != at && !kind.contains(k));
        let is_place =
            self.leaves[subject - 1].arguments[1..].iter().any(|one| one.starts_with("place of"));
        if relation.is_empty() || relation == "location" && is_place {
            // `Who is X?` asks only for X, `Where was the place of X?` only for the place.
            return subject;
        }
        self.add(&join(&renumbered), "relate", vec![format!("#{subject}"), relation])
    }

    /// The tokens with the references of the chain as references of the plan.
    fn renumber(&self, tokens: &[Token]) -> Vec<Token> {
        let mut tokens = tokens.to_vec();
        for token in tokens.iter_mut().filter(|token| token.tag == Tag::Reference) {
            let leaf = number(&token.text).checked_sub(1).and_then(|k| self.answers.get(k));
            token.text = leaf.map_or_else(|| "it".to_owned(), |leaf| format!("#{leaf}"));
        }
        tokens
    }

    /// The question with `#101` and `#102` for the sides of the comparison.
    fn mark_sides(&self, question: &str) -> String {
        let mut question = question.to_owned();
        for (k, side) in self.sides.iter().enumerate() {
            question = question.replacen(side.as_str(), &format!("#{}", FIRST_SIDE + k), 1);
        }
        question
    }

    /// The number of the leaf that finds the subject; `kind` is the noun before its name, if any.
    fn subject(&mut self, token: &Token, kind: &str) -> usize {
        let number = number(&token.text);
        if let Some(answer) = number.checked_sub(1).and_then(|k| self.answers.get(k)) {
            return *answer;
        }
        let side = number.checked_sub(FIRST_SIDE).and_then(|k| self.sides.get(k));
        let name = side.unwrap_or(&token.text).trim_matches(['"', '“', '”', ' ']).to_owned();
        let question = format!("Who or what is {name}");
        let kind = Some(kind.to_owned()).filter(|kind| !kind.is_empty());
        let arguments: Vec<String> = std::iter::once(name).chain(kind).collect();
        let is_it = |leaf: &Leaf| leaf.operator == "search" && leaf.arguments == arguments;
        match self.leaves.iter().position(is_it) {
            Some(earlier) => earlier + 1,
            None => self.add(&question, "search", arguments),
        }
    }

    /// Adds a leaf; its number, from 1.
    fn add(&mut self, question: &str, operator: &'static str, arguments: Vec<String>) -> usize {
        let question = format!("{}?", question.trim_end_matches(['?', '.', ' ']));
        self.leaves.push(Leaf { question, operator, arguments });
        self.leaves.len()
    }
}

/// The number of a reference, 0 for other text.
fn number(text: &str) -> usize {
    references(text).first().map_or(0, |reference| reference.number)
}

/// The words before a name that describe its kind: `the FILM Low Tide`, `director of SONG Olm`.
fn kind(tokens: &[Token], name: usize) -> Range<usize> {
    let describes = |at: usize| {
        let token = &tokens[at];
        token.tag == Tag::Word && token.after == " " && !content([token].into_iter()).is_empty()
    };
    let first = (0..name).rev().take_while(|at| describes(*at)).last().unwrap_or(name);
    let leads = ["the", "of", "both", "by"];
    let led = first.checked_sub(1).is_some_and(|before| leads.contains(&&*tokens[before].lower));
    if led && name - first <= 3 { first..name } else { name..name }
}

#[cfg(test)]
mod tests {
    use halma_core::Question;
    use serde_json::Value;

    use super::*;

    fn planned(question: &str) -> Vec<Value> {
        let input = QuestionInput { question: Question::new(question) };
        let plan: Value = serde_json::from_str(&reply(&Lexicon::new(), &input)).unwrap();
        plan["steps"].as_array().unwrap().clone()
    }

    /// `Relate(#1, director)` for each step.
    fn calls(question: &str) -> Vec<String> {
        let call = |step: Value| {
            let arguments: Vec<String> = serde_json::from_value(step["arguments"].clone()).unwrap();
            format!("{}({})", step["operator"].as_str().unwrap(), arguments.join(", "))
        };
        planned(question).into_iter().map(call).collect()
    }

    #[test]
    fn a_chain_is_a_search_and_relations() {
        assert_eq!(
            calls("Where was the director of the film Low Tide born?"),
            ["search(Low Tide, film)", "relate(#1, director)", "relate(#2, place of birth)"]
        );
        let plan = planned("Where was the director of the film Low Tide born?");
        assert_eq!(plan[2]["question"], "Where was #2 born?");
        assert_eq!(
            calls("How many children did Mara Quill have?"),
            ["search(Mara Quill)", "relate(#1, number of children)"]
        );
    }

    #[test]
    fn a_comparison_has_two_branches() {
        assert_eq!(
            calls("Which lake is deeper, Lake Varn or Lake Oller?"),
            ["search(Lake Varn)", "relate(#1, depth)", "search(Lake Oller)", "relate(#3, depth)",]
        );
        assert_eq!(
            calls("Which film has the older director, Low Tide or High Noon Mill?"),
            [
                "search(Low Tide)",
                "relate(#1, director)",
                "search(High Noon Mill)",
                "relate(#3, director)",
                "relate(#2, date of birth)",
                "relate(#4, date of birth)",
            ]
        );
    }

    #[test]
    fn every_question_has_a_plan() {
        assert_eq!(calls("Who is Mara Quill?"), ["search(Mara Quill)"]);
        for question in ["?", "Why?", "#1 #2 #9?", "a \"b\" [3] or Mara's?", "Or Low Tide or what"]
        {
            assert!(!calls(question).is_empty(), "{question}");
        }
    }
}
