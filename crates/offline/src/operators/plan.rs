//! Task `plan`: a question as a flat tree of `Search`, `Relate` and `Filter`, from the chain of
//! simpler questions that the rules make of it.
//!
//! Each question of the chain is a search for what it names, if nothing before has found it, and a
//! relation of that; what it says with a date or a number after `of NAME` is a filter. A comparison
//! needs no node of its own: the root is concluded from what was looked up of its sides.
use std::ops::Range;

use serde_json::{Map, Value, json};

use super::relation::{content, relation};
use crate::decompose::chain;
use crate::decompose::sides::comparison;
use crate::decompose::tokens::{Tag, Token, join, tokens};
use crate::input::QuestionInput;
use crate::lexicon::Lexicon;
use crate::references::references;
use crate::verbs::Form;

pub(crate) fn reply(lexicon: &Lexicon, input: &QuestionInput) -> String {
    let question = input.question.text.trim();
    let sides =
        comparison(question, lexicon).map(|found| found.things.to_vec()).unwrap_or_default();
    let mut leaves = Leaves { lexicon, sides, found: vec![], answers: vec![] };
    for step in chain(question, lexicon) {
        let answer = leaves.step(&step.question);
        leaves.answers.push(answer);
    }
    let mut plan = Map::new();
    match leaves.found.as_slice() {
        [] => plan.insert(question.to_owned(), json!(call("Search", &[question]))),
        [only] => plan.insert(question.to_owned(), json!(only.call)),
        several => {
            let key = |(at, leaf): (usize, &Leaf)| format!("{}. {}", at + 1, leaf.question);
            let keys: Vec<String> = several.iter().enumerate().map(key).collect();
            plan.insert(question.to_owned(), json!(keys));
            for (key, leaf) in keys.into_iter().zip(several) {
                plan.insert(key, json!(leaf.call));
            }
            None
        }
    };
    Value::Object(plan).to_string()
}

/// A question of the plan with its operator.
struct Leaf {
    question: String,
    call: String,
}

struct Leaves<'a> {
    lexicon: &'a Lexicon,
    /// The things that a comparison names; their names are taken whole, capitals or none.
    sides: Vec<String>,
    found: Vec<Leaf>,
    /// The number of the leaf that answers each question of the chain.
    answers: Vec<usize>,
}

