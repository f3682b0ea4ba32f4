//! Comparisons of two things by an attribute.
mod attribute;
mod both;
mod either;

use self::attribute::{Attribute, attribute};
use super::Step;
use crate::lexicon::Lexicon;

/// What a comparison asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ComparisonKind {
    /// One of the two.
    Either,
    /// Whether something holds for both.
    Both,
}

/// A question about two things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// As the question names them.
    pub(crate) things: [String; 2],
    pub(crate) kind: ComparisonKind,
    /// The role of the person who is compared, where it is not the thing itself: `director`.
    pub(crate) role: Option<String>,
    /// The question without its sides.
    pub(crate) rest: String,
}

/// The comparison in a question, if there is one.
pub(crate) fn comparison(question: &str, lexicon: &Lexicon) -> Option<Comparison> {
    let text = question.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches(['?', '.', ' ', '!']);
    let comparison = either::parse(text, lexicon).or_else(|| both::parse(text, lexicon))?;
    let named = |thing: &String| {
        let words = thing.split_whitespace().count();
        (1..=14).contains(&words) && thing.chars().any(char::is_alphanumeric)
    };
    let differ = comparison.things[0].to_lowercase() != comparison.things[1].to_lowercase();
    if !differ || !comparison.things.iter().all(named) {
        return None;
    }
    let role = comparison.role.or_else(|| attribute::role(&comparison.rest));
    Some(Comparison { role, ..comparison })
}

impl Comparison {
    /// What is compared, with the question about one thing.
    pub(crate) fn attribute(&self, thing: &str, lexicon: &Lexicon) -> Attribute {
        attribute(&self.rest, thing, lexicon)
    }
}

/// The look-ups of a comparison; none for any other question.
pub(super) fn steps(question: &str, lexicon: &Lexicon) -> Vec<Step> {
    let step = |question: String, stands_for: String| Step { question, stands_for };
    let Some(comparison) = comparison(question, lexicon) else {
        return vec![];
    };
    let Some(role) = &comparison.role else {
        let ask =
            |thing: &String| step(comparison.attribute(thing, lexicon).question, String::new());
        return comparison.things.iter().map(ask).collect();
    };
    let phrase = |thing: &String| format!("the {role} of {thing}");
    let first = comparison
        .things
        .iter()
        .map(|thing| step(format!("Who is {}?", phrase(thing)), phrase(thing)));
    let then = ["#1", "#2"]
        .map(|thing| step(comparison.attribute(thing, lexicon).question, String::new()));
    first.chain(then).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions(question: &str) -> Vec<String> {
        let steps = steps(question, &Lexicon::new());
        steps.into_iter().map(|step| step.question).collect()
    }

    #[test]
    fn of_two_sides_the_same_is_questions() {
        for (question, expected) in [
            (
                "Who is older, Mara Quill or Orla Finch?",
                ["When was Mara Quill born?", "When was Orla Finch born?"],
            ),
            (
                "Was Mara Quill or Orla Finch born first?",
                ["When was Mara Quill born?", "When was Orla Finch born?"],
            ),
            (
                "Who died earlier out of Mara Quill and Orla Finch?",
                ["When did Mara Quill die?", "When did Orla Finch die?"],
            ),
            (
                "Which film, Low Tide or High Noon Mill, was released first?",
                ["When was Low Tide released?", "When was High Noon Mill released?"],
            ),
            (
                "Are Mara Quill and Orla Finch of the same nationality?",
                ["What nationality is Mara Quill?", "What nationality is Orla Finch?"],
            ),
            (
                "Are both towns, Lower Saxby and Varn, located in the same country?",
                ["In which country is Lower Saxby?", "In which country is Varn?"],
            ),
            (
                "Are Low Tide and High Noon Mill both silent films?",
                ["Is Low Tide a silent film?", "Is High Noon Mill a silent film?"],
            ),
            (
                "Which town has more inhabitants, Varn or Lower Saxby?",
                [
                    "How many inhabitants does Varn have?",
                    "How many inhabitants does Lower Saxby have?",
                ],
            ),
            (
                "Which is deeper, Lake Varn or Lake Oller?",
                ["How deep is Lake Varn?", "How deep is Lake Oller?"],
            ),
        ] {
            assert_eq!(questions(question), expected, "{question}");
        }
    }

    #[test]
    fn the_role_is_looked_up_first() {
        let expected = [
            "Who is the director of Low Tide?",
            "Who is the director of High Noon Mill?",
            "When was #1 born?",
            "When was #2 born?",
        ];
        let older = "Which film has the older director, Low Tide or High Noon Mill?";
        assert_eq!(questions(older), expected);
        let expected = [
            "Who is the composer of Low Tide?",
            "Who is the composer of High Noon Mill?",
            "Which country is #1 from?",
            "Which country is #2 from?",
        ];
        let same =
            "Are the composers of both songs Low Tide and High Noon Mill from the same country?";
        assert_eq!(questions(same), expected);
    }

    #[test]
    fn other_questions_have_no_sides() {
        for question in [
            "Who painted Low Tide?",
            "Did he leave or stay?",
            "Is it so?",
            "Or what?",
            "and or both",
            "Which is older, or or?",
            "",
        ] {
            assert!(questions(question).is_empty(), "{question}");
        }
    }
}
