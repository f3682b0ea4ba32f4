//! `GraphRAG`, global: what the summaries of communities say, put together.
//!
//! Paper: Edge et al., "From Local to Global", 2024, as a baseline of KAR³ (Tables 5 and 6) and of
//! PIKE-RAG (Section 6.1).
//!
//! ```text
//! S <- summaries of communities, nearest first, in groups
//! map: points with their helpfulness <- LLM(q, group), concurrently   -> graph_global/rate.md
//! P <- the points, most helpful first; those that do not help are left out
//! reduce: â <- LLM(q, P)                                              -> graph_global/combine.md
//! cite the chunks that the entities of the communities of P stand in
//! ```
//!
//! Departures from the paper: `docs/developers/departures.md`.
#[cfg(test)]
mod tests;
mod walk;

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::try_join_all;
use halma_core::text::thousands;
use halma_core::{
    Answer, Cx, Entry, Hit, Layer, Mode, Prompt, Query, Question, Result, Strategy,
    UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::naive::Naive;
use crate::shared::closing::close_unread;
use crate::shared::settings;
use crate::shared::steps::{Reading, answer_from};

pub(crate) const ENTRY: Entry = Entry {
    name: "graph_global",
    paper: "GraphRAG, global (Edge et al. 2024), as a baseline of KAR³ and PIKE-RAG",
    summary: "reads the summaries of communities in groups and puts their points together",
    calls: "1 for each group of summaries and 1; at most 9",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<GraphGlobal>(table)?.checked()?)),
};

const RATE: Prompt<Points> = Prompt::json("graph_global/rate");
const COMBINE: Prompt<Reading> = Prompt::json("graph_global/combine");

/// Points that stand for the answer where no reply combines them.
const COMBINED: usize = 5;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GraphGlobal {
    /// The most communities that are read; the paper reads all of one level.
    pub(crate) communities: usize,
    /// Communities that one call reads.
    pub(crate) group: usize,
    /// The most points that are put together.
    pub(crate) points: usize,
    /// Chunks that are cited for each community; and the most that are read without communities.
    pub(crate) cited: usize,
    pub(crate) chunks: usize,
    pub(crate) mode: Mode,
}

impl Default for GraphGlobal {
    fn default() -> Self {
        let (communities, group, points, cited, chunks) = (64, 8, 40, 3, 16);
        Self { communities, group, points, cited, chunks, mode: Mode::Hybrid }
    }
}

/// A reply to `rate`; reports count from 1.
#[derive(Debug, Deserialize)]
struct Points {
    points: Vec<Point>,
}

#[derive(Debug, Deserialize)]
struct Point {
    #[serde(rename = "point")]
    text: String,
    /// A model that cannot rate leaves it out; then the order of the reports holds.
    #[serde(default)]
    helpfulness: Option<f32>,
    passages: Vec<usize>,
}

/// A point with the communities that it comes from.
#[derive(Debug, Serialize)]
struct Rated {
    point: String,
    helpfulness: f32,
    #[serde(skip)]
    from: Vec<Hit>,
}

#[async_trait]
impl Strategy for GraphGlobal {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let communities = self.communities(question, cx).await?;
        if communities.is_empty() {
            cx.note("no community to read: reading the chunks near the question");
            let flat = Naive { chunks: self.chunks, ..Naive::default() };
            return flat.answer(question, cx).await;
        }
        let points = self.map(question, &communities, cx).await?;
        if points.is_empty() {
            let reason = "none of the communities read helps to answer the question";
            return close_unread(reason, question, cx).await;
        }
        let variables = context! { question => Serde(question), points => Serde(&points) };
        let reading = cx.reserve().ask(&COMBINE, variables).await;
        let answer = match reading.unless_failed(cx, "the most helpful points are the answer")? {
            Some(reading) => answer_from(reading, &[]),
            None => answer_from(unread(&points), &[]),
        };
        let citations = self.citations(question, &points, cx).await?;
        Ok(Answer { citations, ..answer })
    }
}

impl GraphGlobal {
    /// The communities nearest to the question.
    async fn communities(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        let count = cx.catalog().await?.count(Layer::Community);
        if count == 0 {
            cx.note("the knowledge base has no communities");
            return Ok(vec![]);
        }
        let query =
            Query::new(vec![question.text.clone()], Layer::Community, self.mode, self.communities);
        let reports: Vec<Hit> = cx.search(&query).await?.into_iter().flatten().collect();
        let count = thousands(count as u64);
        cx.note(format!("{} of {count} communities are read", reports.len()));
        Ok(reports)
    }

    /// The points of all groups, most helpful first, equals in the order of the reports.
    async fn map(&self, question: &Question, reports: &[Hit], cx: &Cx) -> Result<Vec<Rated>> {
        let groups = reports.chunks(self.group).enumerate().map(|(i, group)| {
            let cx = cx.span(format!("group {}", i + 1));
            async move { rated(question, group, &cx).await.unless_spent() }
        });
        let groups = try_join_all(groups).await?;
        if groups.iter().all(Option::is_none) {
            cx.note("using the nearest reports instead of notes on them");
            let unrated = |report: &Hit| Rated {
                point: report.text.clone(),
                helpfulness: 1.0,
                from: vec![report.clone()],
            };
            return Ok(reports.iter().take(self.group).map(unrated).collect());
        }
        let unread = groups.iter().filter(|group| group.is_none()).count();
        if unread > 0 {
            cx.note(format!("{unread} of {} groups were not read", groups.len()));
        }
        let mut points: Vec<Rated> = groups.into_iter().flatten().flatten().collect();
        points.retain(|point| point.helpfulness > 0.0);
        points.sort_by(|a, b| b.helpfulness.total_cmp(&a.helpfulness));
        if points.len() > self.points {
            cx.note(format!("of {} points, the first {} are used", points.len(), self.points));
            points.truncate(self.points);
        }
        Ok(points)
    }

    pub(crate) fn checked(self) -> std::result::Result<Self, String> {
        settings::at_least_one("communities", self.communities)?;
        settings::at_least_one("group", self.group)?;
        settings::at_least_one("points", self.points)?;
        settings::at_least_one("cited", self.cited)?;
        settings::at_least_one("chunks", self.chunks)?;
        Ok(self)
    }
}

/// The points themselves, where no reply puts them together.
fn unread(points: &[Rated]) -> Reading {
    let points: Vec<&str> = points.iter().take(COMBINED).map(|point| point.point.trim()).collect();
    Reading { answer: points.join(" "), rationale: String::new() }
}

async fn rated(question: &Question, group: &[Hit], cx: &Cx) -> Result<Option<Vec<Rated>>> {
    let variables = context! { question => Serde(question), context => Serde(group) };
    let offered = |reply: &Points| {
        let mut named = reply.points.iter().flat_map(|point| &point.passages);
        match named.find(|report| !(1..=group.len()).contains(report)) {
            Some(report) => Err(format!("there is no report {report}")),
            None => Ok(()),
        }
    };
    let rated = cx.ask_checked(&RATE, variables, offered).await;
    let Some(Points { points }) = rated.unless_failed(cx, "these reports are not read")? else {
        return Ok(None);
    };
    if points.is_empty() {
        cx.note("nothing here helps");
    }
    let rated = |Point { text, helpfulness, passages }: Point| Rated {
        point: text,
        helpfulness: helpfulness.unwrap_or(1.0),
        from: passages.iter().map(|report| group[report - 1].clone()).collect(),
    };
    Ok(Some(points.into_iter().filter(|point| !point.passages.is_empty()).map(rated).collect()))
}
