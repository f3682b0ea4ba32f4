//! Entity-grounded decomposition (Section 3.1) and relevance filtering (3.2.1).
use halma_core::text::{NameKind, names, words};
use halma_core::{
    AnswerKind, Cx, Error, Hit, Layer, MinScore, Prompt, Query, Question, Result,
    UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::Unirag;
use crate::shared::steps::unseen;

const SUB_QUERIES: Prompt<SubQueries> = Prompt::json("unirag/sub_queries");

#[derive(Deserialize)]
struct SubQueries {
    sub_queries: Vec<String>,
}

/// What the question names.
#[derive(Debug, PartialEq, Serialize)]
struct NamedEntity {
    text: String,
    kind: String,
}

impl Unirag {
    /// The relevant passages, best first, without what is read already. All texts go into one search.
    pub(super) async fn gather(
        &self,
        query: &Question,
        used: &mut Vec<String>,
        context: &[Hit],
        cx: &Cx,
    ) -> Result<Vec<Hit>> {
        let mut texts = vec![query.text.clone()];
        if self.decompose {
            let sub_queries = self.sub_queries(query, used, cx).await?;
            used.extend(sub_queries.iter().cloned());
            texts.extend(sub_queries);
        }
        let search = Query {
            min_score: MinScore::from_setting(self.min_score),
            exclude: context.iter().map(|chunk| chunk.id.clone()).collect(),
            ..Query::new(texts, Layer::Chunk, self.mode, self.k)
        };
        let hits = unseen(cx.search(&search).await?, context);
        if self.rerank { self.relevant(&query.text, hits, cx).await } else { Ok(hits) }
    }

    /// SQ: p sub-queries, each new. A model that writes too few is asked once for the others.
    pub(super) async fn sub_queries(
        &self,
        query: &Question,
        used: &[String],
        cx: &Cx,
    ) -> Result<Vec<String>> {
        let number = if query.answer_kind == AnswerKind::Verdict { self.p_verdict } else { self.p };
        let entities = entities(&query.text, cx).await?;
        let mut kept: Vec<String> = vec![];
        for _ in 0..2 {
            let earlier: Vec<&String> = used.iter().chain(&kept).collect();
            let variables = context! {
                question => Serde(query),
                entities => Serde(&entities),
                used => Serde(&earlier),
                number => number - kept.len(),
                retrieve => self.retrieve,
            };
            let reply = cx.ask(&SUB_QUERIES, variables).await;
            let reply = reply.unless_failed(cx, "no sub-queries are written").unless_spent()?;
            let Some(SubQueries { sub_queries }) = reply else { break };
            let more = new_queries(sub_queries, &query.text, &earlier, cx);
            let none = more.is_empty();
            kept.extend(more);
            if none || kept.len() >= number {
                break;
            }
        }
        match kept.len() {
            0 => cx.note("no sub-query: the question stands alone"),
            few if few < number => cx.note(format!("{few} of {number} sub-queries")),
            many if many > number => {
                cx.note(format!("of {many} sub-queries, the first {number} are used"));
                kept.truncate(number);
            }
            _ => {}
        }
        Ok(kept)
    }

    /// The passages with s(d, q) >= θ.
    async fn relevant(&self, query: &str, hits: Vec<Hit>, cx: &Cx) -> Result<Vec<Hit>> {
        if hits.is_empty() {
            return Ok(hits);
        }
        let mut ranked = match cx.rerank(query, hits.clone()).await {
            Err(Error::MissingRequirement(reason)) => {
                cx.note(format!("{reason}; the passages stay in the order of the search"));
                return Ok(hits);
            }
            ranked => ranked?,
        };
        let relevant = ranked.iter().filter(|hit| hit.score >= self.theta).count();
        if relevant == 0 {
            let (best, theta) = (self.best, self.theta);
            cx.note(format!("no passage reaches {theta:.2}: the best {best} are kept"));
        }
        ranked.truncate(if relevant == 0 { self.best } else { relevant });
        Ok(ranked)
    }
}

/// The queries that are not the question or an earlier query again.
fn new_queries(offered: Vec<String>, question: &str, used: &[&String], cx: &Cx) -> Vec<String> {
    let earlier = std::iter::once(question).chain(used.iter().map(|text| text.as_str()));
    let mut worded: Vec<Vec<String>> = earlier.map(words).collect();
    let (all, mut new) = (offered.len(), vec![]);
    for text in offered {
        let words = words(&text);
        if !words.is_empty() && !worded.contains(&words) {
            worded.push(words);
            new.push(text.trim().to_owned());
        }
    }
    if new.len() < all {
        cx.note(format!("{} sub-queries repeat earlier ones", all - new.len()));
    }
    new
}

/// E, by the tagger, or without one by the rules that find names in any text.
async fn entities(text: &str, cx: &Cx) -> Result<Vec<NamedEntity>> {
    let mut named: Vec<NamedEntity> = vec![];
    let mut push = |text: &str, kind: &str| {
        let entity = NamedEntity { text: text.to_owned(), kind: kind.to_owned() };
        if !named.contains(&entity) {
            named.push(entity);
        }
    };
    match cx.entities(text).await {
        Err(Error::MissingRequirement(reason)) => {
            cx.note(format!("{reason}; names are recognized by their capitals"));
            for name in names(text) {
                let kind = if matches!(name.kind, NameKind::Value(_)) { "value" } else { "name" };
                push(&text[name.range], kind);
            }
        }
        mentions => mentions?.iter().for_each(|mention| push(&mention.text, &mention.kind)),
    }
    Ok(named)
}
