//! The relation or attribute of its subject that a question asks for.
use crate::decompose::tokens::{Tag, Token};
use crate::lists::lines;

/// `question word: relation: words that ask for it`.
const QUESTIONS: &str = include_str!("../data/questions.txt");

/// Question words, auxiliaries and determiners, which do not name a relation.
const EMPTY: &[&str] = &[
    "who", "whom", "whose", "what", "which", "when", "where", "why", "how", "is", "are", "was",
    "were", "be", "been", "do", "does", "did", "has", "have", "had", "the", "a", "an", "name",
    "also", "that", "this", "can", "could", "you", "tell", "me", "please",
];

const BINDING: &[&str] = &[
    "of", "in", "on", "at", "by", "to", "for", "from", "with", "as", "into", "and", "or", "it",
    "its", "his", "her", "their",
];

/// The label that a graph uses, where the question has a common form; else the question's own words.
/// `about` selects the tokens outside the subject. Empty where the question asks for the subject
/// itself.
pub(super) fn relation(tokens: &[Token], about: impl Fn(&usize) -> bool) -> String {
    let rest = || (0..tokens.len()).filter(&about).map(|at| &tokens[at]);
    let says = |word: &str| rest().any(|token| token.lower == word);
    let named = |asking: &str| {
        let relations = lines(QUESTIONS).filter(|(word, _)| *word == asking);
        let mut relations = relations.filter_map(|(_, relation)| relation.split_once(": "));
        relations.find(|(_, words)| words.split(' ').any(says)).map(|(name, _)| name.to_owned())
    };
    let words = content(rest());
    // More than a verb is a relation in its own words: `Who wrote the score of X?`
    let plain = words.split_whitespace().count() <= 1;
    let first = tokens.first().map(|token| token.lower.as_str()).unwrap_or_default();
    let label = match first {
        "when" if plain => named("when"),
        "where" if plain => named("where").or_else(|| words.is_empty().then(|| "location".into())),
        "who" | "whom" if plain => named("who"),
        "how" if says("many") => {
            let counted = words.strip_prefix("many ").unwrap_or(&words);
            Some(format!("number of {counted}"))
        }
        "how" if tokens.len() > 2 => named("how"),
        "what" | "which" if says("year") || says("date") => named("when"),
        "in" if says("year") => named("when"),
        "in" | "which" | "what" if says("born") => Some("place of birth".to_owned()),
        _ => None,
    };
    let place = |words: &str| {
        words.strip_suffix(" located").or(words.strip_suffix(" situated")).map(str::to_owned)
    };
    label.or_else(|| place(&words)).unwrap_or(words)
}

/// The content words, without prepositions and conjunctions at either end.
pub(super) fn content<'a>(tokens: impl Iterator<Item = &'a Token>) -> String {
    let has_content =
        |token: &&Token| token.tag != Tag::Reference && !EMPTY.contains(&token.lower.as_str());
    let mut words: Vec<&Token> = tokens.filter(has_content).collect();
    let binds =
        |token: Option<&&Token>| token.is_some_and(|token| BINDING.contains(&token.lower.as_str()));
    while binds(words.last()) {
        words.pop();
    }
    let bound = words.iter().take_while(|token| binds(Some(token))).count();
    let words: Vec<&str> = words[bound..].iter().map(|token| token.text.as_str()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decompose::tokens::tokens;
    use crate::lexicon::Lexicon;

    #[test]
    fn a_question_asks_for_a_relation() {
        let lexicon = Lexicon::new();
        for (question, expected) in [
            ("Who is the architect of Mara Quill?", "architect"),
            ("Who directed Low Tide?", "director"),
            ("When was Mara Quill born?", "date of birth"),
            ("Where did Mara Quill die?", "place of death"),
            ("In which city was Mara Quill born?", "place of birth"),
            ("In which country is Varn Rock?", "country"),
            ("How tall is Varn Rock?", "height"),
            ("How many inhabitants does Varn Rock have?", "number of inhabitants"),
            ("What is the capital of Varn Rock?", "capital"),
            ("Where is Varn Rock?", "location"),
            ("In which state is Varn Rock located?", "state"),
            ("Who is Mara Quill?", ""),
        ] {
            let tokens = tokens(question, &lexicon);
            let at = tokens.iter().position(|token| token.tag == Tag::Name).unwrap();
            assert_eq!(relation(&tokens, |k| *k != at), expected, "{question}");
        }
    }
}
