//! Telling the verb of a plain sentence by its form.

/// Forms of common verbs that do not end in `ed`.
const VERBS: &[&str] = &[
    "are", "bears", "became", "began", "bore", "brought", "built", "came", "carries", "carves",
    "chose", "did", "does", "drew", "fell", "flew", "found", "gave", "goes", "grew", "had", "has",
    "held", "holds", "is", "keeps", "kept", "leads", "led", "left", "lies", "looks", "lost",
    "made", "met", "paid", "put", "ran", "runs", "sang", "sat", "saw", "says", "sent", "set",
    "shows", "sold", "spent", "spoke", "stands", "stood", "swam", "taught", "threw", "told",
    "took", "was", "went", "were", "won", "works", "wrote",
];

/// Words in `ed` that are none.
const NO_VERBS: &[&str] = &["hundred", "indeed", "red", "sacred", "seed", "speed"];

const AUXILIARIES: &[&str] = &["are", "had", "has", "have", "is", "was", "were"];

pub(super) fn is_verb(word: &str) -> bool {
    let lower = word.chars().all(char::is_lowercase);
    lower && (VERBS.binary_search(&word).is_ok() || is_past(word))
}

pub(super) fn is_auxiliary(word: &str) -> bool {
    AUXILIARIES.contains(&word)
}

/// `founded`; what is irregular only where it is also among the verbs (`built`, `made`).
pub(super) fn is_participle(word: &str) -> bool {
    is_past(word)
        || ["brought", "built", "found", "held", "made", "sent", "sold", "won"].contains(&word)
}

fn is_past(word: &str) -> bool {
    word.len() > 3 && word.ends_with("ed") && !NO_VERBS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verbs_are_sorted() {
        assert!(VERBS.is_sorted());
    }

    #[test]
    fn verbs_are_told_by_their_form() {
        assert!(is_verb("painted") && is_verb("led") && is_verb("was"));
        assert!(!is_verb("Seed") && !is_verb("hundred") && !is_verb("harbour"));
    }
}
