//! Making answers comparable: what an evaluation script does to both sides before it compares.
use halma_core::text::is_cjk;
use halma_core::text::numbers::digits_for_words;
use serde::{Deserialize, Serialize};

/// How answers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// `SQuAD`'s evaluation script (Rajpurkar et al., 2016 and 2018), which `MuSiQue`'s own
    /// follows: lower case, no punctuation, no articles, single spaces.
    Squad,
    /// `hotpot_evaluate_v1.py` (Yang et al., 2018), which 2Wiki's own follows: as [`Self::Squad`],
    /// but where one side is `yes`, `no` or `noanswer` and the other is not the same, nothing is
    /// shared.
    Hotpot,
    /// `AtomR` (Xin et al., 2024): as [`Self::Hotpot`], with a space for each hyphen first, so that
    /// `rock-n-roll` is three words.
    Atomr,
    /// PIKE-RAG (Wang et al., 2025): as [`Self::Squad`], with digits for number words first.
    Pike,
    /// For Chinese, as in CMRC 2018 (Cui et al., 2019): lower case, no punctuation of any script,
    /// every character of Chinese a word.
    Chinese,
}

impl Profile {
    pub const ALL: [Self; 5] = [Self::Squad, Self::Hotpot, Self::Atomr, Self::Pike, Self::Chinese];

    pub fn name(self) -> &'static str {
        match self {
            Self::Squad => "squad",
            Self::Hotpot => "hotpot",
            Self::Atomr => "atomr",
            Self::Pike => "pike",
            Self::Chinese => "chinese",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// The text as the profile compares it. Of `SQuAD`'s script: lower case, without ASCII
/// punctuation, without the words a, an and the, with single spaces.
pub fn normalise(profile: Profile, text: &str) -> String {
    match profile {
        Profile::Squad | Profile::Hotpot => squad(&text.to_lowercase()),
        Profile::Atomr => squad(&text.replace('-', " ").to_lowercase()),
        Profile::Pike => squad(&digits_for_words(&text.to_lowercase())),
        Profile::Chinese => words(text).join(" "),
    }
}

fn squad(lower: &str) -> String {
    let bare: String = lower.chars().filter(|c| !c.is_ascii_punctuation()).collect();
    let mut kept = String::with_capacity(bare.len());
    for run in runs(&bare) {
        kept.push_str(if ["a", "an", "the"].contains(&run) { " " } else { run });
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs of word characters and the characters between them: the articles are dropped at the word
/// boundaries of a regular expression (`\b`), not only at spaces.
fn runs(text: &str) -> Vec<&str> {
    let mut runs = vec![];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if first.is_alphanumeric() {
            rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (run, after) = rest.split_at(end);
        runs.push(run);
        rest = after;
    }
    runs
}

/// The words of a text in any script, lower-cased: runs of letters and digits, and every Chinese,
/// Japanese or Korean character by itself.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() && !is_cjk(c) {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if is_cjk(c) {
            words.push(c.to_string());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn normalisation_follows_the_official_scripts() {
        for (text, wanted) in [
            ("The  Quick, brown fox!", "quick brown fox"),
            ("an apple a day", "apple day"),
            ("Theatre and anthem", "theatre and anthem"),
            ("U.S.A.", "usa"),
            ("rock-n-roll", "rocknroll"),
            // A dash outside ASCII stays and still ends the article.
            ("the–cat", "–cat"),
            ("«The» Times", "« » times"),
            ("  \n\t ", ""),
            ("The.", ""),
            ("ÉCOLE", "école"),
        ] {
            assert_eq!(normalise(Profile::Squad, text), wanted, "{text:?}");
            assert_eq!(normalise(Profile::Hotpot, text), wanted, "{text:?}");
        }
    }

    #[test]
    fn the_other_profiles_differ_where_they_say() {
        for (profile, text, wanted) in [
            (Profile::Atomr, "rock-n-roll", "rock n roll"),
            (Profile::Atomr, "1998-99", "1998 99"),
            (Profile::Pike, "Two children", "2 children"),
            (Profile::Pike, "twenty-one days", "21 days"),
            (Profile::Pike, "one hundred and five", "105"),
            (Profile::Chinese, "答案:国家、Art. 5。", "答 案 国 家 art 5"),
        ] {
            assert_eq!(normalise(profile, text), wanted, "{text:?}");
        }
    }

    #[test]
    fn profiles_have_names_and_formats() {
        for profile in Profile::ALL {
            assert_eq!(Profile::named(profile.name()), Some(profile));
        }
        assert_eq!(Profile::named("none"), None);
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing_more(text in "\\PC{0,30}") {
            for profile in Profile::ALL {
                let once = normalise(profile, &text);
                prop_assert!(!once.contains("  ") && once.trim() == once);
                if profile != Profile::Chinese {
                    prop_assert!(!once.split(' ').any(|w| ["a", "an", "the"].contains(&w)));
                }
            }
        }
    }
}
