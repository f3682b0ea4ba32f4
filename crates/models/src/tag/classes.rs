//! From a class for every word to entities: the tagging schemes of token classifiers.
use std::ops::Range;

/// A class as `config.json` names it: `B-PER`, `I-PER`, `O`, or a kind alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    place: WordPlace,
    kind: String,
}

/// Where in an entity a word of this class stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordPlace {
    Outside,
    Begins,
    /// Continues the entity before it, if that is of its kind; begins one otherwise.
    GoesOn,
    Ends,
    Alone,
}

impl Class {
    /// Reads BIO, IOB, BILOU and BIOES names; a name without a letter before it continues.
    pub(super) fn named(name: &str) -> Self {
        let split = name.split_once(['-', '_']).filter(|(letter, _)| letter.len() == 1);
        let place = match split.map(|(letter, _)| letter.to_ascii_uppercase()).as_deref() {
            Some("B") => WordPlace::Begins,
            Some("I" | "M") => WordPlace::GoesOn,
            Some("L" | "E") => WordPlace::Ends,
            Some("U" | "S") => WordPlace::Alone,
            _ if matches!(name, "O" | "o" | "") => WordPlace::Outside,
            _ => WordPlace::GoesOn,
        };
        let kind = match split {
            Some((_, kind)) if place != WordPlace::GoesOn || "IiMm".contains(&name[..1]) => kind,
            _ => name,
        };
        Self { place, kind: kind_of(kind) }
    }

    pub(super) fn is_outside(&self) -> bool {
        self.place == WordPlace::Outside
    }
}

/// Halma's word for a kind; one that is not known is taken in lower case.
fn kind_of(label: &str) -> String {
    let lower = label.to_lowercase();
    let known = match lower.as_str() {
        "per" | "pers" | "person" | "people" => "person",
        "loc" | "location" | "place" | "gpe" | "fac" | "facility" => "place",
        "org" | "organization" | "organisation" | "corporation" | "company" | "group" => {
            "organisation"
        }
        "work" | "work_of_art" | "creative-work" | "creative_work" | "title" => "work",
        "event" | "eve" => "event",
        "date" | "time" => "date",
        "cardinal" | "quantity" | "money" | "percent" | "ordinal" | "number" | "num" => "number",
        "misc" | "miscellaneous" | "name" | "other" => "name",
        other => other,
    };
    known.to_owned()
}

/// A word of a text with its class and how sure the model is of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TokenWord {
    /// In characters.
    pub(super) place: Range<usize>,
    /// Index into the classes.
    pub(super) class: usize,
    pub(super) score: f32,
}

/// An entity: some words in a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TokenRun<'c> {
    /// In characters.
    pub(super) place: Range<usize>,
    pub(super) kind: &'c str,
    /// The mean of its words' scores.
    pub(super) score: f32,
}

/// Puts words together that make one entity. Sequences that the scheme does not allow are read as
/// well as they can be: what continues where nothing began begins.
pub(super) fn runs<'c>(words: &[TokenWord], classes: &'c [Class]) -> Vec<TokenRun<'c>> {
    let mut runs: Vec<(TokenRun<'c>, usize)> = vec![];
    let mut open = false;
    for word in words {
        let Class { place, kind } = &classes[word.class];
        if *place == WordPlace::Outside {
            open = false;
            continue;
        }
        let continues = matches!(place, WordPlace::GoesOn | WordPlace::Ends);
        match runs.last_mut() {
            Some((run, count)) if open && continues && run.kind == kind => {
                run.place.end = word.place.end;
                run.score += word.score;
                *count += 1;
            }
            _ => runs.push((TokenRun { place: word.place.clone(), kind, score: word.score }, 1)),
        }
        open = !matches!(place, WordPlace::Ends | WordPlace::Alone);
    }
    #[expect(clippy::cast_precision_loss, reason = "an entity has few words")]
    let mean =
        |(run, count): (TokenRun<'c>, usize)| TokenRun { score: run.score / count as f32, ..run };
    runs.into_iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words of one character each, of these classes; the runs as `kind start-end`.
    fn read(names: &str) -> Vec<String> {
        let classes: Vec<Class> = names.split(' ').map(Class::named).collect();
        let word = |at: usize| TokenWord { place: 2 * at..2 * at + 1, class: at, score: 1.0 };
        let words: Vec<TokenWord> = (0..classes.len()).map(word).collect();
        let told =
            |run: &TokenRun<'_>| format!("{} {}-{}", run.kind, run.place.start, run.place.end);
        runs(&words, &classes).iter().map(told).collect()
    }

    #[test]
    fn every_scheme_is_read() {
        let all = ["person 0-3", "person 4-5", "place 8-9"];
        assert_eq!(read("B-PER I-PER B-PER O B-LOC"), all);
        assert_eq!(read("B-PER L-PER U-PER O U-LOC"), all);
        assert_eq!(read("B-PER E-PER S-PER O S-GPE"), all);
        assert_eq!(read("I-PER I-PER B-PER O I-LOC"), all);
        assert_eq!(
            read("PERSON PERSON O LOC ORG"),
            ["person 0-3", "place 6-7", "organisation 8-9"]
        );
    }

    #[test]
    fn what_the_scheme_does_not_allow_is_read_all_the_same() {
        assert_eq!(read("I-PER I-LOC O L-ORG"), ["person 0-1", "place 2-3", "organisation 6-7"]);
        assert_eq!(read("U-PER I-PER"), ["person 0-1", "person 2-3"]);
        assert_eq!(
            read("B-creative-work B-WORK_OF_ART B-Disease"),
            ["work 0-1", "work 2-3", "disease 4-5",]
        );
        assert_eq!(read("work_of_art O"), ["work 0-1"]);
    }

    #[test]
    fn an_entity_is_as_sure_as_its_words_are_on_average() {
        let classes = ["B-PER", "I-PER"].map(Class::named);
        let word = |at: usize, score| TokenWord { place: at..at + 1, class: at, score };
        let found = runs(&[word(0, 0.5), word(1, 1.0)], &classes);
        assert_eq!(found, [TokenRun { place: 0..2, kind: "person", score: 0.75 }]);
    }

    proptest! {
        #[test]
        fn runs_are_in_order_and_hold_every_word_that_is_inside(
            names in prop::collection::vec("[BILOU]-(PER|LOC)|O", 0..20)
        ) {
            let classes: Vec<Class> = names.iter().map(|name| Class::named(name)).collect();
            let word = |at: usize| TokenWord { place: at..at + 1, class: at, score: 1.0 };
            let words: Vec<TokenWord> = (0..classes.len()).map(word).collect();
            let found = runs(&words, &classes);
            prop_assert!(found.windows(2).all(|pair| pair[0].place.end <= pair[1].place.start));
            let held: usize = found.iter().map(|run| run.place.len()).sum();
            let outside = classes.iter().filter(|class| class.is_outside()).count();
            prop_assert!(held == classes.len() - outside);
        }
    }
}
