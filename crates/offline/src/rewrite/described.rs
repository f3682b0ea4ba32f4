//! What a question asks for, where its answer is not known.

/// What a question asks for, as a phrase: `the wife of X` for `Who is the wife of X?`
pub(super) fn described(question: &str) -> String {
    let text = question.trim().trim_end_matches(['?', '.', ' ']);
    let (asking, rest) = text.split_once(' ').unwrap_or((text, ""));
    let noun = rest.split_once(' ');
    match (asking, noun) {
        ("Who" | "What", Some(("is" | "was" | "are" | "were", phrase))) => phrase.to_owned(),
        ("Who", _) => format!("the person who {rest}"),
        ("Which" | "What", Some((noun, rest))) => format!("the {noun} that {rest}"),
        ("Where", _) => format!("the place where {}", turned(rest)),
        ("When", _) => format!("the time when {}", turned(rest)),
        // `In which city was X born?`
        (preposition, Some(("which", rest))) => match rest.split_once(' ') {
            Some((noun, rest)) => {
                format!("the {noun} {} which {}", preposition.to_lowercase(), turned(rest))
            }
            None => "it".to_owned(),
        },
        _ => "it".to_owned(),
    }
}

/// `X was born` for `was X born`: the verb goes behind the subject, which is taken to end before
/// the last word.
fn turned(clause: &str) -> String {
    let words: Vec<&str> = clause.split(' ').collect();
    match words.as_slice() {
        [verb, subject @ .., last] if ["is", "was", "are", "were"].contains(verb) => {
            if subject.is_empty() {
                return format!("{last} {verb}");
            }
            format!("{} {verb} {last}", subject.join(" "))
        }
        [verb, rest @ ..] if ["did", "does", "do"].contains(verb) => rest.join(" "),
        _ => clause.to_owned(),
    }
}
