//! Relatives that are two steps away, spelt out: a paternal grandfather is the father's father.

/// What is said, the first step and the second.
const KIN: &[(&str, &str, &str)] = &[
    ("paternal grandfather", "father", "father"),
    ("paternal grandmother", "father", "mother"),
    ("maternal grandfather", "mother", "father"),
    ("maternal grandmother", "mother", "mother"),
    ("father-in-law", "spouse", "father"),
    ("mother-in-law", "spouse", "mother"),
];

/// `the father of the father of X` for `the paternal grandfather of X`, `X's father's father` for
/// `X's paternal grandfather`.
pub(super) fn spelt_out(question: &str) -> String {
    let mut text = question.to_owned();
    for (said, first, second) in KIN {
        text = text.replace(&format!("'s {said}"), &format!("'s {first}'s {second}"));
        text = text.replace(&format!("’s {said}"), &format!("’s {first}’s {second}"));
        text = text.replace(&format!("{said} of "), &format!("{second} of the {first} of "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_are_named() {
        assert_eq!(
            spelt_out("the paternal grandfather of Quill"),
            "the father of the father of Quill"
        );
        assert_eq!(spelt_out("Quill's mother-in-law?"), "Quill's spouse's mother?");
        assert_eq!(spelt_out("a grandfather"), "a grandfather");
    }
}
