//! Summarising questions: everything that was found is read once, in groups concurrently.

use std::collections::{BTreeSet, HashSet};

use futures::future::try_join_all;
use halma_core::{
    Answer, Citation, Cx, Edge, Hit, Layer, Mode, NodeId, Prompt, Question, Result,
    UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::shared::citing::joined;
use crate::shared::closing::close_unread;
use crate::shared::settings::{a_cosine, at_least_one};
use crate::shared::sources::Near;
use crate::shared::steps::{NOTHING_NEAR, Reading, answer_from};

const SUMMARISE: Prompt<Points> = Prompt::json("pike_l2/summarise");
const COMBINE: Prompt<Reading> = Prompt::json("pike_l2/combine");

/// Points that stand for the answer where no reply combines them.
const COMBINED: usize = 5;

/// What is read and how; the paper names no constants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Summarising {
    /// The most chunks near the question.
    pub(crate) chunks: usize,
    /// Number of nearest chunks whose whole section is read.
    pub(crate) sections: usize,
    /// The most chunks that are read in all.
    pub(crate) max_chunks: usize,
    /// Chunks that one call reads.
    pub(crate) group: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for Summarising {
    fn default() -> Self {
        let (chunks, sections, max_chunks, group) = (32, 8, 64, 8);
        Self { chunks, sections, max_chunks, group, min_score: None, mode: Mode::Graph }
    }
}

/// A reply to `summarise`; passages count from 1.
#[derive(Debug, Deserialize)]
struct Points {
    points: Vec<Point>,
}

#[derive(Debug, Deserialize)]
struct Point {
    point: String,
    passages: Vec<usize>,
}

/// A point with the passages that say it.
#[derive(Debug, Serialize)]
struct Noted {
    point: String,
    #[serde(skip)]
    rests_on: Vec<Hit>,
}

impl Summarising {
    pub(super) async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let cx = cx.span("summarising");
        let (chunks, beyond) = self.gather(question, &cx).await?;
        if chunks.is_empty() {
            return close_unread(NOTHING_NEAR, question, &cx).await;
        }
        let mapped = self.map(question, (&chunks, &beyond), &cx).await?;
        let points = mapped.unwrap_or_else(|| {
            cx.note("using the nearest chunks instead of notes on them");
            self.nearest(&chunks)
        });
        if points.is_empty() {
            let reason = "none of the passages read is relevant to the question";
            return close_unread(reason, question, &cx).await;
        }
        let variables = context! { question => Serde(question), points => Serde(&points) };
        let reading = cx.reserve().ask(&COMBINE, variables).await;
        let reading = match reading.unless_failed(&cx, "the first points are the answer")? {
            Some(reading) => reading,
            None => uncombined(&points),
        };
        let rests_on = points.iter().flat_map(|noted| &noted.rests_on).map(Citation::from);
        Ok(Answer { citations: joined(rests_on), ..answer_from(reading, &[]) })
    }

    /// The points of all groups, every chunk in exactly one of them; `None` when the budget was
    /// spent before any was read. Tells how much was read.
    async fn map(
        &self,
        question: &Question,
        (chunks, beyond): (&[Hit], &[Hit]),
        cx: &Cx,
    ) -> Result<Option<Vec<Noted>>> {
        let groups = chunks.chunks(self.group).enumerate().map(|(i, group)| {
            let cx = cx.span(format!("group {}", i + 1));
            async move { points_of(question, group, &cx).await.unless_spent() }
        });
        let groups = try_join_all(groups).await?;
        let spent = chunks.chunks(self.group).zip(&groups).filter(|(_, points)| points.is_none());
        let unread: Vec<&Hit> = spent.flat_map(|(group, _)| group).chain(beyond).collect();
        let all: Vec<&Hit> = chunks.iter().chain(beyond).collect();
        cx.note(coverage(&all, &unread));
        let any = groups.iter().any(Option::is_some);
        Ok(any.then(|| groups.into_iter().flatten().flatten().collect()))
    }

    /// One group of chunks as their own notes.
    fn nearest(&self, chunks: &[Hit]) -> Vec<Noted> {
        let mut chunks = chunks.to_vec();
        chunks.sort_by(|a, b| b.score.total_cmp(&a.score));
        let noted = |chunk: Hit| Noted { point: chunk.text.clone(), rests_on: vec![chunk] };
        chunks.into_iter().take(self.group).map(noted).collect()
    }

    pub(super) fn check(&self) -> std::result::Result<(), String> {
        at_least_one("chunks", self.chunks)?;
        at_least_one("max_chunks", self.max_chunks)?;
        at_least_one("group", self.group)?;
        a_cosine("min_score", self.min_score)
    }
}