impl Leaves<'_> {
    /// The number of the leaf that answers the question.
    fn step(&mut self, question: &str) -> usize {
        let tokens = tokens(&self.without_sides(question), self.lexicon);
        let mut asked = self.pointed(&tokens);
        if tokens.iter().filter(|token| token.tag == Tag::Reference).count() > 1 {
            return self.add(&asked, "[END]".to_owned());
        }
        let of = |tag: Tag| tokens.iter().position(|token| token.tag == tag);
        let Some(at) = of(Tag::Reference).or_else(|| of(Tag::Name)) else {
            return self.described(&tokens);
        };
        let kind = kind(&tokens, at);
        let head = self.head(&tokens[at], &join(&tokens[kind.clone()]));
        asked[at].text = format!("[{head}]");
        asked.drain(kind.clone());
        if let Some((noun, condition)) = self.filtered(&tokens, at) {
            let noun = join(&tokens[noun]);
            let list = self.leaf(format!("Which {noun} of [{head}]?"), relate(head, &noun));
            return self.filter(list, &tokens[condition]);
        }
        let about = |k: &usize| *k != at && !kind.contains(k);
        let relation = relation(&tokens, about);
        let place = relation == "location" && self.found[head - 1].call.contains("\"place of");
        if relation.is_empty() || place {
            // `Who is X?` asks for no more than X, `Where was the place of X?` for no more than it.
            return head;
        }
        self.add(&asked, relate(head, &relation))
    }

    /// The tokens with each reference of the chain as that of the plan.
    fn pointed(&self, tokens: &[Token]) -> Vec<Token> {
        let mut tokens = tokens.to_vec();
        for token in tokens.iter_mut().filter(|token| token.tag == Tag::Reference) {
            let number = references(&token.text).first().map_or(0, |one| one.number);
            let leaf = number.checked_sub(1).and_then(|k| self.answers.get(k));
            token.text = leaf.map_or_else(|| "it".to_owned(), |leaf| format!("[{leaf}]"));
        }
        tokens
    }

    /// The question with `#101` and `#102` for the sides of the comparison.
    fn without_sides(&self, question: &str) -> String {
        let mut question = question.to_owned();
        for (k, side) in self.sides.iter().enumerate() {
            question = question.replacen(side.as_str(), &format!("#{}", SIDES + k), 1);
        }
        question
    }

    /// The leaf that finds what a token stands for; `kind` is what the question calls it.
    fn head(&mut self, token: &Token, kind: &str) -> usize {
        let number = references(&token.text).first().map_or(0, |one| one.number);
        if let Some(known) = number.checked_sub(1).and_then(|k| self.answers.get(k)) {
            return *known;
        }
        let side = number.checked_sub(SIDES).and_then(|k| self.sides.get(k));
        let name = side.unwrap_or(&token.text).trim_matches(['"', '“', '”', ' ']).to_owned();
        let arguments = [name.as_str(), kind];
        let search = call("Search", &arguments[..=usize::from(!kind.is_empty())]);
        let before = self.found.iter().position(|leaf| leaf.call == search);
        before.map_or_else(
            || self.leaf(format!("Who or what is {name}?"), search),
            |before| before + 1,
        )
    }

    /// A question that names nothing: `Which poets were born in 1955?` filters poets, others are
    /// searched for in their words.
    fn described(&mut self, tokens: &[Token]) -> usize {
        let asks = tokens.first().is_some_and(|first| ASKS.contains(&first.lower.as_str()));
        let verb = (1..tokens.len()).find(|at| self.is_verb(&tokens[*at]));
        let chooses = tokens.iter().any(|token| token.lower == "or");
        let filters = |verb: &usize| asks && !chooses && *verb > 1 && numbered(&tokens[*verb..]);
        if let Some(verb) = verb.filter(filters) {
            let noun = join(&tokens[1..verb]);
            let all = self.leaf(format!("Which {noun}?"), call("Search", &[&noun]));
            return self.filter(all, &tokens[verb..]);
        }
        let words = content(tokens.iter());
        let words = if words.is_empty() { join(tokens) } else { words };
        self.add(tokens, call("Search", &[&words]))
    }

    /// `Which PUPILS of X were BORN AFTER 1900?`
    fn filtered(&self, tokens: &[Token], subject: usize) -> Option<(Range<usize>, Range<usize>)> {
        let asks = ASKS.contains(&tokens[0].lower.as_str());
        let of = subject.checked_sub(1).filter(|of| tokens[*of].lower == "of" && *of > 1)?;
        let rest = subject + 1..tokens.len();
        let verb = tokens.get(rest.start).is_some_and(|token| self.is_verb(token));
        (asks && verb && numbered(&tokens[rest.clone()])).then_some((1..of, rest))
    }

    fn filter(&mut self, list: usize, clause: &[Token]) -> usize {
        let auxiliary = ["is", "are", "was", "were"].contains(&clause[0].lower.as_str());
        let condition = join(&clause[usize::from(auxiliary)..]);
        let condition = condition.trim_end_matches(['?', '.', ' ']);
        let question = join(clause);
        let meets = call("Filter", &[&format!("[{list}]"), condition]);
        self.leaf(
            format!("Which of [{list}] {}?", question.trim_end_matches(['?', '.', ' '])),
            meets,
        )
    }

    fn is_verb(&self, token: &Token) -> bool {
        let form = self.lexicon.verbs.form(&token.lower);
        token.tag == Tag::Word && form.is_some_and(|form| form != Form::Base && form != Form::Going)
    }

    fn add(&mut self, tokens: &[Token], call: String) -> usize {
        let question = join(tokens);
        self.leaf(format!("{}?", question.trim_end_matches(['?', '.', ' '])), call)
    }

    fn leaf(&mut self, question: String, call: String) -> usize {
        self.found.push(Leaf { question, call });
        self.found.len()
    }
}

/// The first number for the sides of a comparison: more than a chain has questions.
const SIDES: usize = 101;

