//! What the rules find, and that their spans are right whatever the text.
use proptest::prelude::*;

use super::*;

fn tagged(text: &str) -> Vec<Mention> {
    futures::executor::block_on(Rules::default().entities(text)).unwrap()
}

fn mentions(text: &str) -> Vec<(String, String)> {
    tagged(text).into_iter().map(|mention| (mention.text, mention.kind)).collect()
}

fn is(text: &str, expected: &[(&str, &str)]) {
    let expected: Vec<(String, String)> =
        expected.iter().map(|(text, kind)| ((*text).to_owned(), (*kind).to_owned())).collect();
    assert_eq!(mentions(text), expected, "{text}");
}

#[test]
fn a_word_within_a_name_tells_what_it_names() {
    is(
        "The University of Varn lost the Battle of Orm to Queen Ingrid on Lake Tolve.",
        &[
            ("University of Varn", "organisation"),
            ("Battle of Orm", "event"),
            ("Queen Ingrid", "person"),
            ("Lake Tolve", "place"),
        ],
    );
    is(
        "Dr. Ana Reyes left Holm Bank Ltd.",
        &[("Dr. Ana Reyes", "person"), ("Holm Bank Ltd", "organisation")],
    );
}

#[test]
fn a_word_beside_a_name_tells_what_it_names() {
    is(
        "The poet Ana Reyes grew up in Varn and saw the film Low Tide.",
        &[("Ana Reyes", "person"), ("Varn", "place"), ("Low Tide", "work")],
    );
    is(
        "Ana Reyes was born near Orm. Then Bo Lind died.",
        &[("Ana Reyes", "person"), ("Orm", "place"), ("Bo Lind", "person")],
    );
    // Nothing tells what it is.
    is("They call it Varn Orm.", &[("Varn Orm", "name")]);
}

#[test]
fn titles_dates_and_numbers_are_found_with_their_units() {
    is(
        "On 3 May 1974 she sold “The Long Way Home” for $1.5 million, 12 km from there.",
        &[
            ("3 May 1974", "date"),
            ("The Long Way Home", "work"),
            ("$1.5 million", "number"),
            ("12 km", "number"),
        ],
    );
    is(
        "Two men paid 300 euros, 15% and 7 more in 1901.",
        &[("300 euros", "number"), ("15%", "number"), ("7", "number"), ("1901", "date")],
    );
}

#[test]
fn of_names_within_names_the_whole_is_kept() {
    is(
        "It is the Guild of Arms in Lower Saxby.",
        &[("Guild of Arms in Lower Saxby", "organisation")],
    );
    is("She read “Ana of Varn” aloud.", &[("Ana of Varn", "work")]);
    is("She read “low tide” aloud.", &[]);
    assert!(tagged("").is_empty() && tagged("nothing is named here").is_empty());
}

proptest! {
    #[test]
    fn spans_are_those_of_the_text_and_in_order(text in "[A-Za-zÉé0-9 .,'\"“”$%\\n-]{0,80}") {
        let characters: Vec<char> = text.chars().collect();
        let found = tagged(&text);
        for mention in &found {
            let there: String = characters[mention.span.start..mention.span.end].iter().collect();
            prop_assert_eq!(&there, &mention.text);
            prop_assert!(!there.is_empty() && (0.0..=1.0).contains(&mention.score));
        }
        prop_assert!(found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
    }
}
