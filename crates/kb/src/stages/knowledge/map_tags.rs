//! What sample questions call the tags of the passages that answer them (PIKE-RAG, Figure 7).
use std::sync::Arc;

use halma_core::Prompt;
use minijinja::{Value, context};
use serde::Deserialize;

use crate::Phase;
use crate::stages::{AskStage, BuildContext, StageError};
use crate::store::{Id, LearnedTerms};
use crate::terms::query_terms;

/// Terms kept of one question, and tags of one term.
const MAX_TERMS: usize = 8;
const MAX_TAGS: usize = 4;

/// A tag of a passage that answers a sample.
#[derive(Debug, Clone)]
pub(crate) struct ShownTag {
    pub(crate) id: Id,
    pub(crate) class: String,
    pub(crate) name: String,
}

/// A sample with the tags of the passages that answer it.
#[derive(Debug, Clone)]
pub(crate) struct SampleRequest {
    pub(crate) question: String,
    pub(crate) answer: String,
    pub(crate) tags: Vec<ShownTag>,
    /// Names of the documents that the tags are of.
    pub(crate) documents: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct MapReply {
    pairs: Vec<TermPair>,
}

#[derive(Debug, Clone, Deserialize)]
struct TermPair {
    term: String,
    /// Counted from 1.
    tags: Vec<usize>,
}

pub(crate) struct MapTags {
    context: Arc<BuildContext>,
}

impl MapTags {
    pub(crate) fn new(context: &Arc<BuildContext>) -> Self {
        Self { context: Arc::clone(context) }
    }
}

/// Whether every word of a term is one of the question's.
fn is_of_question(term: &str, question: &str) -> bool {
    let question_terms = query_terms(question);
    let words = query_terms(term);
    !words.is_empty() && words.iter().all(|word| question_terms.contains(word))
}

impl AskStage for MapTags {
    type Request = SampleRequest;
    type Reply = MapReply;
    type Stored = LearnedTerms;

    const PHASE: Phase = Phase("mapping tags");
    const TASK: &'static str = "map_tags";
    const PROMPT: Prompt<MapReply> = Prompt::json("kb/map_tags");
    /// Two or three terms with their tags.
    const REPLY_TOKENS: u64 = 50;

    fn build(&self) -> &Arc<BuildContext> {
        &self.context
    }

    fn variables(&self, sample: &SampleRequest) -> Value {
        let tag = |tag: &ShownTag| context! { name => &tag.name, class => &tag.class };
        let tags: Vec<Value> = sample.tags.iter().map(tag).collect();
        context! { question => &sample.question, answer => &sample.answer, tags }
    }

    fn documents<'a>(&self, sample: &'a SampleRequest) -> Vec<&'a str> {
        sample.documents.iter().map(String::as_str).collect()
    }

    /// A tag or a term that does not exist is asked for again once, then left out.
    fn complaint(&self, sample: &SampleRequest, reply: &MapReply, first: bool) -> Option<String> {
        for pair in reply.pairs.iter().filter(|_| first) {
            let count = sample.tags.len();
            if let Some(tag) = pair.tags.iter().find(|tag| !(1..=count).contains(*tag)) {
                return Some(format!("there is no tag {tag}: the tags are numbered 1 to {count}"));
            }
            if !is_of_question(&pair.term, &sample.question) {
                return Some(format!("`{}` does not stand in the question", pair.term));
            }
        }
        None
    }

    fn accept(&self, sample: &SampleRequest, reply: MapReply) -> Result<LearnedTerms, StageError> {
        let mut learned = LearnedTerms::default();
        for TermPair { term, tags } in reply.pairs.into_iter().take(MAX_TERMS) {
            let numbers = tags.into_iter().take(MAX_TAGS);
            let shown = numbers.filter_map(|number| sample.tags.get(number.checked_sub(1)?));
            let mut ids: Vec<Id> = shown.map(|tag| tag.id).collect();
            ids.sort_unstable();
            ids.dedup();
            if !ids.is_empty() && is_of_question(&term, &sample.question) {
                learned.terms.push((term.split_whitespace().collect::<Vec<_>>().join(" "), ids));
            }
        }
        Ok(learned)
    }
}
