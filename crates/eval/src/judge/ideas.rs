//! Counting the ideas of an answer to an open question (PIKE-RAG's L4): the judge lists them, and code
//! counts those that say the same as one.
use std::collections::HashSet;

use halma_core::text::content_words;
use halma_core::{Cx, Prompt, Result};
use minijinja::context;
use serde::Deserialize;

const IDEAS: Prompt<ListedIdeas> = Prompt::json("judge/ideas");

/// Share of common words from which two ideas are one; that of `pike_l4`.
const ALIKE: f64 = 0.7;

#[derive(Deserialize)]
struct ListedIdeas {
    ideas: Vec<String>,
}

/// The different ideas of an answer, in its order.
///
/// # Errors
///
/// A reply without a list is asked for again, then [`halma_core::Error::BadReply`].
pub async fn distinct_ideas(cx: &Cx, question: &str, answer: &str) -> Result<Vec<String>> {
    let listed = cx.span("ideas").ask(&IDEAS, context! { question, answer }).await?;
    Ok(distinct(listed.ideas))
}

fn distinct(ideas: Vec<String>) -> Vec<String> {
    let mut kept: Vec<(String, HashSet<String>)> = vec![];
    for idea in ideas {
        let words: HashSet<String> = content_words(&idea).into_iter().collect();
        let same = |(_, other): &(String, HashSet<String>)| alike(&words, other) >= ALIKE;
        if !idea.trim().is_empty() && !kept.iter().any(same) {
            kept.push((idea, words));
        }
    }
    kept.into_iter().map(|(idea, _)| idea).collect()
}

/// The share of words that two ideas have in common, of all that they have.
#[expect(clippy::cast_precision_loss, reason = "a handful of words")]
fn alike(a: &HashSet<String>, b: &HashSet<String>) -> f64 {
    a.intersection(b).count() as f64 / a.union(b).count().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ideas_in_nearly_the_same_words_are_one() {
        let ideas = ["Train the pharmacists.", " ", "Train all pharmacists", "Call patients back."];
        let kept = distinct(ideas.map(str::to_owned).to_vec());
        assert_eq!(kept, ["Train the pharmacists.", "Call patients back."]);
    }
}
