//! Descriptions by a relative clause: `the country where X is located`, `the person who made X`, `the
//! county X lies in`.
use super::Description;
use super::grammar::{is_noun, phrase_start, verb_form};
use super::tokens::{Token, join};
use crate::lexicon::Lexicon;
use crate::lists::{Leads, is_listed, leads};
use crate::verbs::Form;

const PRONOUNS: &[&str] = &["where", "who", "whom", "whose", "which", "that", "when"];

/// What the pronoun stands for in its clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// `the city where X was born`, `the county in which X lies`
    Place,
    /// `the person who made X`
    Subject,
    /// `the club that X played for`, `the country X is from`
    Object,
}

/// The phrase with a relative clause whose noun stands at `at`.
pub(super) fn relative(tokens: &[Token], at: usize, lexicon: &Lexicon) -> Option<Description> {
    let noun = tokens.get(at).filter(|noun| is_noun(noun) && !noun.breaks())?;
    if noun.is_possessive() || verb_form(tokens, at, &lexicon.verbs).is_some() {
        return None;
    }
    let start = phrase_start(tokens, at, &lexicon.verbs)?;
    if tokens[start].lower != "the" || start == at {
        return None;
    }
    let (role, from) = role(tokens, at + 1, lexicon)?;
    let end = clause_end(tokens, from, role, lexicon)?;
    let clause = &tokens[from..end];
    let nested = clause.iter().any(|token| PRONOUNS.contains(&token.lower.as_str()));
    if nested || !clause.iter().any(Token::names) {
        return None;
    }
    // `the country X is from`: without a pronoun only the preposition tells it from `the band X is …`.
    let ends_open = clause.last().is_some_and(|last| is_listed("prepositions", &last.lower));
    if role == Role::Object && from == at + 1 && !ends_open {
        return None;
    }
    let kind = join(&tokens[start + 1..=at]);
    let (clause, person) = (join(clause), is_person(&noun.lower));
    let question = match role {
        Role::Subject if person => format!("Who {clause}?"),
        Role::Subject => format!("Which {kind} {clause}?"),
        Role::Place => format!("{clause} in which {kind}?"),
        Role::Object => format!("{clause} which {kind}?"),
    };
    Some(Description { text: join(&tokens[start..end]), words: start..end, question })
}

fn is_person(noun: &str) -> bool {
    leads(noun) == Some(Leads::Person)
        || ["person", "man", "woman"]
            .iter()
            .any(|person| *person == noun && is_listed("anaphoric", noun))
}

/// What the clause that begins at `at` says of the noun before it, and where its words begin.
fn role(tokens: &[Token], at: usize, lexicon: &Lexicon) -> Option<(Role, usize)> {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let is_verb = |at: usize| {
        let form = verb_form(tokens, at, &lexicon.verbs);
        form.is_some_and(|form| !matches!(form, Form::Base | Form::Going))
    };
    match word(at) {
        "where" => Some((Role::Place, at + 1)),
        "in" | "at" | "on" if word(at + 1) == "which" => Some((Role::Place, at + 2)),
        "who" | "that" | "which" if is_verb(at + 1) => Some((Role::Subject, at + 1)),
        "that" | "which" | "whom" => Some((Role::Object, at + 1)),
        _ if tokens.get(at).is_some_and(Token::names) && is_verb(at + 1) => {
            Some((Role::Object, at))
        }
        _ => None,
    }
}

/// The end of a clause: after its verb, before the next verb, a comma, or the end of the question.
fn clause_end(tokens: &[Token], from: usize, role: Role, lexicon: &Lexicon) -> Option<usize> {
    let form = |at: usize| verb_form(tokens, at, &lexicon.verbs);
    let breaks = |at: usize| tokens[at].breaks();
    let verb = match role {
        Role::Subject => from,
        Role::Place | Role::Object => {
            // What stands before the verb is its subject, and cut off by nothing.
            let verb = (from + 1..tokens.len()).find(|&at| form(at).is_some())?;
            if (from..verb).any(breaks) {
                return None;
            }
            verb
        }
    };
    let mut at = verb;
    if form(verb) == Some(Form::Auxiliary) {
        while !breaks(at)
            && at + 1 < tokens.len()
            && matches!(form(at + 1), Some(Form::Auxiliary | Form::Done | Form::Going))
        {
            at += 1;
        }
    }
    while !breaks(at) && at + 1 < tokens.len() && form(at + 1).is_none() {
        at += 1;
    }
    Some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::super::chain;
    use super::*;

    fn questions(question: &str) -> Vec<String> {
        chain(question, &Lexicon::new()).into_iter().map(|step| step.question).collect()
    }

    #[test]
    fn a_clause_is_asked_for_first() {
        for (question, expected) in [
            (
                "When did the state where Low Mill is located become part of the union?",
                ["Low Mill is located in which state?", "When did #1 become part of the union?"],
            ),
            (
                "What county borders the county in which Varn lies?",
                ["Varn lies in which county?", "What county borders #1?"],
            ),
            (
                "In which city is the company that makes Oller based?",
                ["Which company makes Oller?", "In which city is #1 based?"],
            ),
            (
                "Where was the person who founded Low Mill born?",
                ["Who founded Low Mill?", "Where was #1 born?"],
            ),
            (
                "Who was in charge of the country Varn is located in?",
                ["Varn is located in which country?", "Who was in charge of #1?"],
            ),
            (
                "What mountains lie in the country that Mara Quill is from?",
                ["Mara Quill is from which country?", "What mountains lie in #1?"],
            ),
        ] {
            assert_eq!(questions(question), expected, "{question}");
        }
    }

    #[test]
    fn inner_descriptions_come_first() {
        assert_eq!(
            questions("What is the capital of the country where the painter of Low Tide was born?"),
            [
                "Who is the painter of Low Tide?",
                "#1 was born in which country?",
                "What is the capital of #2?"
            ]
        );
    }

    #[test]
    fn other_questions_stay_whole() {
        for question in [
            "Who is the painter who made Low Tide?",
            "Which is the town where Mara Quill was born?",
            "What did the man who left say?",
            "Is it the mill that burnt?",
        ] {
            assert_eq!(questions(question), [question]);
        }
    }
}
