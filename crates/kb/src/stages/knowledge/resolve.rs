//! Asking the model whether two entities are one, where the rules do not tell.
use std::sync::Arc;

use halma_core::{Layer, Prompt};
use minijinja::{Value, context};
use serde::Deserialize;

use crate::Phase;
use crate::stages::{AskStage, BuildContext, Corpus, LedgerUnit, StageError};
use crate::store::{Id, PairVerdict, StoreReader, Task, UnitKey, hash};

/// Chunks for each pair of entities that is in question. An expectation without a source: it
/// depends on how many namesakes a corpus has. What the base has seen replaces it.
const CHUNKS_PER_PAIR: u64 = 20;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SameReply {
    #[serde(default)]
    reason: Option<String>,
    same: bool,
}

/// Two entities that may be one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Comparison {
    pub(crate) one: ComparisonSide,
    pub(crate) two: ComparisonSide,
    pub(crate) prints: (Id, Id),
    /// The documents whose words the model is shown.
    pub(crate) documents: Vec<Id>,
}

/// What is known of one of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ComparisonSide {
    pub(crate) names: Vec<String>,
    pub(crate) kind: String,
    pub(crate) descriptions: Vec<String>,
    /// Names of documents.
    pub(crate) documents: Vec<String>,
}

impl ComparisonSide {
    /// As long as one usually is.
    fn expected() -> Self {
        let sentence = "x".repeat(90);
        Self {
            names: vec!["x".repeat(16)],
            kind: "person".into(),
            descriptions: vec![sentence],
            documents: vec!["x".repeat(20)],
        }
    }

    fn variables(&self) -> Value {
        context! {
            names => &self.names,
            type => &self.kind,
            descriptions => &self.descriptions,
            documents => &self.documents,
        }
    }
}

pub(crate) struct SameEntity {
    context: Arc<BuildContext>,
    prompt: Id,
}

impl SameEntity {
    pub(crate) fn new(context: &Arc<BuildContext>) -> Self {
        let prompt = context.prompt_input(Self::PROMPT.name);
        Self { context: Arc::clone(context), prompt }
    }

    pub(crate) fn unit(&self, comparison: Comparison) -> LedgerUnit<Comparison> {
        let (one, two) = comparison.prints;
        let (one, two) = (one.to_be_bytes(), two.to_be_bytes());
        let key = UnitKey::with_id(Task::SameEntity, Layer::Entity, hash(&[&one, &two]));
        let input = hash(&[&self.prompt.to_be_bytes(), &one, &two]);
        LedgerUnit { key, input, request: comparison }
    }
}

impl AskStage for SameEntity {
    type Request = Comparison;
    type Reply = SameReply;
    type Stored = PairVerdict;

    const PHASE: Phase = Phase("resolving entities");
    const TASK: &'static str = "same_entity";
    const PROMPT: Prompt<SameReply> = Prompt::json("kb/same");
    /// A sentence of reasons and the verdict.
    const REPLY_TOKENS: u64 = 40;

    fn build(&self) -> &Arc<BuildContext> {
        &self.context
    }

    fn expectation(
        &self,
        _: &StoreReader<'_>,
        corpus: &Corpus,
    ) -> heed::Result<Option<(u64, LedgerUnit<Comparison>)>> {
        let (one, two) = (ComparisonSide::expected(), ComparisonSide::expected());
        let unit = self.unit(Comparison { one, two, ..Comparison::default() });
        Ok(Some((corpus.fresh.div_ceil(CHUNKS_PER_PAIR), unit)))
    }

    fn variables(&self, comparison: &Comparison) -> Value {
        context! { first => comparison.one.variables(), second => comparison.two.variables() }
    }

    fn documents<'a>(&self, comparison: &'a Comparison) -> Vec<&'a str> {
        let documents = comparison.one.documents.iter().chain(&comparison.two.documents);
        documents.map(String::as_str).collect()
    }

    fn accept(&self, comparison: &Comparison, reply: SameReply) -> Result<PairVerdict, StageError> {
        let (one, two) = comparison.prints;
        let reason = reply.reason.unwrap_or_default().trim().to_owned();
        let documents = comparison.documents.clone();
        Ok(PairVerdict { one, two, same: reply.same, reason, documents })
    }
}
