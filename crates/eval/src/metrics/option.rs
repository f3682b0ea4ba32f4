//! Which of the given options an answer chooses.
use super::normalise::words;
use super::share;

/// The option that an answer chooses, by its place; `None` where it chooses none or several.
///
/// Tried in this order: the option's own words; its letter (`B`, `(B)`, `B. …`); its words once
/// case and punctuation are gone; the one option that occurs in the answer. An option that is a
/// part of a longer one (`entailment` in `not_entailment`) gives way to it.
pub fn chosen(answer: &str, options: &[String]) -> Option<usize> {
    let answer = answer.trim();
    if answer.is_empty() {
        return None;
    }
    let same = |option: &String| option.trim().to_lowercase() == answer.to_lowercase();
    if let Some(at) = options.iter().position(same) {
        return Some(at);
    }
    if let Some(at) = lettered(answer, options.len()) {
        return Some(at);
    }
    let bare: Vec<String> = options.iter().map(|option| spaced(option)).collect();
    let answer = spaced(answer);
    let equal = only(&bare, |option| *option == answer);
    equal.or_else(|| contained(&answer, &bare))
}

/// The words with a space on both sides, so that a part begins and ends with a word.
fn spaced(text: &str) -> String {
    format!(" {} ", words(text).join(" "))
}

/// `B`, `(b)`, `B.`, `B) text`, `B: text`.
fn lettered(answer: &str, count: usize) -> Option<usize> {
    let bare = answer.strip_prefix('(').unwrap_or(answer);
    let letter = bare.chars().next()?.to_ascii_uppercase();
    let at = (u32::from(letter)).checked_sub(u32::from('A'))? as usize;
    let rest = &bare[bare.chars().next()?.len_utf8()..];
    let ends = rest.is_empty() || rest.starts_with([')', '.', ':', '：', '、', '．']);
    (at < count && ends).then_some(at)
}

/// The place of the one option for which it holds.
fn only(options: &[String], holds: impl Fn(&String) -> bool) -> Option<usize> {
    let mut places = (0..options.len()).filter(|&at| holds(&options[at]));
    places.next().filter(|_| places.next().is_none())
}

fn contained(answer: &str, options: &[String]) -> Option<usize> {
    let inside: Vec<&String> = options
        .iter()
        .filter(|option| !option.trim().is_empty() && answer.contains(option.as_str()))
        .collect();
    let part_of_another = |option: &String| {
        inside.iter().any(|other| *other != option && other.contains(option.as_str()))
    };
    only(options, |option| inside.contains(&option) && !part_of_another(option))
}

/// 1 when the answer chooses an option that is a gold answer, else 0.
pub fn option_accuracy(answer: &str, options: &[String], golds: &[String]) -> f64 {
    let right = chosen(answer, options).is_some_and(|at| golds.contains(&options[at]));
    share(usize::from(right), 1)
}

/// Yes or no, by the first word of an answer; `true` and `false` count too. `None` for the rest.
pub fn yes_no(answer: &str) -> Option<bool> {
    match words(answer).first()?.as_str() {
        "yes" | "true" => Some(true),
        "no" | "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(options: &[&str]) -> Vec<String> {
        options.iter().map(|option| (*option).to_owned()).collect()
    }

    #[test]
    fn an_option_is_chosen_by_words_or_letter() {
        let four = options(&["A deficiency of iron", "Too much iron", "Copper", "Iron, copper"]);
        for (answer, wanted) in [
            ("Too much iron", Some(1)),
            ("too much iron.", Some(1)),
            ("B", Some(1)),
            ("(c)", Some(2)),
            ("D. Iron, copper", Some(3)),
            ("A deficiency of iron", Some(0)),
            ("A deficiency", None),
            ("It is copper", Some(2)),
            ("Iron, copper it is", Some(3)),
            ("E", None),
            ("", None),
            ("Copper or too much iron", None),
        ] {
            assert_eq!(chosen(answer, &four), wanted, "{answer:?}");
        }
    }

    #[test]
    fn verdicts_are_told_apart() {
        let pair = options(&["entailment", "not_entailment"]);
        assert_eq!(chosen("not entailment", &pair), Some(1));
        assert_eq!(chosen("The answer is entailment.", &pair), Some(0));
        let fever = options(&["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]);
        assert_eq!(chosen("Not enough info", &fever), Some(2));
        assert!((option_accuracy("refutes", &fever, &options(&["REFUTES"])) - 1.0).abs() < 1e-9);
        // Signs count where words do not tell the options apart.
        assert_eq!(chosen(">5", &options(&["<5", ">5"])), Some(1));
        assert_eq!(chosen("5", &options(&["<5", ">5"])), None);
    }

    #[test]
    fn yes_and_no_are_the_first_word() {
        assert_eq!(yes_no("Yes, both are."), Some(true));
        assert_eq!(yes_no("**No**"), Some(false));
        assert_eq!(yes_no("False"), Some(false));
        assert_eq!(yes_no("Both are."), None);
        assert_eq!(yes_no(""), None);
    }
}
