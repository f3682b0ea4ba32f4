//! Rating a creative answer (PIKE-RAG's L4) by its five criteria, and counting its ideas: the judge
//! lists them, and code counts those that say the same as one.
use std::collections::{BTreeMap, HashSet};

use halma_core::text::content_words;
use halma_core::{Cx, Prompt, Result, parse_json};
use minijinja::context;
use serde::Deserialize;
use serde_json::Value;

use crate::metrics::share;

/// The criteria of PIKE-RAG, section 6.1, in the paper's order; each from 1 to 5.
pub(crate) const CREATIVE: [&str; 5] =
    ["relevance", "diversity", "comprehensiveness", "uniqueness", "inspiration"];

const RATING: Prompt<[f64; 5]> = Prompt {
    name: "judge/creative",
    parse: |reply| parse_json::<Rated>(reply).and_then(|rated| points(&rated)),
};
const IDEAS: Prompt<ListedIdeas> = Prompt::json("judge/ideas");

/// Share of common words from which two ideas are one; that of `pike_l4`.
const ALIKE: f64 = 0.7;

/// The criteria next to anything else the judge wrote.
#[derive(Deserialize)]
struct Rated(BTreeMap<String, Value>);

#[derive(Deserialize)]
struct ListedIdeas {
    ideas: Vec<String>,
}

/// The judge's points for an answer, in the order of [`CREATIVE`].
///
/// # Errors
///
/// A reply without five such points is asked for again, then [`halma_core::Error::BadReply`].
pub(super) async fn rate(cx: &Cx, question: &str, answer: &str) -> Result<[f64; 5]> {
    cx.span("rate").ask(&RATING, context! { question, answer }).await
}

fn points(rated: &Rated) -> std::result::Result<[f64; 5], String> {
    let mut all = [0.0; 5];
    for (points, name) in all.iter_mut().zip(CREATIVE) {
        let value = rated.0.get(name).ok_or_else(|| format!("missing field `{name}`"))?;
        let whole = value.as_u64().filter(|points| (1..=5).contains(points));
        let whole = whole.and_then(|points| u8::try_from(points).ok());
        let whole = whole.ok_or_else(|| format!("`{name}` is not a whole number from 1 to 5"))?;
        *points = whole.into();
    }
    Ok(all)
}

/// The different ideas of an answer, in its order.
///
/// # Errors
///
/// A reply without a list is asked for again, then [`halma_core::Error::BadReply`].
pub(super) async fn distinct_ideas(cx: &Cx, question: &str, answer: &str) -> Result<Vec<String>> {
    let listed = cx.span("ideas").ask(&IDEAS, context! { question, answer }).await?;
    Ok(distinct(listed.ideas))
}

fn distinct(ideas: Vec<String>) -> Vec<String> {
    let mut different: Vec<(String, HashSet<String>)> = vec![];
    for idea in ideas {
        let words: HashSet<String> = content_words(&idea).into_iter().collect();
        let same = |(_, other): &(String, HashSet<String>)| alike(&words, other) >= ALIKE;
        if !idea.trim().is_empty() && !different.iter().any(same) {
            different.push((idea, words));
        }
    }
    different.into_iter().map(|(idea, _)| idea).collect()
}

/// The share of words that two ideas have in common, of all that they have.
fn alike(a: &HashSet<String>, b: &HashSet<String>) -> f64 {
    share(a.intersection(b).count(), a.union(b).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ideas_in_nearly_the_same_words_are_one() {
        let ideas = ["Train the pharmacists.", " ", "Train all pharmacists", "Call patients back."];
        let different = distinct(ideas.map(str::to_owned).to_vec());
        assert_eq!(different, ["Train the pharmacists.", "Call patients back."]);
    }
}
