//! What a merged question must not do.
use halma_core::text::{normalise_name, words};

use super::half::{Ask, Clue};
use super::kind::Dropped;

/// Whether `text` holds all words of `part`, one after the other.
pub(super) fn holds(text: &str, part: &str) -> bool {
    let (text, part) = (folded(text), folded(part));
    !part.is_empty() && text.windows(part.len()).any(|run| run == part)
}

fn folded(text: &str) -> Vec<String> {
    words(&normalise_name(text))
}

/// Whether two answers are the same, up to words around one of them.
pub(super) fn agree(one: &str, other: &str) -> bool {
    holds(one, other) || holds(other, one)
}

/// Whether two halves can be one question at all.
pub(super) fn halves(clue: &Clue, ask: &Ask, bridge: &str) -> Result<(), Dropped> {
    let given = |text: &str| ask.answers.iter().any(|answer| holds(text, answer));
    if holds(&clue.phrase, bridge) || given(&clue.phrase) || given(&ask.question) {
        return Err(Dropped::GivenAway);
    }
    let (first, second) = (clue.place.words(), ask.place.words());
    if given(&first) || clue.others.iter().any(|other| holds(&second, other)) {
        return Err(Dropped::OneSourceIsEnough);
    }
    Ok(())
}

/// Whether the merged question hides both the bridge and the answer.
pub(super) fn merged(question: &str, ask: &Ask, bridge: &str) -> Result<(), Dropped> {
    if holds(question, bridge) || ask.answers.iter().any(|answer| holds(question, answer)) {
        return Err(Dropped::GivenAway);
    }
    if !question.trim().ends_with('?') {
        return Err(Dropped::NotMerged);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_held_whole_and_in_order() {
        assert!(holds("Who led the New Horizons team?", "new horizons"));
        assert!(!holds("Who led the News Horizons team?", "New Horizons"));
        assert!(!holds("anything", ""));
        assert!(agree("72", "72 flights") && agree("the Lenn", "Lenn") && !agree("7", "72"));
    }
}
