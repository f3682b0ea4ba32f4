//! Relatives that are several steps away, spelled out: an uncle is a parent's brother.

/// `relative: step step …`, from the person on; lines that start with `#` are comments.
const RELATIVES: &str = include_str!("../data/relatives.txt");

/// `the father of the father of X` for `the paternal grandfather of X`, `X's father's father` for
/// `X's paternal grandfather`.
pub(super) fn spell_out(question: &str) -> String {
    let mut text = question.to_owned();
    for line in RELATIVES.lines().filter(|line| !line.starts_with('#')) {
        let Some((relative, steps)) = line.split_once(':') else { continue };
        if !text.contains(relative) {
            continue;
        }
        let steps: Vec<&str> = steps.split_whitespace().collect();
        for mark in ["'s ", "’s "] {
            let owned = steps.join(mark);
            text = replace_words(&text, &format!("{mark}{relative}"), &format!("{mark}{owned}"));
        }
        let outward: Vec<&str> = steps.iter().rev().copied().collect();
        let of = format!("{} of", outward.join(" of the "));
        text = replace_words(&text, &format!("{relative} of"), &of);
    }
    text
}

/// Replaces the phrase where no letter and no hyphen continues it on either side.
fn replace_words(text: &str, phrase: &str, with: &str) -> String {
    let continues = |c: char| c.is_alphanumeric() || c == '-';
    let mut out = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices(phrase) {
        let end = at + phrase.len();
        let before = phrase.starts_with(char::is_alphabetic) && text[..at].ends_with(continues);
        if !before && !text[end..].starts_with(continues) {
            out.push_str(&text[from..at]);
            out.push_str(with);
            from = end;
        }
    }
    out + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_steps_are_named() {
        for (question, expected) in [
            ("the paternal grandfather of Quill", "the father of the father of Quill"),
            ("Quill's mother-in-law?", "Quill's spouse's mother?"),
            ("Who is Quill’s maternal uncle?", "Who is Quill’s mother’s brother?"),
            ("the niece of Mara Quill", "the daughter of the sibling of Mara Quill"),
            ("Quill's cousin", "Quill's parent's sibling's child"),
            ("a grandfather", "a grandfather"),
            (
                "Quill's great-uncle and the great-uncle of Finch",
                "Quill's great-uncle and the great-uncle of Finch",
            ),
            ("Quill's auntie", "Quill's auntie"),
        ] {
            assert_eq!(spell_out(question), expected);
        }
    }

    #[test]
    fn no_step_is_itself_spelled_out() {
        for line in RELATIVES.lines().filter(|line| !line.starts_with('#')) {
            let (relative, steps) = line.split_once(':').unwrap();
            assert!(steps.split_whitespace().count() > 1, "{relative}");
            for step in steps.split_whitespace() {
                assert!(!RELATIVES.contains(&format!("\n{step}:")), "{step}");
            }
        }
    }
}
