//! Asking the model whether two entities are one, where the rules do not tell.
use std::sync::Arc;

use halma_core::{Cx, Layer, Prompt};
use minijinja::{Value, context};
use serde::Deserialize;

use super::{
    BuildContext, Corpus, Cost, LedgerUnit, SourceDocument, Stage, StageError, prompt_hash,
};
use crate::Phase;
use crate::extract::Verdict;
use crate::store::{Id, Reader, Task, UnitKey, Writer, hash};

const SAME: Prompt<SameReply> = Prompt::json("kb/same");

/// Chunks for each pair of entities that is in question. An expectation without a source: it
/// depends on how many namesakes a corpus has. What the base has seen replaces it.
const CHUNKS_PER_PAIR: u64 = 20;

/// Tokens of a reply: a sentence of reasons and the verdict.
const REPLY_TOKENS: u64 = 40;

#[derive(Debug, Clone, Deserialize)]
struct SameReply {
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

fn variables(comparison: &Comparison) -> Value {
    context! { first => comparison.one.variables(), second => comparison.two.variables() }
}

pub(crate) struct SameEntity {
    context: Arc<BuildContext>,
    prompt: Id,
}

impl SameEntity {
    pub(crate) fn new(context: &Arc<BuildContext>) -> Self {
        let prompt = prompt_hash(&context.setup, SAME.name);
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

impl Stage for SameEntity {
    type Unit = LedgerUnit<Comparison>;
    type Output = Verdict;

    const PHASE: Phase = Phase::Resolve;

    fn name(&self) -> &'static str {
        "same_entity"
    }

    fn prompt(&self) -> Option<&'static str> {
        Some(SAME.name)
    }

    fn context(&self) -> &Arc<BuildContext> {
        &self.context
    }

    /// Which entities may be one is known when the facts are.
    fn units(
        &self,
        _: &Reader<'_>,
        _: &SourceDocument,
    ) -> heed::Result<Vec<LedgerUnit<Comparison>>> {
        Ok(vec![])
    }

    fn expect(
        &self,
        _: &Reader<'_>,
        corpus: &Corpus,
    ) -> heed::Result<Option<(u64, LedgerUnit<Comparison>)>> {
        let (one, two) = (ComparisonSide::expected(), ComparisonSide::expected());
        let unit = self.unit(Comparison { one, two, ..Comparison::default() });
        Ok(Some((corpus.fresh.div_ceil(CHUNKS_PER_PAIR), unit)))
    }

    fn forecast(&self, unit: &LedgerUnit<Comparison>) -> Cost {
        let variables = variables(&unit.request);
        Cost::of_call(&self.context.setup, SAME.name, &variables, REPLY_TOKENS)
    }

    async fn run(
        &self,
        cx: &Cx,
        unit: &LedgerUnit<Comparison>,
    ) -> Result<Option<Verdict>, StageError> {
        let comparison = &unit.request;
        for document in comparison.one.documents.iter().chain(&comparison.two.documents) {
            cx.quote(document);
        }
        let reply = cx.ask(&SAME, variables(comparison)).await?;
        Ok(Some(Verdict {
            one: comparison.prints.0,
            two: comparison.prints.1,
            same: reply.same,
            reason: reply.reason.unwrap_or_default().trim().to_owned(),
            documents: comparison.documents.clone(),
        }))
    }

    fn store(
        &self,
        writer: &mut Writer<'_>,
        unit: &LedgerUnit<Comparison>,
        result: Result<Verdict, String>,
    ) -> heed::Result<()> {
        unit.record(writer, result)
    }
}
