//! Sample questions, and the passages that answer them.
use std::collections::BTreeSet;

use halma_core::{Edge, Filter, Layer, Mode, Query};
use serde::{Deserialize, Serialize};

use crate::stages::{BuildContext, LedgerUnit, MapTags, SampleRequest, ShownTag, Stage};
use crate::store::{
    ChunkRecord, DocumentRecord, QUESTION_CLASS, Row, StoreReader, TagRecord, Task, UnitKey, hash,
    parse_id,
};
use crate::terms::query_terms;
use crate::{Base, KbError};

/// Passages whose tags one sample is about, and those among which they are looked for.
const CHUNKS: usize = 3;
const CANDIDATES: usize = 20;

/// Tags that a model is shown for one sample.
const MAX_TAGS: usize = 48;

/// Characters of a question, and of an answer.
const LONGEST: usize = 2000;

/// A question with what is known of its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct TagSample {
    pub question: String,
    pub answer: String,
    /// Other wordings of the answer.
    pub answers: Vec<String>,
    /// Names of documents that answer it; `*` matches any characters.
    pub documents: Vec<String>,
}

/// A sample from which nothing can be learned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedSample {
    pub question: String,
    pub reason: String,
}

impl TagSample {
    /// What makes it unusable whatever the base holds.
    pub fn check(&self) -> Result<(), String> {
        let longest = self.answers().map(|answer| answer.chars().count()).max().unwrap_or(0);
        if query_terms(&self.question).is_empty() {
            return Err("it has no `question`".into());
        }
        if self.question.chars().count().max(longest) > LONGEST {
            return Err(format!("a question or answer is longer than {LONGEST} characters"));
        }
        if longest == 0 && self.documents.is_empty() {
            return Err("it has neither an `answer` nor `documents` that hold it".into());
        }
        Ok(())
    }

    fn answers(&self) -> impl Iterator<Item = &String> {
        let given = std::iter::once(&self.answer).chain(&self.answers);
        given.filter(|answer| !answer.trim().is_empty())
    }

    /// Where the ledger keeps what was learned from it.
    pub(super) fn key(&self) -> UnitKey {
        let mut parts: Vec<&[u8]> = vec![b"sample", self.question.trim().as_bytes()];
        parts.extend(self.answers().map(|answer| answer.as_bytes()));
        parts.extend(self.documents.iter().map(|name| name.as_bytes()));
        UnitKey::with_id(Task::MapTags, Layer::Tag, hash(&parts))
    }

    /// The passages that are nearest to question and answer; those that hold an answer come first,
    /// and where answers are given only they count. By BM25, so that looking costs nothing.
    async fn chunks(&self, base: &Base) -> Result<Vec<Row>, KbError> {
        let mut text = self.question.clone();
        self.answers().for_each(|answer| text = format!("{text} {answer}"));
        let query = Query {
            filter: Filter { documents: self.documents.clone(), ..Filter::default() },
            ..Query::new(vec![text], Layer::Chunk, Mode::Bm25, CANDIDATES)
        };
        let hits = base.find_plain(&query).await?.into_iter().flatten();
        let answers: Vec<Vec<String>> = self.answers().map(|answer| query_terms(answer)).collect();
        let answered = |text: &str| {
            let terms: BTreeSet<String> = query_terms(text).into_iter().collect();
            answers.is_empty() || answers.iter().any(|a| a.iter().all(|word| terms.contains(word)))
        };
        let hits = hits.filter(|hit| answered(&format!("{} {}", hit.title, hit.text)));
        let ids: Vec<_> = hits.take(CHUNKS).filter_map(|hit| parse_id(&hit.id)).collect();
        base.store.read(|reader| {
            let mut rows = vec![];
            for (layer, id) in ids {
                rows.extend(reader.find(layer, id)?);
            }
            Ok(rows)
        })
    }

    /// What a model is asked about it, or why nothing can be learned from it.
    pub(super) async fn unit(
        &self,
        stage: &MapTags,
    ) -> Result<Result<LedgerUnit<SampleRequest>, String>, KbError> {
        if let Err(reason) = self.check() {
            return Ok(Err(reason));
        }
        let context = stage.context();
        let chunks = self.chunks(&context.base).await?;
        if chunks.is_empty() {
            return Ok(Err("no passage of the base holds its answer".into()));
        }
        let request = context.store().read(|reader| {
            let mut request = SampleRequest {
                question: self.question.trim().to_owned(),
                answer: self.answers().next().cloned().unwrap_or_default(),
                tags: vec![],
                documents: vec![],
            };
            for row in &chunks {
                add_tags(reader, *row, &mut request)?;
            }
            Ok(request)
        })?;
        if request.tags.is_empty() {
            return Ok(Err("the passages that answer it have no tags".into()));
        }
        Ok(Ok(LedgerUnit { key: self.key(), input: input(context, &request), request }))
    }
}

/// Hash of everything that the model is asked with.
fn input(context: &BuildContext, request: &SampleRequest) -> u64 {
    let prompt = context.prompt_input("kb/map_tags").to_be_bytes();
    let ids: Vec<[u8; 8]> = request.tags.iter().map(|tag| tag.id.to_be_bytes()).collect();
    let mut parts: Vec<&[u8]> = vec![&prompt, request.answer.as_bytes()];
    parts.extend(ids.iter().map(|id| id.as_slice()));
    hash(&parts)
}

fn add_tags(reader: &StoreReader<'_>, row: Row, to: &mut SampleRequest) -> heed::Result<()> {
    let Some(chunk) = reader.node::<ChunkRecord>(row)? else { return Ok(()) };
    let document: DocumentRecord = reader.linked(chunk.document)?;
    if let Some(name) = document.names.first().filter(|name| !to.documents.contains(name)) {
        to.documents.push(name.clone());
    }
    for link in reader.edges_from((Layer::Chunk, row), Some(Edge::Tagged))? {
        let Some(tag) = reader.node::<TagRecord>(link.to.1)? else { continue };
        let is_shown = to.tags.iter().any(|shown| shown.id == tag.id);
        if !is_shown && tag.class != QUESTION_CLASS && to.tags.len() < MAX_TAGS {
            to.tags.push(ShownTag { id: tag.id, class: tag.class, name: tag.name });
        }
    }
    Ok(())
}
