//! Comparisons: two things of which the same is asked, and what it is.
mod attribute;
mod either;
mod same;
mod shared;

use self::attribute::attribute;
use super::super::lexicon::Lexicon;
use super::Step;

/// A question about two things side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// As the question names them.
    pub(crate) things: [String; 2],
    /// What is compared belongs to something of the thing: `director`.
    pub(crate) role: Option<String>,
    /// The question without its sides.
    pub(crate) rest: String,
}

/// The comparison that a question makes; `None` where it makes none.
pub(crate) fn comparison(question: &str) -> Option<Comparison> {
    let text = question.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches(['?', '.', ' ', '!']);
    let found = either::of(text).or_else(|| same::of(text))?;
    let named = |thing: &String| {
        let words = thing.split_whitespace().count();
        (1..=14).contains(&words) && thing.chars().any(char::is_alphanumeric)
    };
    let apart = found.things[0].to_lowercase() != found.things[1].to_lowercase();
    if !apart || !found.things.iter().all(named) {
        return None;
    }
    let role = found.role.or_else(|| attribute::role(&found.rest));
    Some(Comparison { role, ..found })
}

impl Comparison {
    /// What is asked of each side: its name and the question for one.
    pub(crate) fn asks(&self, thing: &str, lexicon: &Lexicon) -> (String, String) {
        attribute(&self.rest, thing, lexicon)
    }
}

/// The look-ups of a comparison; none where the question makes none.
pub(super) fn steps(question: &str, lexicon: &Lexicon) -> Vec<Step> {
    let step = |question: String, stands_for: String| Step { question, stands_for };
    let Some(found) = comparison(question) else {
        return shared::steps(question, lexicon);
    };
    let Some(role) = &found.role else {
        let ask = |thing: &String| step(found.asks(thing, lexicon).1, String::new());
        return found.things.iter().map(ask).collect();
    };
    let phrase = |thing: &String| format!("the {role} of {thing}");
    let first =
        found.things.iter().map(|thing| step(format!("Who is {}?", phrase(thing)), phrase(thing)));
    let then = ["#1", "#2"].map(|thing| step(found.asks(thing, lexicon).1, String::new()));
    first.chain(then).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(question: &str) -> Vec<String> {
        let steps = steps(question, &Lexicon::new());
        steps.into_iter().map(|step| step.question).collect()
    }

    #[test]
    fn of_two_sides_the_same_is_asked() {
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
            assert_eq!(asked(question), expected, "{question}");
        }
    }

    #[test]
    fn what_belongs_to_a_side_is_looked_up_first() {
        let expected = [
            "Who is the director of Low Tide?",
            "Who is the director of High Noon Mill?",
            "When was #1 born?",
            "When was #2 born?",
        ];
        let older = "Which film has the director who is older, Low Tide or High Noon Mill?";
        assert_eq!(asked(older), expected);
        let expected = [
            "Who is the composer of Low Tide?",
            "Who is the composer of High Noon Mill?",
            "Which country is #1 from?",
            "Which country is #2 from?",
        ];
        let same =
            "Are the composers of both songs Low Tide and High Noon Mill from the same country?";
        assert_eq!(asked(same), expected);
        let same = "Are composer of song Low Tide and composer of song High Noon Mill from the \
                    same country?";
        assert_eq!(asked(same), expected);
    }

    #[test]
    fn what_two_things_have_in_common_is_asked_of_each() {
        assert_eq!(
            asked("Which actor starred in both Low Tide and High Noon Mill?"),
            ["Which actor starred in Low Tide?", "Which actor starred in High Noon Mill?"]
        );
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
            assert!(asked(question).is_empty(), "{question}");
        }
    }
}
