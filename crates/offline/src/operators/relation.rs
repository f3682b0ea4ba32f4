//! The relation or attribute that a question asks for of its subject.
use crate::decompose::tokens::{Tag, Token};

/// Verbs and who does them.
const DOERS: &[(&str, &[&str])] = &[
    ("director", &["directed", "directs"]),
    ("author", &["wrote", "written", "authored"]),
    ("composer", &["composed"]),
    ("performer", &["performed", "performs", "sang", "sings", "recorded"]),
    ("cast member", &["starred", "stars", "acted", "played", "plays"]),
    ("painter", &["painted"]),
    ("founder", &["founded", "established", "formed"]),
    ("architect", &["designed", "built"]),
    ("inventor", &["invented"]),
    ("discoverer", &["discovered"]),
    ("creator", &["created"]),
    ("producer", &["produced", "produces"]),
    ("publisher", &["published"]),
    ("spouse", &["married"]),
    ("owner", &["owned", "owns"]),
    ("leader", &["leads", "led"]),
    ("winner", &["won", "wins"]),
];

/// What is asked with `when`.
const TIMES: &[(&str, &[&str])] = &[
    ("date of birth", &["born", "birth"]),
    ("date of death", &["die", "died", "death"]),
    ("release date", &["released", "release"]),
    ("publication date", &["published"]),
    ("date founded", &["founded", "established", "formed"]),
    ("date opened", &["opened", "open"]),
];

/// What is asked with `where`.
const PLACES: &[(&str, &[&str])] = &[
    ("place of birth", &["born", "birth"]),
    ("place of death", &["die", "died", "death"]),
    ("place of burial", &["buried"]),
    ("location", &["located", "situated", "stand", "stands", "lie", "lies"]),
];

/// What is asked with `how`.
const DEGREES: &[(&str, &[&str])] = &[
    ("age", &["old"]),
    ("height", &["tall", "high"]),
    ("depth", &["deep"]),
    ("length", &["long"]),
    ("area", &["large", "big"]),
    ("weight", &["heavy"]),
    ("width", &["wide"]),
    ("speed", &["fast"]),
];

/// Words that ask, carry a verb or determine, and say nothing of what is asked for.
const EMPTY: &[&str] = &[
    "who", "whom", "whose", "what", "which", "when", "where", "why", "how", "is", "are", "was",
    "were", "be", "been", "do", "does", "did", "has", "have", "had", "the", "a", "an", "name",
    "also", "that", "this", "can", "could", "you", "tell", "me", "please",
];

const BINDING: &[&str] = &[
    "of", "in", "on", "at", "by", "to", "for", "from", "with", "as", "into", "and", "or", "it",
    "its", "his", "her", "their",
];

/// In words as a graph labels it, where the question is of a common form; else the question's own
/// words. `about` tells the places of the words that are not its subject. Empty where it asks for
/// the subject itself.
pub(super) fn relation(tokens: &[Token], about: impl Fn(&usize) -> bool) -> String {
    let rest = || (0..tokens.len()).filter(&about).map(|at| &tokens[at]);
    let said = |word: &str| rest().any(|token| token.lower == word);
    let of = |list: &[(&'static str, &[&str])]| {
        let hit = list.iter().find(|(_, words)| words.iter().any(|word| said(word)));
        hit.map(|(name, _)| (*name).to_owned())
    };
    let words = content(rest());
    // What is asked beside one verb has words of its own: `Who wrote the score of X?`
    let plain = words.split_whitespace().count() <= 1;
    let first = tokens.first().map(|token| token.lower.as_str()).unwrap_or_default();
    let found = match first {
        "when" if plain => of(TIMES),
        "where" if plain => of(PLACES).or_else(|| words.is_empty().then(|| "location".into())),
        "who" | "whom" if plain => of(DOERS),
        "how" if said("many") => {
            let counted = words.strip_prefix("many ").unwrap_or(&words);
            Some(format!("number of {counted}"))
        }
        "how" if tokens.len() > 2 => of(DEGREES),
        "what" | "which" if said("year") || said("date") => of(TIMES),
        "in" if said("year") => of(TIMES),
        "in" | "which" | "what" if said("born") => Some("place of birth".to_owned()),
        _ => None,
    };
    let place = |words: &str| {
        words.strip_suffix(" located").or(words.strip_suffix(" situated")).map(str::to_owned)
    };
    found.or_else(|| place(&words)).unwrap_or(words)
}

/// The words that say something, without those that bind them to what stands before and after.
pub(super) fn content<'a>(tokens: impl Iterator<Item = &'a Token>) -> String {
    let says =
        |token: &&Token| token.tag != Tag::Reference && !EMPTY.contains(&token.lower.as_str());
    let mut words: Vec<&Token> = tokens.filter(says).collect();
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
