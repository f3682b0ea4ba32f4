//! The reply of a proposer that was trained to decompose: two tags, as its training pairs have them.
use std::fmt;

/// Whether a question needs another sub-question, and which (PIKE-RAG, Section 6.4). Written and
/// read in one place, so that what a model is trained on is what is parsed when it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextQuestion {
    Ask(String),
    /// No more sub-questions are needed.
    Stop,
}

/// The names of the tags, without hyphens and underscores.
const DECIDES: &str = "decompose";
const ASKS: &str = "subquestion";

/// Bytes of a tag, its brackets aside.
const LONGEST_TAG: usize = 64;

impl NextQuestion {
    /// Reads the tags wherever they stand in a reply; of several decisions the last counts, as
    /// models draft before they decide. What neither decides nor asks is an error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let tags = tags(text);
        let decision = tags.iter().rposition(|tag| tag.name == DECIDES);
        let after = decision.map_or(0, |at| at + 1);
        let question = tags[after..].iter().rev().find(|tag| tag.name == ASKS);
        let more = match decision.map(|at| tags[at].content.to_lowercase()) {
            Some(content) => match content.as_str() {
                "true" | "yes" => true,
                "false" | "no" => return Ok(Self::Stop),
                other => return Err(format!("<decompose> holds `{other}`, not True or False")),
            },
            None => question.is_some(),
        };
        match question.map(|tag| tag.content) {
            Some(question) if !question.is_empty() => Ok(Self::Ask(one_line(question))),
            Some(_) => Err("<sub-question> is empty".into()),
            None if more => {
                Err("after <decompose>True</decompose> a <sub-question> is missing".into())
            }
            None => Err("the reply has no <decompose>True</decompose> or \
                         <decompose>False</decompose>"
                .into()),
        }
    }
}

impl fmt::Display for NextQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ask(question) => write!(
                f,
                "<decompose>True</decompose>\n<sub-question>{}</sub-question>",
                one_line(question)
            ),
            Self::Stop => f.write_str("<decompose>False</decompose>"),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Tag<'a> {
    name: String,
    content: &'a str,
}

/// The opening tags of these two names with what follows each, up to its end, the next tag of
/// either name, or the end of the text.
fn tags(text: &str) -> Vec<Tag<'_>> {
    let mut complete: Vec<Tag<'_>> = vec![];
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once('<') {
        rest = inside;
        let Some(end) = inside.bytes().take(LONGEST_TAG).position(|byte| byte == b'>') else {
            continue;
        };
        let (name, after) = (letters(inside[..end].trim()), &inside[end + 1..]);
        if name == DECIDES || name == ASKS {
            complete.push(Tag { name, content: content(after) });
            rest = after;
        }
    }
    complete
}

fn content(after: &str) -> &str {
    let marks = after.match_indices('<').map(|(at, _)| at);
    let ends = marks.filter(|at| {
        let name = letters(after[at + 1..].trim_start_matches('/'));
        name.starts_with(DECIDES) || name.starts_with(ASKS)
    });
    after[..ends.min().unwrap_or(after.len())].trim()
}

/// The first characters of a tag in lower case, one more than the longest name has, without hyphens,
/// underscores and spaces. A reply may be long, and full of brackets.
fn letters(tag: &str) -> String {
    let letters = tag.chars().filter(|c| !"-_ ".contains(*c)).take(ASKS.len() + 1);
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ask(question: &str) -> NextQuestion {
        NextQuestion::Ask(question.into())
    }

    #[test]
    fn a_long_reply_full_of_brackets_is_read_once() {
        let brackets = "<".repeat(100_000);
        let reply = format!("<decompose>True</decompose><sub-question>Who?{brackets}");
        assert!(matches!(NextQuestion::parse(&reply), Ok(NextQuestion::Ask(_))));
        let hidden = format!("{brackets}>{brackets}<decompose>False</decompose>");
        assert_eq!(NextQuestion::parse(&hidden), Ok(NextQuestion::Stop));
        assert!(NextQuestion::parse(&"<decompose ".repeat(20_000)).is_err());
    }

    #[test]
    fn both_forms_are_read_however_they_are_written() {
        for text in [
            "<decompose>True</decompose>\n<sub-question>Who built it?</sub-question>",
            "Sure: < Decompose > true </decompose><sub_question> Who\nbuilt it? </sub_question> ok",
            "<decompose>Yes<subquestion>Who built it?",
            "<sub-question>Who built it?</sub-question>",
            "<decompose>False</decompose> no: <decompose>True</decompose> \
             <sub-question>Who built it?</sub-question>",
        ] {
            assert_eq!(NextQuestion::parse(text), Ok(ask("Who built it?")), "{text}");
        }
        for text in [
            "<decompose>False</decompose>",
            "<decompose>false",
            "<decompose>No</decompose><sub-question>none</sub-question>",
        ] {
            assert_eq!(NextQuestion::parse(text), Ok(NextQuestion::Stop), "{text}");
        }
        let less = "<decompose>True</decompose><sub-question>Is 3 < 4?</sub-question>";
        assert_eq!(NextQuestion::parse(less), Ok(ask("Is 3 < 4?")));
    }

    #[test]
    fn what_decides_nothing_is_an_error() {
        for text in [
            "",
            "Who built it?",
            "<decompose>maybe</decompose>",
            "<decompose>True</decompose>",
            "<decompose>True</decompose><sub-question> </sub-question>",
            "{\"sub_questions\": []}",
        ] {
            assert!(NextQuestion::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(question in "[a-zA-Z][a-zA-Z ?.é,]{0,40}") {
            let next = NextQuestion::Ask(one_line(&question));
            prop_assert_eq!(NextQuestion::parse(&next.to_string()), Ok(next));
        }

        #[test]
        fn no_text_makes_it_panic(text in "(<|>|/|decompose|sub-question|True|é| ){0,14}") {
            let _ = NextQuestion::parse(&text);
        }
    }
}
