//! Phrases that name a relation, in a form that can be compared: their words, and the direction in
//! which they are read.
use halma_core::text::{normalise_name, stem};

/// Words that only join a relation to its neighbours.
const JOINING: &[&str] = &[
    "a", "an", "are", "be", "been", "did", "do", "does", "had", "has", "have", "her", "his", "is",
    "it", "its", "that", "the", "their", "this", "was", "were", "whose",
];

const PREPOSITIONS: &[&str] =
    &["as", "at", "by", "for", "from", "in", "into", "of", "on", "to", "under", "upon", "with"];

/// Heads of phrases that are too general alone: a date is not a date of birth.
const EMPTY_HEADS: &[&str] = &[
    "amount",
    "date",
    "day",
    "id",
    "identifier",
    "kind",
    "list",
    "location",
    "name",
    "number",
    "part",
    "place",
    "point",
    "status",
    "thing",
    "time",
    "title",
    "type",
    "value",
    "year",
];

/// Words that say that a phrase names a point of time.
const OF_TIME: &[&str] = &["date", "day", "time", "when", "year"];

/// The direction in which a phrase is read, where its form shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `discovered by`, `discoverer`: from a thing to who did it.
    ToDoer,
    /// `discovered`: from the doer to the thing.
    FromDoer,
    /// `capital of`: from what is named to what it belongs to.
    Of,
    Plain,
}

/// A relation's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// All words but the joining ones, in their order.
    pub(crate) all: Vec<String>,
    /// Those that are not prepositions, sorted.
    pub(crate) content: Vec<String>,
    /// The word that the others describe, stemmed: of `mean radius` and of `radius of curvature`
    /// the radius.
    head: String,
    /// Whether something follows a preposition: `radius of curvature`.
    complement: bool,
    form: Form,
    /// Ends in `by`.
    by: bool,
}

impl Phrase {
    pub(crate) fn new(text: &str) -> Self {
        let plain = normalise_name(&spaced(text));
        let said: Vec<&str> =
            plain.split(' ').filter(|word| !word.is_empty() && !JOINING.contains(word)).collect();
        let is_content = |word: &&&str| !PREPOSITIONS.contains(*word);
        let inner = said.iter().position(|word| PREPOSITIONS.contains(word)).filter(|at| *at > 0);
        let complement = inner.is_some_and(|at| at + 1 < said.len());
        let before = inner.unwrap_or(said.len());
        let head = said[..before].iter().rfind(is_content).map(|word| stem(word).to_owned());
        let mut content: Vec<String> =
            said.iter().filter(is_content).map(|word| stem(word).to_owned()).collect();
        content.sort_unstable();
        content.dedup();
        let last = said.last().copied().unwrap_or_default();
        Self {
            all: said.iter().map(|&word| word.to_owned()).collect(),
            content,
            head: head.unwrap_or_default(),
            complement,
            form: form(last),
            by: last == "by",
        }
    }

    /// Whether the two are read in opposite ways: `discovered by` and `discovered`, `capital` and
    /// `capital of`.
    pub(crate) fn faces(&self, other: &Self) -> bool {
        let of = (self.form == Form::Of) != (other.form == Form::Of);
        let doer = matches!(
            (self.form, other.form),
            (Form::ToDoer, Form::FromDoer) | (Form::FromDoer, Form::ToDoer)
        );
        let by = (self.by && other.form == Form::Plain) || (other.by && self.form == Form::Plain);
        of || doer || by
    }

    /// Whether one of the two describes the other's head more closely: `radius`, `mean radius`.
    pub(crate) fn narrows(&self, other: &Self) -> bool {
        let (few, many) =
            if self.content.len() <= other.content.len() { (self, other) } else { (other, self) };
        few.head == many.head
            && !few.head.is_empty()
            && !EMPTY_HEADS.iter().any(|word| stem(word) == few.head)
            && (few.complement || !many.complement)
            && few.content.iter().all(|word| many.content.contains(word))
    }

    /// The words that say more than that a point of time is meant.
    pub(crate) fn timeless(&self) -> Vec<&str> {
        let of_time = |word: &&str| OF_TIME.iter().any(|time| stem(time) == *word);
        self.content.iter().map(String::as_str).filter(|word| !of_time(word)).collect()
    }
}

fn form(last: &str) -> Form {
    match last {
        "by" => Form::ToDoer,
        "of" => Form::Of,
        _ if last.len() > 4 && last.ends_with("ed") => Form::FromDoer,
        _ if last.len() > 4 && ["er", "or", "ers", "ors"].iter().any(|e| last.ends_with(e)) => {
            Form::ToDoer
        }
        _ => Form::Plain,
    }
}

/// The stems of the words of a text that are neither prepositions nor joining words, in their order.
pub(crate) fn stems(text: &str) -> Vec<String> {
    let plain = normalise_name(text);
    let said = plain
        .split(' ')
        .filter(|word| !word.is_empty() && !JOINING.contains(word) && !PREPOSITIONS.contains(word));
    said.map(|word| stem(word).to_owned()).collect()
}

/// `placeOfBirth` and `place_of_birth` as words.
pub(crate) fn spaced(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for c in name.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            out.push(' ');
        }
        out.push(if c == '_' { ' ' } else { c });
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrase(text: &str) -> Phrase {
        Phrase::new(text)
    }

    #[test]
    fn forms_of_one_word_are_one() {
        let (by, noun) = (phrase("was discovered by"), phrase("the discoverer"));
        assert_eq!(by.content, noun.content);
        assert_eq!(phrase("discovery").content, noun.content);
        assert_eq!(phrase("birthPlace").content, phrase("place of birth").content);
        assert_eq!(phrase("city").content, phrase("cities").content);
    }

    #[test]
    fn the_form_shows_the_direction() {
        assert!(phrase("discovered").faces(&phrase("discovered by")));
        assert!(phrase("capital of").faces(&phrase("capital")));
        assert!(phrase("orbited by").faces(&phrase("orbits")));
        assert!(!phrase("discoverer").faces(&phrase("discovered by")));
        assert!(!phrase("place of birth").faces(&phrase("birthplace")));
    }

    #[test]
    fn a_closer_description_is_of_the_same_head() {
        assert!(phrase("radius").narrows(&phrase("mean radius")));
        assert!(!phrase("population").narrows(&phrase("population density")));
        assert!(!phrase("director").narrows(&phrase("director of photography")));
        assert!(!phrase("date").narrows(&phrase("date of birth")));
    }
}
