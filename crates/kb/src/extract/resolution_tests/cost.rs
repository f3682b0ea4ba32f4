//! What a change costs: the extracts that are read for it.
use super::library::{Library, mention, questions};
use crate::extract::resolution::{Resolution, Scope, Unanswered};
use crate::store::FormKey;

/// A word of letters that no other number has.
fn word(number: usize) -> String {
    let mut word = String::new();
    let mut rest = number + 1000;
    while rest > 0 {
        word.insert(0, char::from(b"bcdfghjklm"[rest % 10]));
        word.insert(1, char::from(b"aeiouaeiou"[rest % 7]));
        rest /= 10;
    }
    word
}

/// A base of unrelated documents, two mentions each.
fn unrelated(count: usize) -> Library {
    let mut library = Library::new();
    for number in 0..count {
        let word = word(number);
        let place = mention(&format!("{word}ville"), "place", "");
        let person = mention(&format!("Q{word} Z{word}"), "person", "A printer.");
        library.put(&format!("d{number}"), vec![vec![place, person]]);
    }
    library
}

fn read(library: &Library) -> usize {
    let resolution = library.settle().unwrap();
    assert!(matches!(resolution.scope, Scope::Touched { .. }));
    resolution.read
}

#[test]
fn a_document_reads_what_it_touches_and_not_the_base() {
    let mut library = unrelated(400);
    let first = library.settle().unwrap();
    assert!(matches!(first.scope, Scope::Everything));
    assert!(library.settle().is_none(), "nothing has changed");
    // Once to enter its names, and once to resolve them.
    library.put("new", vec![vec![mention("Mara Quill", "person", "A printer.")]]);
    assert_eq!(read(&library), 2);
    let name = format!("Q{} Z{}", word(7), word(7));
    library.put("other", vec![vec![mention(&name, "person", "Who lives in Varn.")]]);
    assert_eq!(read(&library), 3, "one document has the same name");
    library.remove("other");
    assert_eq!(read(&library), 1, "the one that is left");
    library.put("new", vec![vec![mention("Mara Quill", "person", "A binder.")]]);
    assert_eq!(read(&library), 2);
    let (again, _) = library.made_again();
    assert_eq!(library.picture(), again.picture());
}

#[test]
fn a_large_change_is_resolved_with_everything() {
    let mut library = unrelated(10);
    library.settle();
    for number in 10..300 {
        let name = format!("{}ville", word(number));
        library.put(&format!("d{number}"), vec![vec![mention(&name, "place", "")]]);
    }
    assert!(matches!(library.settle().unwrap().scope, Scope::Everything));
    assert!(library.settle().is_none());
}

#[test]
fn a_block_that_becomes_too_large_or_small_is_resolved_again() {
    let person = |name: &str| mention(name, "person", "A chemist of the University of Oslo.");
    let smiths = |from: usize, to: usize| {
        (from..to).map(|number| vec![person(&format!("J{} Smith", word(number)))]).collect()
    };
    let mut library = Library::new();
    library.put("initial", vec![vec![person("J. Smith")]]);
    library.put("first", smiths(0, 98));
    library.settle();
    let merges = |library: &Library| library.base.merges().unwrap().len();
    assert!(merges(&library) > 0);
    // With it there are one hundred, and one more is too many.
    library.put("second", smiths(98, 99));
    library.settle();
    assert!(merges(&library) > 0);
    library.put("third", smiths(99, 100));
    let resolution = library.settle().unwrap();
    assert!(matches!(resolution.scope, Scope::Touched { .. }));
    assert_eq!(merges(&library), 0);
    assert_eq!(library.picture(), library.made_again().0.picture());
    library.remove("second");
    library.settle();
    assert!(merges(&library) > 0);
    assert_eq!(library.picture(), library.made_again().0.picture());
}

#[test]
fn a_base_without_the_names_gets_them_and_stays_what_it_is() {
    let mut library = unrelated(20);
    library.put("two", vec![vec![mention("John Smith", "person", "A footballer.")]]);
    library.put("three", vec![vec![mention("J. Smith", "person", "A footballer of Leeds.")]]);
    library.settle();
    let before = library.picture();
    library.base.store.write(|writer| writer.clear_forms()).unwrap();
    let resolution = Resolution::load(&library.base).unwrap().unwrap();
    assert!(matches!(resolution.scope, Scope::Everything));
    let written = resolution.write(&library.base, Unanswered::AskAgain).unwrap();
    assert!(!written.changed);
    assert_eq!(library.picture(), before);
    // Names are there again, so that the next change is a small one.
    library.put("four", vec![vec![mention("John Smith", "person", "A politician.")]]);
    let resolution = library.settle().unwrap();
    assert!(matches!(resolution.scope, Scope::Touched { .. }));
    let (again, everything) = library.made_again();
    assert_eq!(library.picture(), again.picture());
    assert_eq!(questions(Some(&resolution)), questions(everything.as_ref()));
}

#[test]
fn no_word_of_a_document_is_kept_among_the_names() {
    let mut library = Library::new();
    library.put("one", vec![vec![mention("Zzmark Person", "person", "Zzmark it is.")]]);
    library.settle();
    let keys = |library: &Library| {
        library.base.store.read(|reader| {
            let any = crate::store::NameKey { form: 0, variant: 0 };
            let kinds = [
                FormKey::Name(any),
                FormKey::Mention(0, 0),
                FormKey::Entity(0, 0),
                FormKey::Chunk(0),
            ];
            let mut count = 0;
            for kind in kinds {
                count += reader.form_keys(kind)?.count();
            }
            Ok(count)
        })
    };
    assert_eq!(keys(&library).unwrap(), 4);
    assert!(!library.base.store.forms_hold(b"zzmark"));
    library.remove("one");
    library.settle();
    assert_eq!(keys(&library).unwrap(), 0);
}