/// The points themselves, where no reply puts them together.
fn uncombined(points: &[Noted]) -> Reading {
    let points: Vec<&str> = points.iter().take(COMBINED).map(|noted| noted.point.trim()).collect();
    Reading { answer: points.join(" "), rationale: String::new() }
}

async fn points_of(question: &Question, group: &[Hit], cx: &Cx) -> Result<Option<Vec<Noted>>> {
    let variables = context! { question => Serde(question), context => Serde(group) };
    let offered = |reply: &Points| {
        let mut named = reply.points.iter().flat_map(|point| &point.passages);
        match named.find(|passage| !(1..=group.len()).contains(passage)) {
            Some(passage) => Err(format!("there is no passage {passage}")),
            None if reply.points.iter().any(|point| point.point.trim().is_empty()) => {
                Err("one of `points` is empty".to_owned())
            }
            None => Ok(()),
        }
    };
    let noted = cx.ask_checked(&SUMMARISE, variables, offered).await;
    let Some(Points { points }) = noted.unless_failed(cx, "these passages are not read")? else {
        return Ok(None);
    };
    if points.is_empty() {
        cx.note("nothing here is relevant to the question");
    }
    let (points, unfounded): (Vec<_>, Vec<_>) =
        points.into_iter().partition(|point| !point.passages.is_empty());
    if !unfounded.is_empty() {
        cx.note(format!("{} points name no passage and are omitted", unfounded.len()));
    }
    let noted = |Point { point, passages }: Point| Noted {
        point,
        rests_on: passages.iter().map(|passage| group[passage - 1].clone()).collect(),
    };
    Ok(Some(points.into_iter().map(noted).collect()))
}

/// How much of what was found was read. A section counts when every chunk of it was read; a chunk
/// without one counts by itself.
fn coverage(all: &[&Hit], unread: &[&Hit]) -> String {
    let sections = |chunks: &[&Hit]| {
        let section = |hit: &&Hit| hit.parent.clone().unwrap_or_else(|| hit.id.clone());
        chunks.iter().map(section).collect::<BTreeSet<NodeId>>().len()
    };
    let (sections, left) = (sections(all), sections(unread));
    let (chunks, read) = (all.len(), all.len() - unread.len());
    format!("{} of {sections} sections read ({read} of {chunks} chunks)", sections - left)
}

impl Summarising {
    /// Every chunk once, in the order of the documents, so that a group reads on; and those that
    /// are too many to be read.
    pub(super) async fn gather(
        &self,
        question: &Question,
        cx: &Cx,
    ) -> Result<(Vec<Hit>, Vec<Hit>)> {
        let Self { chunks, min_score, mode, .. } = *self;
        let near = Near { chunks, atoms: 0, min_score, mode };
        let mut chunks = near.to(&question.text, &[], cx).await?;
        let mut whole: Vec<NodeId> = vec![];
        for chunk in chunks.iter().take(self.sections) {
            whole.extend(chunk.parent.clone().filter(|section| !whole.contains(section)));
        }
        let parts = whole.iter().map(|section| cx.neighbours(section, Some(Edge::Contains)));
        let parts = try_join_all(parts).await?.into_iter().flatten();
        let mut seen: HashSet<NodeId> = chunks.iter().map(|chunk| chunk.id.clone()).collect();
        let parts = parts.map(|(_, part)| part).filter(|part| part.layer == Layer::Chunk);
        chunks.extend(parts.filter(|part| seen.insert(part.id.clone())));
        // The nearest come first, then the sections of the nearest.
        let beyond = chunks.split_off(self.max_chunks.min(chunks.len()));
        chunks.sort_by(|a, b| {
            (&a.document, a.span.start, &a.id).cmp(&(&b.document, b.span.start, &b.id))
        });
        Ok((chunks, beyond))
    }
}
