//! The one function through which tests run a strategy.
use std::fmt::Write as _;
use std::sync::Arc;

use halma_core::{
    Budget, Cx, Facts, Knowledge, Llm, Meter, Models, Outcome, PromptSet, Prompts, Question, Setup,
    Source, Strategy, Tagging,
};

use crate::{Capitals, Overlap, outline};

/// What a strategy is run against.
pub struct Check {
    pub prompts: PromptSet,
    pub model: Arc<dyn Llm>,
    pub knowledge: Arc<dyn Knowledge>,
    pub budget: Budget,
    /// Sources of texts in addition to the base.
    pub sources: Vec<Arc<dyn Source>>,
    pub facts: Option<Arc<dyn Facts>>,
}

impl Check {
    /// A base and a model, with no limits and no other sources.
    pub fn new(prompts: PromptSet, model: Arc<dyn Llm>, knowledge: Arc<dyn Knowledge>) -> Self {
        let budget = Budget::default();
        Self { prompts, model, knowledge, budget, sources: vec![], facts: None }
    }
}

/// Runs a strategy with a reranker and a tagger that go by words, and returns its
/// transcript: the outline of its trace, then the answer with its citations or the error, then
/// what it used.
pub async fn check(strategy: &dyn Strategy, question: &str, against: Check) -> String {
    let Check { prompts, model, knowledge, budget, sources, facts } = against;
    let prompts = Arc::new(Prompts::shipped(&[prompts]).unwrap());
    let setup = Arc::new(Setup {
        reranker: Some(Arc::new(Overlap)),
        tagger: Some(Tagging::Tagger(Arc::new(Capitals))),
        sources,
        facts,
        ..Setup::new(Models::new(model), knowledge, prompts)
    });
    let cx = Cx::new(setup, Arc::new(Meter::new(budget)), None);
    let Outcome { answer, trace } = Outcome::run(strategy, &Question::new(question), &cx).await;
    let mut out = outline(&trace);
    match answer {
        Ok(answer) => {
            let cited: Vec<&str> = answer.citations.iter().map(|c| c.node.0.as_str()).collect();
            let text = if answer.abstained { "(abstains)" } else { &answer.text };
            let partial = if answer.partial { " (partial)" } else { "" };
            let _ = write!(out, "= {text}{partial} {cited:?}");
        }
        Err(error) => {
            let _ = write!(out, "! {error}");
        }
    }
    let usage = trace.usage();
    let tokens = usage.prompt_tokens + usage.completion_tokens;
    let _ = write!(out, " ({} calls, {tokens} tokens, {} hops)", usage.llm_calls, trace.hops());
    out
}
