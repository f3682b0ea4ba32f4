//! What questions call things and what the corpus calls them, learned from question–answer samples
//! (PIKE-RAG, section 5.2.2).
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use halma_core::{
    Cx, Filter, Knowledge, Layer, Limit, Meter, MinScore, Mode, Query, Setup, UsageTotal,
};
use serde::{Deserialize, Serialize};

use super::names::{form, occurs};
use super::tags::{self, CLASSES_KEY, Classes, Tags};
use super::units::{Distiller, Fault, Job, run};
use crate::error::run_blocking;
use crate::lock::WriterLock;
use crate::store::{ChunkRecord, DocumentRecord, Id, Row, Task, UnitKey, hash, parse_id};
use crate::{Base, KbError, KbSettings, Progress, Stage};

/// A sample teaches from so many chunks that answer it.
const CHUNKS: usize = 3;

/// A question with its answers, and the document that answers it where that is known.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TagSample {
    pub question: String,
    #[serde(default, alias = "answer", deserialize_with = "one_or_many")]
    pub answers: Vec<String>,
    /// A document's name.
    #[serde(default)]
    pub document: Option<String>,
}

/// What was learned.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Learned {
    /// Samples whose question was tagged and that a chunk answers.
    pub samples: usize,
    /// Samples that no chunk of the base answers.
    pub unanswered: usize,
    pub failed: usize,
    /// Samples that were not tried.
    pub pending: usize,
    /// Pairs of tags that the base has now.
    pub pairs: usize,
    pub usage: UsageTotal,
    pub spent: Option<Limit>,
    pub failure: Option<String>,
}

/// A sample as it is kept: the tags of its question, and the chunks that answer it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LearnedFrom {
    pub(super) tags: Tags,
    pub(super) chunks: Vec<Id>,
    pub(super) documents: Vec<Id>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

fn one_or_many<'d, D: serde::Deserializer<'d>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(match OneOrMany::deserialize(from)? {
        OneOrMany::One(answer) => vec![answer],
        OneOrMany::Many(answers) => answers,
    })
}

impl TagSample {
    /// Samples from a file with one JSON object on each line: `question`, `answer` or `answers`,
    /// and `document` where it is known. A line that is none is an error with its number.
    pub fn read(path: &Path) -> Result<Vec<Self>, KbError> {
        let text = std::fs::read_to_string(path).map_err(|e| KbError::file(path, "read", e))?;
        let mut samples = vec![];
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let sample = serde_json::from_str(line).map_err(|e| KbError::BadSample {
                path: path.to_owned(),
                line: at + 1,
                reason: e.to_string(),
            })?;
            samples.push(sample);
        }
        Ok(samples)
    }
}

/// Learns from samples which tags of questions stand for which tags of the corpus. The base must
/// be tagged; samples that were learned from before cost nothing.
pub async fn learn_tags(
    base: &Arc<Base>,
    samples: &[TagSample],
    settings: &KbSettings,
    (setup, meter): (&Arc<Setup>, &Arc<Meter>),
    progress: Progress,
) -> Result<Learned, KbError> {
    let dir = base.dir.clone();
    let _lock = run_blocking("waiting for the lock", move || WriterLock::take(&dir)).await?;
    let classes = base.store.read(|txn| base.store.unit_of::<Classes>(txn, CLASSES_KEY))?;
    let Some((_, classes)) = classes else { return Err(KbError::NoTags) };
    let distiller = Arc::new(Distiller {
        base: Arc::clone(base),
        settings: settings.clone(),
        setup: Arc::clone(setup),
        meter: Arc::clone(meter),
        progress,
    });
    let asked_with = tags::asked_with(setup, &classes);
    let (jobs, mut learned) = jobs(base, samples, asked_with).await?;
    let asked = Arc::new(classes);
    let ran = run(&distiller, Stage::Tag, jobs, move |cx, (question, found)| {
        let classes = Arc::clone(&asked);
        async move { ask(&cx, &question, (found, &classes)).await }
    })
    .await?;
    let keeper = Arc::clone(base);
    run_blocking("storing tags", move || tags::collect(&keeper)).await?;
    tags::embed(base).await?;
    learned.pairs = base.store.read(|txn| {
        let mut pairs = 0;
        base.store
            .each_edge(txn, |link| pairs += usize::from(link.edge == halma_core::Edge::MapsTo))?;
        Ok(pairs)
    })?;
    base.store.write(|txn| base.store.publish(txn))?;
    learned.samples -= (ran.failed + ran.pending).min(learned.samples);
    Ok(Learned {
        failed: ran.failed,
        pending: ran.pending,
        usage: ran.usage,
        spent: ran.spent,
        failure: ran.failure,
        ..learned
    })
}

