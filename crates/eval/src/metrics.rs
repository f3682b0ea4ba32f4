//! How good one answer and its passages are: pure functions, values between 0 and 1.
use std::collections::HashMap;

use halma_core::{Citation, Hit};
use serde::{Deserialize, Serialize};

use crate::{Format, GoldPassage};

/// How answers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// `SQuAD`'s evaluation script (Rajpurkar et al., 2016 and 2018), which `MuSiQue`'s own
    /// follows.
    Squad,
    /// `hotpot_evaluate_v1.py` (Yang et al., 2018), which 2Wiki's own follows: as [`Self::Squad`],
    /// but where one side is `yes`, `no` or `noanswer` and the other is not the same, nothing is
    /// shared.
    Hotpot,
}

impl Profile {
    /// The profile of the format's official script.
    pub fn of(format: Format) -> Self {
        match format {
            Format::Hotpotqa | Format::TwoWiki => Self::Hotpot,
            Format::Musique => Self::Squad,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Squad => "squad",
            Self::Hotpot => "hotpot",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        [Self::Squad, Self::Hotpot].into_iter().find(|profile| profile.name() == name)
    }
}

/// How one answer compares with its gold answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// 1 when an equal gold answer exists, else 0.
    pub em: f64,
    /// The best F1 over the gold answers; the next two are of the gold answer that gives it.
    pub f1: f64,
    pub precision: f64,
    pub recall: f64,
}

/// Scores an answer against its gold answers: exact match and F1 are the best over them each, as
/// in `metric_max_over_ground_truths` of `SQuAD`'s script.
///
/// One corner differs from `hotpot_evaluate_v1.py`: where both sides are empty once articles and
/// punctuation are gone (gold `A`, answer `a.`) its exact match is 1 and its F1 is 0; here both
/// are 1, as in the scripts of `SQuAD` 2.0 and `MuSiQue`.
pub fn score(profile: Profile, prediction: &str, golds: &[String]) -> Score {
    let prediction = normalise(prediction);
    let mut best = Score::default();
    let mut em: f64 = 0.0;
    for gold in golds {
        let score = score_one(profile, &prediction, &normalise(gold));
        em = em.max(score.em);
        // Equal F1 with other precision is possible; the order of the golds must not decide.
        let order = score.f1.total_cmp(&best.f1);
        if order.then(score.precision.total_cmp(&best.precision)).is_gt() {
            best = score;
        }
    }
    Score { em, ..best }
}

/// Both texts are normalised.
fn score_one(profile: Profile, prediction: &str, gold: &str) -> Score {
    if prediction == gold {
        return Score { em: 1.0, f1: 1.0, precision: 1.0, recall: 1.0 };
    }
    let closed = |text: &str| ["yes", "no", "noanswer"].contains(&text);
    if profile == Profile::Hotpot && (closed(prediction) || closed(gold)) {
        return Score::default();
    }
    let shared = shared_words(prediction, gold);
    let (predicted, wanted) = (prediction.split(' ').count(), gold.split(' ').count());
    Score {
        em: 0.0,
        // 2PR / (P + R) in one division, so that equal values are equal to the last bit.
        f1: share(2 * shared, predicted + wanted),
        precision: share(shared, predicted),
        recall: share(shared, wanted),
    }
}

