//! Questions that end with what is asked: `X starred in a series that was shown on what station?`
use super::super::lexicon::Lexicon;
use super::super::verbs::{Form, Verbs};
use super::Step;
use super::nouns::{is_noun, phrase_start};
use super::scan::verb;
use super::tokens::{Token, said};

const ASKING: &[&str] = &["what", "which", "who", "whom", "when", "where", "how", "whose"];

/// Whether something is asked within the words: `of what city`, and not `the city which …`.
pub(super) fn asks(tokens: &[Token], verbs: &Verbs) -> bool {
    (0..tokens.len()).any(|at| {
        let word = tokens[at].lower.as_str();
        let last = at + 1 == tokens.len();
        let verbal = |token: &Token| {
            verbs.form(&token.lower).is_some_and(|form| form != Form::Base && form != Form::Going)
        };
        let noun = |token: &Token| token.names() || (is_noun(token) && !verbal(token));
        let relative = at > 0 && noun(&tokens[at - 1]);
        match word {
            "what" | "how" => true,
            "which" => at > 0 && !relative && !last && is_noun(&tokens[at + 1]),
            "who" | "whom" | "when" | "where" => last,
            _ => false,
        }
    })
}

/// The first question, whose answer is a thing without a name, and what is asked of that thing,
/// which takes the place of its first word. `None` where the question begins with what it asks.
pub(super) fn parted(tokens: &[Token], lexicon: &Lexicon) -> Option<(Step, String)> {
    let opens = tokens.first()?.lower.as_str();
    if ASKING.contains(&opens) || verb(tokens, 0, false, &lexicon.verbs).is_some() {
        return None;
    }
    if tokens.get(1).is_some_and(|second| ASKING.contains(&second.lower.as_str())) {
        return None;
    }
    (3..tokens.len()).rev().find_map(|at| cut(tokens, at, lexicon))
}

/// The two halves around a relative word or a participle at `at`.
fn cut(tokens: &[Token], at: usize, lexicon: &Lexicon) -> Option<(Step, String)> {
    let word = tokens[at].lower.as_str();
    let head = at - 1;
    if !is_noun(&tokens[head])
        || tokens[head].after.contains(['?', '.'])
        || !asks(&tokens[at + 1..], &lexicon.verbs)
    {
        return None;
    }
    let rest = match word {
        "who" | "that" | "which" => format!("#1 {}", said(&tokens[at + 1..])),
        "whose" => format!("#1's {}", said(&tokens[at + 1..])),
        _ if verb(tokens, at, false, &lexicon.verbs) == Some(Form::Done) => {
            format!("#1 was {}", said(&tokens[at..]))
        }
        _ => return None,
    };
    let start = phrase_start(tokens, head, &lexicon.verbs)?;
    let article = ["the", "a", "an"].contains(&tokens[start].lower.as_str());
    // `X is a painter who …` says of X itself what follows.
    let before = start.checked_sub(1).map(|i| tokens[i].lower.as_str())?;
    let told =
        ["is", "was", "are", "were"].contains(&before) || asks(&tokens[..start], &lexicon.verbs);
    let says = (0..start).any(|i| verb(tokens, i, false, &lexicon.verbs).is_some());
    if !article || told || !says {
        return None;
    }
    let noun = said(&tokens[start + 1..=head]);
    let lead = said(&tokens[..start]);
    let question = format!("{lead} which {noun}?");
    let first = Step { question, stands_for: format!("the {noun} that {lead}") };
    Some((first, format!("{}?", rest.trim_end_matches(['?', '.', ' ']))))
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn the_thing_without_a_name_is_asked_for_first() {
        let lexicon = Lexicon::new();
        let parts = |text: &str| parted(&tokens(text, &lexicon), &lexicon);
        for (question, first, then) in [
            (
                "Mara Quill starred in a series that was shown on what station?",
                "Mara Quill starred in which series?",
                "#1 was shown on what station?",
            ),
            (
                "Low Tide hangs in a museum built in what year?",
                "Low Tide hangs in which museum?",
                "#1 was built in what year?",
            ),
            (
                "The mill belonged to a Danish smith whose father was who?",
                "The mill belonged to which Danish smith?",
                "#1's father was who?",
            ),
        ] {
            let (found, rest) = parts(question).unwrap();
            assert_eq!((found.question.as_str(), rest.as_str()), (first, then));
        }
        for question in [
            "Mara Quill is a painter who was born in what town?",
            "Who painted the picture that hangs in Varn?",
            "In what town was the painter who knew Quill born?",
        ] {
            assert_eq!(parts(question), None, "{question}");
        }
    }
}
