//! What a question asks for, where its answer is not known.

/// What a question asks for, as a phrase: `the wife of X` for `Who is the wife of X?`
pub(super) fn described(question: &str) -> String {
    let text = question.trim().trim_end_matches(['?', '.', ' ']);
    for lead in ["Who is ", "Who was ", "What is ", "What was ", "Who are ", "Who were "] {
        if let Some(phrase) = text.strip_prefix(lead) {
            return phrase.to_owned();
        }
    }
    if let Some(rest) = text.strip_prefix("Who ") {
        return format!("the person who {rest}");
    }
    for lead in ["Which ", "What "] {
        if let Some((noun, rest)) = text.strip_prefix(lead).and_then(|rest| rest.split_once(' ')) {
            return format!("the {noun} that {rest}");
        }
    }
    let in_which = text.split_once(' ').and_then(|(preposition, rest)| {
        let (noun, rest) = rest.strip_prefix("which ")?.split_once(' ')?;
        Some(format!("the {noun} {} which {}", preposition.to_lowercase(), turned(rest)))
    });
    let placed = || Some(format!("the place where {}", turned(text.strip_prefix("Where ")?)));
    let dated = || Some(format!("the time when {}", turned(text.strip_prefix("When ")?)));
    in_which.or_else(placed).or_else(dated).unwrap_or_else(|| "it".to_owned())
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
