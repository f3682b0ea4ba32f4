//! Whether a reply is a summary: a model may refuse, or repeat itself without end.
use super::refusal::is_refusal;

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
}
