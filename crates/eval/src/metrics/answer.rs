//! Exact match, F1, precision, recall and coverage of short answers.
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Profile, normalise, share};

/// How one answer compares with its gold answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// 1 when an equal gold answer exists, else 0.
    pub em: f64,
    /// The best over the gold answers, each on its own.
    pub f1: f64,
    pub precision: f64,
    pub recall: f64,
    /// 1 when a gold answer stands in the answer as whole words, else 0.
    #[serde(default)]
    pub cover_em: f64,
}

/// Scores an answer against its gold answers: each metric is the best over them, as in
/// `metric_max_over_ground_truths` of `SQuAD`'s script and in the tables of KAR³.
///
/// One corner differs from `hotpot_evaluate_v1.py`: where both sides are empty once articles and
/// punctuation are gone (gold `A`, answer `a.`) its exact match is 1 and its F1 is 0; here both
/// are 1, as in the scripts of `SQuAD` 2.0 and `MuSiQue`.
pub fn score(profile: Profile, prediction: &str, golds: &[String]) -> Score {
    let cover_em = cover_em(Cover::Words, profile, prediction, golds);
    let prediction = normalise(profile, prediction);
    golds.iter().fold(Score { cover_em, ..Score::default() }, |best, gold| {
        let one = score_one(profile, &prediction, &normalise(profile, gold));
        Score {
            em: best.em.max(one.em),
            f1: best.f1.max(one.f1),
            precision: best.precision.max(one.precision),
            recall: best.recall.max(one.recall),
            cover_em,
        }
    })
}

/// Both texts are normalised.
fn score_one(profile: Profile, prediction: &str, gold: &str) -> Score {
    if prediction == gold {
        return Score { em: 1.0, f1: 1.0, precision: 1.0, recall: 1.0, cover_em: 1.0 };
    }
    let closed = |text: &str| ["yes", "no", "noanswer"].contains(&text);
    let strict = matches!(profile, Profile::Hotpot | Profile::Atomr);
    if strict && (closed(prediction) || closed(gold)) {
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
        cover_em: 0.0,
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

/// Where a gold answer may lie in a prediction that covers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// Anywhere, within a word too (`AtomR`: `fin` in `finland`).
    Characters,
    /// At word boundaries only (DEC, section 4.2).
    Words,
}

/// 1 when a gold answer is a part of the prediction, both normalised, else 0 (`CoverEM`: Rosset et
/// al., 2020; `AtomR`; DEC). A gold answer that is empty once normalised covers only an empty
/// prediction.
pub fn cover_em(cover: Cover, profile: Profile, prediction: &str, golds: &[String]) -> f64 {
    let prediction = normalise(profile, prediction);
    let covered = |gold: &String| {
        let gold = normalise(profile, gold);
        match cover {
            _ if gold.is_empty() => prediction.is_empty(),
            Cover::Characters => prediction.contains(&gold),
            Cover::Words => format!(" {prediction} ").contains(&format!(" {gold} ")),
        }
    };
    f64::from(u8::from(golds.iter().any(covered)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn owned(golds: &[&str]) -> Vec<String> {
        golds.iter().map(|gold| (*gold).to_owned()).collect()
    }

    /// EM, F1, precision and recall, in words that compare exactly.
    fn scored(profile: Profile, prediction: &str, golds: &[&str]) -> String {
        let Score { em, f1, precision, recall, .. } = score(profile, prediction, &owned(golds));
        format!("{em} {f1:.4} {precision:.4} {recall:.4}")
    }

    const ALL: &str = "1 1.0000 1.0000 1.0000";
    const NOTHING: &str = "0 0.0000 0.0000 0.0000";

    #[test]
    fn answers_score_as_the_official_scripts_score_them() {
        use Profile::{Atomr, Hotpot, Pike, Squad};
        for profile in [Squad, Hotpot, Atomr, Pike] {
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
        assert_eq!(scored(Pike, "three times", &["3 times"]), ALL);
    }

    #[test]
    fn precision_and_recall_are_the_best_over_the_golds_each_on_its_own() {
        let score = scored(Profile::Squad, "red fox", &["red", "quick red fox jumps"]);
        assert_eq!(score, "0 0.6667 1.0000 1.0000");
    }

    #[test]
    fn a_prediction_in_chinese_is_compared_by_characters_where_the_answer_is() {
        let score = scored(Profile::Chinese, "北京市。", &["北京"]);
        assert_eq!(score, "0 0.8000 0.6667 1.0000");
        // Under an English profile it shares nothing with an English answer, and nothing breaks.
        assert_eq!(scored(Profile::Squad, "巴黎", &["Paris"]), NOTHING);
    }

    #[test]
    fn covering_is_by_characters_or_by_words() {
        let covers = |cover, prediction: &str, gold: &str| {
            cover_em(cover, Profile::Squad, prediction, &owned(&[gold])) > 0.5
        };
        assert!(covers(Cover::Characters, "in Finland, then", "Fin"));
        assert!(!covers(Cover::Words, "in Finland, then", "Fin"));
        assert!(covers(Cover::Words, "It is the upper Nile river.", "Upper Nile"));
        assert!(!covers(Cover::Words, "upper", "upper Nile"));
        assert!(!covers(Cover::Characters, "anything", "The"));
        assert!(covers(Cover::Words, "a", "The"));
    }

    proptest! {
        #[test]
        fn scores_are_fractions_and_agree(
            prediction in "(yes|no|a|the|red|fox|[a-z.]{0,4}|\\PC{0,3})( (red|fox|an|[a-z]{1,3})){0,4}",
            mut golds in prop::collection::vec("(yes|no|red|the|\\PC{0,6})( (red|fox|x)){0,3}", 1..4),
            which in 0..5_usize,
        ) {
            let profile = Profile::ALL[which];
            let first = score(profile, &prediction, &golds);
            for value in [first.em, first.f1, first.precision, first.recall] {
                prop_assert!((0.0..=1.0).contains(&value));
            }
            if first.em >= 1.0 {
                prop_assert!(first.f1 >= 1.0);
                prop_assert!(cover_em(Cover::Words, profile, &prediction, &golds) >= 1.0);
            }
            let words = cover_em(Cover::Words, profile, &prediction, &golds);
            prop_assert!(words <= cover_em(Cover::Characters, profile, &prediction, &golds));
            golds.reverse();
            prop_assert_eq!(first, score(profile, &prediction, &golds));
        }
    }
}