/// The samples that were not learned from yet.
async fn jobs(
    base: &Arc<Base>,
    samples: &[TagSample],
    asked_with: Id,
) -> Result<(Vec<Job<(String, LearnedFrom)>>, Learned), KbError> {
    let (mut jobs, mut learned) = (vec![], Learned::default());
    for sample in samples {
        let found = answering(base, sample).await?;
        if found.chunks.is_empty() {
            learned.unanswered += 1;
            continue;
        }
        learned.samples += 1;
        let mut bytes = asked_with.to_be_bytes().to_vec();
        bytes.extend(found.chunks.iter().flat_map(|id| id.to_be_bytes()));
        let id = hash(&[sample.question.as_bytes()]);
        let key = UnitKey::with_id(Task::QuestionTags, Layer::Tag, id);
        let input = hash(&[&bytes]);
        if !base.store.read(|txn| base.store.is_done(txn, key, input))? {
            jobs.push(Job { key, input, of: (sample.question.clone(), found) });
        }
    }
    Ok((jobs, learned))
}

async fn ask(
    cx: &Cx,
    question: &str,
    (found, classes): (LearnedFrom, &Classes),
) -> Result<Option<LearnedFrom>, Fault> {
    let tags = tags::ask(cx, ("", question), &classes.list).await?;
    Ok(Some(LearnedFrom { tags, ..found }))
}

/// The chunks that answer a sample: those of its document that hold an answer, or the best of a
/// search that do.
async fn answering(base: &Arc<Base>, sample: &TagSample) -> Result<LearnedFrom, KbError> {
    let answers: Vec<String> = sample.answers.iter().map(|answer| form(answer)).collect();
    let holds = |text: &str| {
        let text = form(text);
        answers.iter().any(|answer| !answer.is_empty() && occurs(answer, &text))
    };
    let store = &base.store;
    let mut rows = match &sample.document {
        Some(name) => chunks_of(base, name)?,
        None => nearest(base, &sample.question).await?,
    };
    rows = store.read(|txn| {
        let mut holding = vec![];
        for row in rows {
            let Some(record) = store.node::<ChunkRecord>(txn, row)? else { continue };
            if holds(&store.chunk_text(txn, &record)?) {
                holding.push(row);
            }
        }
        Ok(holding)
    })?;
    rows.truncate(CHUNKS);
    store.read(|txn| {
        let (mut chunks, mut documents) = (vec![], BTreeSet::new());
        for row in rows {
            let record: ChunkRecord = store.linked(txn, row)?;
            let document: DocumentRecord = store.linked(txn, record.document)?;
            chunks.push(record.id);
            documents.insert(document.id);
        }
        Ok(LearnedFrom { tags: vec![], chunks, documents: documents.into_iter().collect() })
    })
}

/// The chunks of a document by its name; none where there is no such document.
fn chunks_of(base: &Base, name: &str) -> Result<Vec<Row>, KbError> {
    let store = &base.store;
    store.read(|txn| {
        let Some(row) = store.named(txn, name)? else { return Ok(vec![]) };
        let document: DocumentRecord = store.linked(txn, row)?;
        Ok((document.chunks.0..document.chunks.1).collect())
    })
}

/// The chunks that a search finds first.
async fn nearest(base: &Base, question: &str) -> Result<Vec<Row>, KbError> {
    let query = Query {
        texts: vec![question.to_owned()],
        layer: Layer::Chunk,
        mode: Mode::Hybrid,
        limit: 10,
        min_score: MinScore::Any,
        exclude: vec![],
        filter: Filter::default(),
    };
    let hits = base.search(&query).await.map_err(|e| KbError::Search { reason: e.to_string() })?;
    base.store.read(|txn| {
        let mut rows = vec![];
        for hit in hits.into_iter().flatten() {
            if let Some((_, id)) = parse_id(&hit.id) {
                rows.extend(base.store.find(txn, Layer::Chunk, id)?);
            }
        }
        Ok(rows)
    })
}