/// The words before a name that say what it is: `the FILM Low Tide`, `director of SONG Olm`.
fn kind(tokens: &[Token], name: usize) -> Range<usize> {
    let said = |at: usize| {
        let token = &tokens[at];
        token.tag == Tag::Word && token.after == " " && !content([token].into_iter()).is_empty()
    };
    let first = (0..name).rev().take_while(|at| said(*at)).last().unwrap_or(name);
    let led = first.checked_sub(1).is_some_and(|before| LEADS.contains(&&*tokens[before].lower));
    if led && name - first <= 3 { first..name } else { name..name }
}

/// Words that a kind may follow.
const LEADS: [&str; 4] = ["the", "of", "both", "by"];

/// Words after which a plural noun can stand that is filtered.
const ASKS: [&str; 3] = ["which", "what", "whose"];

/// Whether a clause says something with a number that a thing can be held to: at least two words.
fn numbered(clause: &[Token]) -> bool {
    clause.len() > 1 && clause.iter().any(|token| token.tag == Tag::Number)
}

fn relate(head: usize, relation: &str) -> String {
    call("Relate", &[&format!("[{head}]"), relation])
}

/// A call as plans write it: references without quotes.
fn call(operator: &str, arguments: &[&str]) -> String {
    let written = |text: &&str| {
        let reference = references(text).first().is_some_and(|one| one.bytes == (0..text.len()));
        if reference { (*text).to_owned() } else { format!("\"{}\"", text.replace('"', "'")) }
    };
    let arguments: Vec<String> = arguments.iter().map(written).collect();
    format!("{operator}({})", arguments.join(", "))
}

#[cfg(test)]
mod tests {
    use halma_core::Question;

    use super::*;

    fn planned(question: &str) -> Vec<(String, String)> {
        let input = QuestionInput { question: Question::new(question) };
        let plan: Value = serde_json::from_str(&reply(&Lexicon::new(), &input)).unwrap();
        let plan = plan.as_object().unwrap();
        let leaves = plan.iter().filter_map(|(key, value)| Some((key, value.as_str()?)));
        leaves.map(|(key, call)| (key.clone(), call.to_owned())).collect()
    }

    fn calls(question: &str) -> Vec<String> {
        planned(question).into_iter().map(|(_, call)| call).collect()
    }

    #[test]
    fn a_chain_is_a_search_and_relations() {
        assert_eq!(
            calls("Where was the director of the film Low Tide born?"),
            [
                "Search(\"Low Tide\", \"film\")",
                "Relate([1], \"director\")",
                "Relate([2], \"place of birth\")"
            ]
        );
        let asked = planned("Where was the director of the film Low Tide born?");
        assert_eq!(asked[2].0, "3. Where was [2] born?");
        assert_eq!(
            calls("How many children did Mara Quill have?"),
            ["Search(\"Mara Quill\")", "Relate([1], \"number of children\")"]
        );
    }

    #[test]
    fn a_comparison_has_two_branches() {
        assert_eq!(
            calls("Which lake is deeper, Lake Varn or Lake Oller?"),
            [
                "Search(\"Lake Varn\")",
                "Relate([1], \"depth\")",
                "Search(\"Lake Oller\")",
                "Relate([3], \"depth\")",
            ]
        );
        assert_eq!(
            calls("Which film has the older director, Low Tide or High Noon Mill?"),
            [
                "Search(\"Low Tide\")",
                "Relate([1], \"director\")",
                "Search(\"High Noon Mill\")",
                "Relate([3], \"director\")",
                "Relate([2], \"date of birth\")",
                "Relate([4], \"date of birth\")",
            ]
        );
    }

    #[test]
    fn a_condition_with_a_number_is_a_filter() {
        assert_eq!(
            calls("Which pupils of Mara Quill were born after 1900?"),
            [
                "Search(\"Mara Quill\")",
                "Relate([1], \"pupils\")",
                "Filter([2], \"born after 1900\")",
            ]
        );
        assert_eq!(
            calls("Which poets were born in 1955?"),
            ["Search(\"poets\")", "Filter([1], \"born in 1955\")"]
        );
    }

    #[test]
    fn whatever_is_asked_there_is_a_plan() {
        assert_eq!(calls("Who is Mara Quill?"), ["Search(\"Mara Quill\")"]);
        for question in ["?", "Why?", "#1 #2 #9?", "a \"b\" [3] or Mara's?", "Or Low Tide or what"]
        {
            assert!(!calls(question).is_empty(), "{question}");
        }
    }
}