/// Words of both texts, a repeated one as often as both have it.
fn shared_words(prediction: &str, gold: &str) -> usize {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in gold.split_whitespace() {
        *left.entry(word).or_default() += 1;
    }
    let mut shared = 0;
    for word in prediction.split_whitespace() {
        if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    shared
}

#[expect(clippy::cast_precision_loss, reason = "counts of words and passages")]
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// `normalize_answer` of the `SQuAD` and `HotpotQA` scripts: lower case, without ASCII punctuation,
/// without the words a, an and the, with single spaces. Both profiles share it.
pub fn normalise(text: &str) -> String {
    let lower = text.to_lowercase();
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

/// The share of the gold passages that a citation lies in; `None` where none are known. Measures
/// what `HotpotQA`'s supporting-fact recall does, by passages instead of sentences.
pub fn support_recall(gold: &[GoldPassage], citations: &[Citation]) -> Option<f64> {
    let cited =
        |passage: &&GoldPassage| citations.iter().any(|c| passage.matches(&c.title, &c.quote));
    (!gold.is_empty()).then(|| share(gold.iter().filter(cited).count(), gold.len()))
}

/// Recall@k of passages (Karpukhin et al., 2020, for several passages as in `HippoRAG`): the share
/// of the gold passages among the first `k` hits; `None` where none are known.
pub fn recall_at_k(gold: &[GoldPassage], hits: &[Hit], k: usize) -> Option<f64> {
    recall_of_ranks(&ranks(gold, hits), k)
}

/// For each gold passage the place (from 1) of the first hit in it.
pub(crate) fn ranks(gold: &[GoldPassage], hits: &[Hit]) -> Vec<Option<usize>> {
    let place = |passage: &GoldPassage| {
        let at = hits.iter().position(|hit| passage.matches(&hit.title, &hit.text));
        at.map(|at| at + 1)
    };
    gold.iter().map(place).collect()
}

pub(crate) fn recall_of_ranks(ranks: &[Option<usize>], k: usize) -> Option<f64> {
    let found = ranks.iter().filter(|rank| rank.is_some_and(|rank| rank <= k)).count();
    (!ranks.is_empty()).then(|| share(found, ranks.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// EM, F1, precision and recall, in words that compare exactly.
    fn scored(profile: Profile, prediction: &str, golds: &[&str]) -> String {
        let golds: Vec<String> = golds.iter().map(|gold| (*gold).to_owned()).collect();
        let Score { em, f1, precision, recall } = score(profile, prediction, &golds);
        format!("{em} {f1:.4} {precision:.4} {recall:.4}")
    }

    const ALL: &str = "1 1.0000 1.0000 1.0000";
    const NOTHING: &str = "0 0.0000 0.0000 0.0000";

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
            assert_eq!(normalise(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn answers_score_as_the_official_scripts_score_them() {
        use Profile::{Hotpot, Squad};
        for profile in [Squad, Hotpot] {
            assert_eq!(scored(profile, "the Nile.", &["Nile"]), ALL);
            assert_eq!(scored(profile, "", &["Nile"]), NOTHING);
            assert_eq!(scored(profile, "The", &["a"]), ALL);
            assert_eq!(scored(profile, "Amazon", &["Nile"]), NOTHING);
            let half = scored(profile, "the upper Nile river", &["Nile"]);
            assert_eq!(half, "0 0.5000 0.3333 1.0000");
            // A repeated word counts as often as both sides have it.
            let repeated = scored(profile, "new new york", &["New York, New Jersey"]);
            assert_eq!(repeated, "0 0.8571 1.0000 0.7500");
            let aliases = ["United Kingdom", "UK"];
            assert_eq!(scored(profile, "U.K.", &aliases), ALL);
        }
        assert_eq!(scored(Squad, "Yes, it is", &["yes"]), "0 0.5000 0.3333 1.0000");
        assert_eq!(scored(Hotpot, "Yes, it is", &["yes"]), NOTHING);
        assert_eq!(scored(Hotpot, "no", &["no man is an island"]), NOTHING);
        assert_eq!(scored(Squad, "no", &["no man is island"]), "0 0.4000 1.0000 0.2500");
        assert_eq!(scored(Hotpot, "Yes.", &["yes"]), ALL);
    }

    #[test]
    fn precision_and_recall_belong_to_the_answer_with_the_best_f1() {
        let score = scored(Profile::Squad, "red fox", &["red", "quick red fox jumps"]);
        assert_eq!(score, "0 0.6667 1.0000 0.5000", "equal F1: the higher precision is taken");
    }

    #[test]
    fn profiles_have_names_and_formats() {
        assert_eq!(Profile::named("hotpot"), Some(Profile::of(Format::TwoWiki)));
        assert_eq!(Profile::named(Profile::of(Format::Musique).name()), Some(Profile::Squad));
        assert_eq!(Profile::named("atomr"), None);
    }

    #[test]
    fn recall_counts_passages_among_the_first_hits() {
        let ranks = [Some(1), Some(4), None, Some(9)];
        assert_eq!(recall_of_ranks(&ranks, 2), Some(0.25));
        assert_eq!(recall_of_ranks(&ranks, 5), Some(0.5));
        assert_eq!(recall_of_ranks(&ranks, 10), Some(0.75));
        assert_eq!(recall_of_ranks(&[], 10), None);
    }

    proptest! {
        #[test]
        fn scores_are_fractions_and_agree(
            prediction in "(yes|no|a|the|red|fox|[a-z.]{0,4}|\\PC{0,3})( (red|fox|an|[a-z]{1,3})){0,4}",
            mut golds in prop::collection::vec("(yes|no|red|the|\\PC{0,6})( (red|fox|x)){0,3}", 1..4),
            hotpot: bool,
        ) {
            let profile = if hotpot { Profile::Hotpot } else { Profile::Squad };
            let first = score(profile, &prediction, &golds);
            for value in [first.em, first.f1, first.precision, first.recall] {
                prop_assert!((0.0..=1.0).contains(&value));
            }
            if first.em >= 1.0 {
                prop_assert!(first.f1 >= 1.0);
            }
            golds.reverse();
            prop_assert_eq!(first, score(profile, &prediction, &golds));
        }

        #[test]
        fn normalising_twice_changes_nothing_more(text in "\\PC{0,30}") {
            let once = normalise(&text);
            prop_assert!(!once.contains("  ") && once.trim() == once);
            prop_assert!(!once.split(' ').any(|word| ["a", "an", "the"].contains(&word)));
        }
    }
}
