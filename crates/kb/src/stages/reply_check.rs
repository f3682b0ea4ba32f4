//! Whether a reply is what was asked for: a model may refuse, or repeat itself without end.

/// The most characters of a summary.
const LONGEST: usize = 4_000;

/// A summary may have this many characters although what it summarizes has fewer: a small table.
const SHORT: usize = 1_000;

/// What is wrong with the summary of these texts, if anything.
pub(super) fn complaint(texts: &[String], summary: &str) -> Option<String> {
    if is_refusal(summary) {
        return Some("it is not a summary".to_owned());
    }
    let (has, limit) = (summary.chars().count(), length(texts).clamp(SHORT, LONGEST));
    (has > limit).then(|| format!("the summary has {has} characters; write {limit} at most"))
}

/// Characters of all of them.
pub(super) fn length(texts: &[String]) -> usize {
    texts.iter().map(|text| text.chars().count()).sum()
}

/// How a reply begins in which a model refuses instead of doing what it is asked, in lower case with a straight apostrophe.
const BEGINNINGS: [&str; 6] =
    ["i'm sorry", "i am sorry", "i can't", "i cannot", "as an ai ", "as an ai,"];

/// Whether a text begins as a refusal.
pub(super) fn is_refusal(text: &str) -> bool {
    let longest = BEGINNINGS.map(str::len).into_iter().max().unwrap_or_default();
    let begin: String = text.trim_start().chars().take(longest).collect();
    let begin = begin.to_lowercase().replace('’', "'");
    BEGINNINGS.iter().any(|refusal| begin.starts_with(refusal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_refused_that_is_too_long_or_no_summary() {
        let table = ["Name: Zarxio".to_owned()];
        let section = ["x".repeat(24_000)];
        let part = ["x".repeat(1_500), "y".repeat(500)];
        for (texts, longest) in [(table.as_slice(), 1_000), (&section, 4_000), (&part, 2_000)] {
            assert_eq!(complaint(texts, &"ß".repeat(longest)), None);
            let refused = complaint(texts, &"ß".repeat(longest + 1)).unwrap();
            assert!(refused.contains(&format!("{longest} at most")), "{refused}");
        }
        assert!(complaint(&section, "I'm sorry, but I can't assist with that.").is_some());
    }

    #[test]
    fn a_refusal_is_known_by_its_beginning() {
        for text in [
            "I'm sorry, but I can't assist with that.",
            " I’m sorry.",
            "I am sorry",
            "I cannot",
            "As an AI language model, I …",
        ] {
            assert!(is_refusal(text), "{text}");
        }
        for text in ["", "I", "As an aircraft it failed.", "The mayor said: I'm sorry."] {
            assert!(!is_refusal(text), "{text}");
        }
    }
}
