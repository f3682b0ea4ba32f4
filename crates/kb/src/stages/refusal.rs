//! Replies in which a model refuses instead of doing what it is asked.

/// How such a reply begins, in lower case with a straight apostrophe.
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
