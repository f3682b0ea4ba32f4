//! What is kept of names and is not as it was extracted is found, and the next build makes it again.
use super::library::{Library, mention};
use crate::extract::name_index::Names;
use crate::extract::resolution::{Resolution, Scope};
use crate::store::{ChunkForms, FormKey, FormsState, NameKey, NameRecord, StoreReader};

/// Names that are alike, one that is short for another, and two entries that were merged.
fn people() -> Library {
    let mut library = Library::new();
    let footballer = "An English footballer who played for Leeds United.";
    library.put("one", vec![vec![mention("John Smith", "person", footballer)]]);
    let named = vec![
        mention("J. Smith", "person", "A footballer who played for Leeds United in England."),
        mention("Smith", "", ""),
    ];
    library.put("two", vec![named]);
    let health = mention("World Health Organization", "organisation", "A health agency.");
    library.put("three", vec![vec![health, mention("Jane Smith", "person", "A chemist.")]]);
    library.settle();
    // As if no question were to be asked again.
    library.base.store.write(|writer| writer.delete_form_entries(FormKey::Touched(0))).unwrap();
    assert_eq!(library.differences(), (Names::Sound, vec![]));
    library
}

fn keys(library: &Library, like: FormKey) -> Vec<FormKey> {
    let read = |reader: &StoreReader<'_>| reader.form_keys(like)?.collect();
    library.base.store.read(read).unwrap()
}

#[test]
fn an_entry_that_is_missing_or_left_over_is_found_whatever_it_is_about() {
    let any = NameKey { form: 1, variant: 2 };
    for (key, kind) in [
        (FormKey::Chunk(0), "holds other names"),
        (FormKey::Mention(1, 0), "mentions"),
        (FormKey::Name(any), "names"),
        (FormKey::Block(1, any), "blocks"),
        (FormKey::Document(0), "documents"),
        (FormKey::Link(1, 2), "links"),
        (FormKey::Entity(1, 0), "entities"),
        (FormKey::Merge(1, 2), "merges"),
        (FormKey::Pair(1), "pairs"),
        (FormKey::PairOfPrint(1, 2), "pairs"),
    ] {
        // Nothing was asked about here.
        let is_empty = matches!(key, FormKey::Pair(_) | FormKey::PairOfPrint(..));
        let library = people();
        let entries = keys(&library, key);
        assert_eq!(entries.is_empty(), is_empty, "{key:?}");
        for at in 0..entries.len() {
            let library = people();
            let one = keys(&library, key)[at];
            library.base.store.write(|writer| writer.delete_form_entry(one)).unwrap();
            let (names, differences) = library.differences();
            assert_eq!(names, Names::Damaged, "{one:?}");
            assert!(differences.iter().any(|what| what.contains(kind)), "{one:?}: {differences:?}");
        }
        // One that belongs to nothing.
        let left = if matches!(key, FormKey::Chunk(_)) { FormKey::Chunk(900) } else { key };
        let put = library.base.store.write(|writer| match left {
            FormKey::Chunk(_) => writer.put_form_entry(left, &ChunkForms::default()),
            FormKey::Document(_) => writer.put_form_entry(FormKey::Document(900), &()),
            FormKey::Name(_) => writer.put_form_entry(left, &NameRecord::default()),
            FormKey::Pair(_) => writer.put_form_entry(left, &(1_u64, 2_u64)),
            _ => writer.put_form_entry(left, &()),
        });
        put.unwrap();
        assert_eq!(library.differences().0, Names::Damaged, "{left:?}");
    }
}

#[test]
fn values_that_are_wrong_or_cannot_be_read_are_found() {
    for like in [FormKey::State, FormKey::Chunk(0), FormKey::Document(0)] {
        let library = people();
        let key = keys(&library, like)[0];
        library.base.store.write(|writer| writer.put_form_entry(key, &())).unwrap();
        assert_eq!(library.differences().0, Names::Damaged, "{key:?}");
    }
    let library = people();
    let change = library.base.store.write(|writer| {
        let state = writer.forms_state()?.unwrap();
        writer.put_form_entry(FormKey::State, &FormsState { facts: 77, ..state })
    });
    change.unwrap();
    let (_, differences) = library.differences();
    assert_eq!(differences, ["1 entries of the index of names are not as extracted: totals"]);
}

#[test]
fn names_that_are_doubted_are_entered_again() {
    let library = people();
    let before = library.picture();
    let lost = keys(&library, FormKey::Mention(0, 0))[0];
    library.base.store.write(|writer| writer.delete_form_entry(lost)).unwrap();
    let verified = library.base.inspector().verify().unwrap();
    let about = |problems: &[crate::Problem]| -> Vec<String> {
        let named = problems.iter().filter(|problem| problem.what.contains("index of names"));
        named.map(|problem| problem.hint.to_owned()).collect()
    };
    let hints = about(&verified.problems);
    assert!(hints.len() == 1 && hints[0].contains("halma index"), "{verified:?}");
    // It is said until it is done.
    assert_eq!(library.differences().0, Names::Doubted);
    assert_eq!(about(&library.base.inspector().verify().unwrap().problems).len(), 1);
    let resolution = Resolution::load(&library.base).unwrap().unwrap();
    assert!(matches!(resolution.scope, Scope::Everything));
    library.settle();
    assert_eq!((library.differences(), library.picture()), ((Names::Sound, vec![]), before));
    assert!(keys(&library, FormKey::Mention(0, 0)).contains(&lost));
    assert_eq!(about(&library.base.inspector().verify().unwrap().problems), [""; 0]);
}
