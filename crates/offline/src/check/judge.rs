//! Task `judge`: whether two answers say the same, by their words.
use halma_core::text::normalise_name;
use halma_core::text::numbers::cardinal;
use serde::Deserialize;

/// The verdict prompts give one right answer or all of them; other prompts for judges give
/// neither, and are refused.
#[derive(Debug, Deserialize)]
pub(crate) struct JudgeInput {
    answer: Option<String>,
    gold: Option<String>,
    golds: Option<Vec<String>>,
}

/// `Correctness: yes` for one right answer, `yes` for several; `None` for any other prompt.
pub(crate) fn reply(input: &JudgeInput) -> Option<String> {
    let answer = input.answer.as_ref()?;
    let word = |right| if right { "yes" } else { "no" };
    match (&input.gold, &input.golds) {
        (Some(gold), _) => Some(format!("Correctness: {}", word(same(gold, answer)))),
        (None, Some(golds)) => Some(word(golds.iter().any(|gold| same(gold, answer))).to_owned()),
        (None, None) => None,
    }
}

/// The least share of the right answer's words that an answer within it must have.
const MIN_SHARE: usize = 2;

/// Whether the right answer stands in the given one, or the given one is most of the right one.
fn same(gold: &str, answer: &str) -> bool {
    let (gold, answer) = (words(gold), words(answer));
    if gold.is_empty() || answer.is_empty() {
        return false;
    }
    if let [verdict @ ("yes" | "no")] = gold.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return answer[0] == verdict;
    }
    if let Some(at) = place(&answer, &gold) {
        // `not in 1974` does not say `1974`.
        let before = &answer[at.saturating_sub(2)..at];
        return !before.iter().any(|word| ["not", "never", "nor"].contains(&word.as_str()));
    }
    answer.len() * MIN_SHARE > gold.len() && place(&gold, &answer).is_some()
}

/// The words without signs, accents and articles; a number of words as its figure.
fn words(text: &str) -> Vec<String> {
    let plain = normalise_name(text);
    let words = plain.split(' ').filter(|word| !["a", "an", "the", ""].contains(word));
    words.map(|word| cardinal(word).map_or_else(|| word.to_owned(), |n| n.to_string())).collect()
}

/// Where a run of words stands in another.
fn place(all: &[String], part: &[String]) -> Option<usize> {
    all.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_compared_by_their_words() {
        for (gold, answer, right) in [
            ("the Oder", "It flows into the river Oder.", true),
            ("Mara Quill", "Orla Finch", false),
            ("Mara J. Quill", "Mara J Quill", true),
            ("President Mara Quill", "Mara Quill", true),
            ("Mara Quill of Lower Saxby", "Saxby", false),
            ("1,200", "about 1200 people", true),
            ("3", "three", true),
            ("yes", "Yes, both are.", true),
            ("no", "Yes, there is no doubt", false),
            ("1974", "It was not 1974 but 1975", false),
            ("ham", "Hamburg", false),
            ("Łódź", "Lodz", true),
            ("", "x", false),
            ("x", "", false),
            ("the", "the", false),
        ] {
            assert_eq!(same(gold, answer), right, "{gold} / {answer}");
        }
    }

    #[test]
    fn only_verdicts_are_given() {
        let input = |gold: Option<&str>, golds: Option<Vec<&str>>| JudgeInput {
            answer: Some("Varn".into()),
            gold: gold.map(Into::into),
            golds: golds.map(|golds| golds.into_iter().map(Into::into).collect()),
        };
        assert_eq!(reply(&input(Some("Varn"), None)).unwrap(), "Correctness: yes");
        assert_eq!(reply(&input(None, Some(vec!["Oslo", "Varn"]))).unwrap(), "yes");
        assert_eq!(reply(&input(None, Some(vec![]))).unwrap(), "no");
        assert_eq!(reply(&input(None, None)), None);
    }
}
