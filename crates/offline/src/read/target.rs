//! The sort of answer that a question asks for, from its cue words.
use halma_core::AnswerKind;

use crate::lexicon::Lexicon;
use crate::lists::{is_listed, line_with};
use crate::words::{Sentence, Shape};

/// `sort: noun noun …`; lines that start with `#` are comments.
const HEADS: &str = include_str!("../data/heads.txt");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Person,
    Place,
    Country,
    Date,
    Year,
    Number,
    YesNo,
    /// A word of a kind, in lower case: a position, a genre, a cause.
    Common,
    Thing,
}

/// The sort of answer and the stem of the noun that names it (`which town`: `town`).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    pub(crate) sort: Sort,
    pub(crate) head: Option<String>,
    /// Word of the question that asks.
    pub(crate) at: usize,
}

impl Target {
    pub(crate) fn new(question: &Sentence, kind: AnswerKind, lexicon: &Lexicon) -> Self {
        let words = question.lower_words();
        let mut target = by_cue(question, &words, lexicon);
        match kind {
            AnswerKind::YesNo => target.sort = Sort::YesNo,
            AnswerKind::Number => target.sort = Sort::Number,
            AnswerKind::Short | AnswerKind::Option | AnswerKind::Long | AnswerKind::Verdict => {}
        }
        target
    }
}

fn by_cue(question: &Sentence, words: &[String], lexicon: &Lexicon) -> Target {
    let Some(at) = asking_word(words) else {
        let sort = match words.iter().position(|word| is_listed("auxiliaries", word)) {
            Some(0) => Sort::YesNo,
            // `… has one medal. Does the other also have one?`
            Some(at) if question.words[at].shape == Shape::Capital => Sort::YesNo,
            _ => Sort::Thing,
        };
        return Target { sort, head: None, at: 0 };
    };
    let plain = |sort| Target { sort, head: None, at };
    let next = words.get(at + 1).map_or("", String::as_str);
    match words[at].as_str() {
        "who" | "whom" | "whose" => plain(Sort::Person),
        "when" => plain(Sort::Date),
        "where" => plain(Sort::Place),
        "how" if ["many", "much"].contains(&next) => Target {
            sort: Sort::Number,
            head: counted(question, words, at + 2).map(|word| lexicon.stem(word)),
            at,
        },
        "how" if ["old", "long", "tall", "high", "far", "big", "large"].contains(&next) => {
            plain(Sort::Number)
        }
        "how" => plain(Sort::Thing),
        "why" => plain(Sort::Common),
        _ => by_head(question, words, at, lexicon),
    }
}

/// The noun of what is counted: `segments` of `how many mirror segments`.
fn counted<'w>(question: &Sentence, words: &'w [String], at: usize) -> Option<&'w String> {
    let first = words.get(at)?;
    let plural = |word: &&String| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    let next = words.get(at + 1).filter(|_| !question.words[at + 1].stop);
    let next = next.filter(|next| plural(next) && !plural(&first));
    Some(next.unwrap_or(first))
}

/// The word that asks: the first of the sentence, else one that no comma or noun makes relative.
fn asking_word(words: &[String]) -> Option<usize> {
    let asks = |i: &usize| is_listed("asking", &words[*i]);
    let first = (0..words.len()).find(asks)?;
    if is_listed("auxiliaries", words.first()?) {
        return None;
    }
    if first <= 1 {
        return Some(first);
    }
    let what = |i: &usize| ["what", "how"].contains(&words[*i].as_str());
    let which = |i: &usize| {
        words[*i] == "which" && words.get(i + 1).is_some_and(|next| !is_listed("auxiliaries", next))
    };
    (0..words.len())
        .find(what)
        .or_else(|| (0..words.len()).rev().find(which))
        .or_else(|| (0..words.len()).rev().find(asks))
}

/// The noun after `what` or `which`, over a copula, articles and `name of`.
fn by_head(question: &Sentence, words: &[String], at: usize, lexicon: &Lexicon) -> Target {
    let mut from = at + 1;
    while words.get(from).is_some_and(|word| {
        is_listed("auxiliaries", word)
            || ["the", "a", "an", "name", "names", "of", "s"].contains(&word.as_str())
    }) {
        from += 1;
    }
    let mut to = from;
    while to < words.len() && !question.words[to].stop && to - from < 4 {
        to += 1;
        if question.gap(to - 1).contains([',', '?']) {
            break;
        }
    }
    let run = &words[from.min(to)..to];
    let listed = run.iter().find_map(|word| Some((word, sort_of(word)?)));
    let (head, sort) = match listed {
        Some((word, sort)) => (Some(word), sort),
        None => (run.last(), Sort::Thing),
    };
    Target { sort, head: head.map(|word| lexicon.stem(word)), at }
}

fn sort_of(noun: &str) -> Option<Sort> {
    Some(match line_with(HEADS, noun)? {
        "person" => Sort::Person,
        "place" => Sort::Place,
        "country" => Sort::Country,
        "date" => Sort::Date,
        "year" => Sort::Year,
        "common" => Sort::Common,
        "thing" => Sort::Thing,
        _ => Sort::Number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sort(question: &str) -> (Sort, Option<String>) {
        let lexicon = Lexicon::new();
        let target = Target::new(&Sentence::new(question, &lexicon), AnswerKind::Short, &lexicon);
        (target.sort, target.head)
    }

    #[test]
    fn the_cue_words_tell_what_is_asked_for() {
        for (question, expected) in [
            ("Who painted Low Tide?", Sort::Person),
            ("When did Mara Quill die?", Sort::Date),
            ("Where was Mara Quill born?", Sort::Place),
            ("In what year was the mill built?", Sort::Year),
            ("What is the date of birth of the painter?", Sort::Date),
            ("What nationality is the painter of Low Tide?", Sort::Country),
            ("Low Tide was painted in which town?", Sort::Place),
            ("How many mills stand in Saxby?", Sort::Number),
            ("Are both mills made of wood?", Sort::YesNo),
            ("The mill won a prize. Did the barn also win one?", Sort::YesNo),
            ("The mill, which burnt in 1901, was built by what family?", Sort::Thing),
        ] {
            assert_eq!(sort(question).0, expected, "{question}");
        }
    }

    #[test]
    fn the_head_noun_is_found() {
        assert_eq!(sort("What is the name of the waterfall in Saxby?").1.unwrap(), "waterfall");
        assert_eq!(sort("Which old stone bridge was built first?").1.unwrap(), "bridg");
    }
}
