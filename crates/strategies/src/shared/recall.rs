//! Keyword-enhanced recall (DEC, Section 3.2): of the chunks near a text those that hold all of its
//! keywords, and the nearest ones.
use halma_core::text::{normalise_name, words};
use halma_core::{
    Cx, Hit, KeywordRecall, NodeId, Prompt, Question, Result, UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use crate::shared::sources::Near;

const KEYWORDS: Prompt<Keywords> = Prompt::json("dec/keywords");

#[derive(Deserialize)]
struct Keywords {
    keywords: Vec<String>,
}

/// How chunks are recalled.
pub(crate) struct Recall {
    /// Searched for by N and mode, and looked through for keywords.
    pub(crate) near: Near,
    /// The nearest ones, which are kept whatever they hold; 0 where the keywords alone decide.
    pub(crate) backup: usize,
    /// The nearest ones that are kept when there are no keywords.
    pub(crate) without_keywords: usize,
}

impl Recall {
    /// D*, nearest first.
    pub(crate) async fn to(&self, text: &str, cx: &Cx) -> Result<Vec<Hit>> {
        let hits = self.near.to(text, &[], cx).await?;
        let ids: Vec<NodeId> = hits.iter().map(|hit| hit.id.clone()).collect();
        // No keyword could leave one of so few out.
        let (keywords, kept) = if hits.len() <= self.backup {
            (vec![], hits)
        } else {
            self.filter(text, hits, cx).await?
        };
        let keywords = keywords.iter().map(|keyword| keyword.join(" ")).collect();
        record(text, (ids, keywords), &kept, cx);
        Ok(kept)
    }

    /// K, and what D* is by it.
    async fn filter(
        &self,
        text: &str,
        mut hits: Vec<Hit>,
        cx: &Cx,
    ) -> Result<(Vec<Vec<String>>, Vec<Hit>)> {
        let keywords = keywords_of(text, cx).await?;
        if keywords.is_empty() {
            // Every chunk holds all of no keywords, which is not a reason to read every chunk.
            cx.note(format!("no keywords: reading the {} nearest", self.without_keywords));
            hits.truncate(self.without_keywords);
            return Ok((keywords, hits));
        }
        let holds = |hit: &Hit| {
            let (title, text) = (terms(&hit.title), terms(&hit.text));
            keywords.iter().all(|keyword| occurs(keyword, &title) || occurs(keyword, &text))
        };
        let holding: Vec<bool> = hits.iter().map(holds).collect();
        let count = holding.iter().filter(|holds| **holds).count();
        cx.note(format!("{count} of {} chunks hold all keywords", hits.len()));
        let kept = hits.into_iter().zip(holding).enumerate();
        let kept = kept.filter(|(rank, (_, holds))| *holds || *rank < self.backup);
        let kept = kept.map(|(_, (hit, _))| hit).collect();
        Ok((keywords, kept))
    }
}

/// Records D, K and D* for metrics (DEC, Tables 3 and 7).
pub(crate) fn record(
    query: &str,
    (nearest, keywords): (Vec<NodeId>, Vec<String>),
    kept: &[Hit],
    cx: &Cx,
) {
    let retained = kept.iter().map(|hit| hit.id.clone()).collect();
    cx.note(
        KeywordRecall { keywords, retained, retrieved: nearest, query: query.to_owned() }.note(),
    );
}

/// K, each as its words. A keyword that is not in the question was made up and is dropped.
async fn keywords_of(text: &str, cx: &Cx) -> Result<Vec<Vec<String>>> {
    let question = Question::new(text);
    let reply = cx.ask(&KEYWORDS, context! { question => Serde(&question) }).await;
    let reply = reply.unless_failed(cx, "no keywords are chosen").unless_spent()?;
    let Some(reply) = reply else { return Ok(vec![]) };
    let question = terms(text);
    let mut kept: Vec<Vec<String>> = vec![];
    for keyword in reply.keywords {
        let worded = terms(&keyword);
        if worded.is_empty() || !occurs(&worded, &question) {
            cx.note(format!("keyword `{keyword}` is not in the question and is ignored"));
        } else if !kept.contains(&worded) {
            kept.push(worded);
        }
    }
    Ok(kept)
}

/// Terms(d): the words in the form in which they are compared, without case, accents and
/// possessives.
fn terms(text: &str) -> Vec<String> {
    words(&normalise_name(text))
}

/// Whether the words stand in `text` one after the other.
fn occurs(keyword: &[String], text: &[String]) -> bool {
    text.windows(keyword.len()).any(|window| window == keyword)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyword_is_a_sequence_of_whole_words() {
        let text = terms("Beyoncé's first film, The Pink Panther (2006), earned $158.9 million.");
        for keyword in ["Beyonce", "pink panther", "THE PINK PANTHER", "2006", "first-film"] {
            assert!(occurs(&terms(keyword), &text), "{keyword}");
        }
        for keyword in ["pan", "Panther Pink", "film 2006", "Beyoncés"] {
            assert!(!occurs(&terms(keyword), &text), "{keyword}");
        }
        assert!(occurs(&terms("北京"), &terms("他在北京出生")));
    }
}
