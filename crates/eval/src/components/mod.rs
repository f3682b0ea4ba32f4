//! What a question cost, part by part: a fold over its trace, small enough to be kept for every
//! question of a long run.
mod evidence;
mod totals;

use std::collections::{BTreeMap, BTreeSet};

use halma_core::{Event, Layer, ReplyStatus, Trace};
use serde::{Deserialize, Serialize};

use crate::data::Item;
use crate::metrics::{keyword_match, plan_fidelity, sub_questions};

pub(crate) use evidence::Evidence;
pub(crate) use totals::Totals;
pub use totals::{Atomizing, Component, GoldTotals, LostReplies, Searches, SourceUse};

/// The calls of one prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PromptUse {
    pub(crate) calls: u64,
    /// Of the calls, those that the cache answered.
    pub(crate) cached: u64,
    /// Replies that did not fit.
    pub(crate) malformed: u64,
    /// Tokens of all calls, also of those that the cache answered: what the method needs, even
    /// if it was paid for before.
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
    /// US dollars paid.
    pub(crate) usd: f64,
}

/// One question's costs and searches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Digest {
    /// By the prompt's name.
    pub(crate) components: BTreeMap<String, PromptUse>,
    /// The role that each prompt was asked in.
    pub(crate) roles: BTreeMap<String, String>,
    /// Role → models that played it.
    pub(crate) models: BTreeMap<String, BTreeSet<String>>,
    /// Layer → searches, and how many of them found nothing near enough.
    pub(crate) searched: BTreeMap<Layer, (usize, usize)>,
    /// #SQA (DEC, Table 1): different texts that were searched for.
    pub(crate) sub_questions: usize,
    /// Source → parts of the work that asked it; `text` is the base.
    #[serde(default)]
    pub(crate) sources: BTreeMap<String, usize>,
    /// Of the keywords that DEC extracted, the share that stand in their sub-questions.
    #[serde(default)]
    pub(crate) keyword_match: Option<f64>,
    /// Of the words of DEC's plan, the share that stand in the question.
    #[serde(default)]
    pub(crate) plan_fidelity: Option<f64>,
}

impl Digest {
    pub(crate) fn new(item: &Item, trace: &Trace) -> Self {
        let mut digest = Self {
            sub_questions: sub_questions(trace),
            sources: trace.sources(),
            keyword_match: keyword_match(trace),
            plan_fidelity: plan_fidelity(&item.question.text, trace),
            ..Self::default()
        };
        for event in &trace.0 {
            match event {
                Event::ModelCalled { .. } => digest.add_call(event),
                Event::Searched { layer, hits, .. } => {
                    let (all, empty) = digest.searched.entry(*layer).or_default();
                    *all += 1;
                    *empty += usize::from(hits.is_empty());
                }
                _ => {}
            }
        }
        digest
    }

    fn add_call(&mut self, event: &Event) {
        let Event::ModelCalled { prompt, role, model, status, usage, cached, usd, .. } = event
        else {
            return;
        };
        let name = prompt.to_string();
        self.roles.entry(name.clone()).or_insert_with(|| role.clone());
        self.models.entry(role.clone()).or_default().insert(model.clone());
        let component = self.components.entry(name).or_default();
        component.calls += 1;
        component.cached += u64::from(*cached);
        component.malformed += u64::from(*status != ReplyStatus::Valid);
        component.prompt_tokens += usage.prompt_tokens;
        component.completion_tokens += usage.completion_tokens;
        component.usd += usd;
    }

    /// Prompt and completion tokens of all calls, the cached ones included.
    pub(crate) fn tokens(&self) -> (u64, u64) {
        let parts = self.components.values();
        parts.fold((0, 0), |(prompt, completion), part| {
            (prompt + part.prompt_tokens, completion + part.completion_tokens)
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use halma_core::{HitLine, Message, Mode, NodeId, Usage};

    use super::*;

    /// A reply with 10 prompt and 2 completion tokens for a cent.
    pub(crate) fn model_called(prompt: &str, role: &str, words: &str, cached: bool) -> Event {
        Event::ModelCalled {
            span: 0,
            prompt: prompt.into(),
            hash: "h".into(),
            role: role.into(),
            model: "m".into(),
            attempt: 1,
            thoughts: String::new(),
            messages: vec![Message { role: "user".into(), text: words.into() }],
            reply: "r".into(),
            status: ReplyStatus::Valid,
            usage: Usage { prompt_tokens: 10, completion_tokens: 2, ..Usage::default() },
            cached,
            usd: if cached { 0.0 } else { 0.01 },
            elapsed_ms: 1.0,
        }
    }

    pub(crate) fn searched(layer: Layer, query: &str, hits: &[(&str, &str)]) -> Event {
        let hits = hits.iter().map(|(title, text)| HitLine {
            id: NodeId::from(*title),
            title: (*title).into(),
            text: (*text).into(),
            score: 0.5,
        });
        let (mode, hits) = (Mode::Dense, hits.collect());
        Event::Searched { span: 0, layer, mode, query: query.into(), hits, elapsed_ms: 1.0 }
    }

    #[test]
    fn a_trace_is_folded_by_prompt_and_layer() {
        let trace = Trace(vec![
            model_called("a/one", "proposer", "x", false),
            searched(Layer::Atom, "sub?", &[("T", "x")]),
            searched(Layer::Atom, " Whole? ", &[]),
            searched(Layer::Chunk, "sub?", &[]),
            model_called("a/one", "proposer", "y", true),
            model_called("a/two", "reader", "z", false),
        ]);
        let item = crate::report::tests::data(1).items.remove(0);
        let digest = Digest::new(&item, &trace);
        assert_eq!(digest.tokens(), (30, 6));
        let one = digest.components["a/one"];
        assert_eq!((one.calls, one.cached, one.prompt_tokens), (2, 1, 20));
        assert!((one.usd - 0.01).abs() < 1e-12);
        assert_eq!(digest.searched[&Layer::Atom], (2, 1));
        assert_eq!(digest.searched[&Layer::Chunk], (1, 1));
        assert_eq!(digest.sub_questions, 2);
        assert_eq!(digest.sources["text"], 1);
        assert!(digest.models["reader"].contains("m"));
    }
}
