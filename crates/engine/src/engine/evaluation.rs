//! What an evaluation asks with: strategies, contexts and searches of this engine, the same that
//! answer any other question. The command line and the server evaluate with these.
use std::collections::BTreeMap;
use std::sync::Arc;

use halma_core::{Filter, Knowledge, Mode};
use halma_eval::{Bench, Passage, Pool, Retrieve, SystemUnderTest, fingerprint};

use super::SearchRequest;
use super::context::ContextOptions;
use super::{Engine, OffRuntime};
use crate::error::EngineError;

/// Hits of the search that is measured before the strategies: the deepest k of Recall@k.
const RETRIEVED: usize = 10;

impl Engine {
    /// A strategy with some of its settings replaced, as a system under test with this label.
    pub fn system_under_test(
        &self,
        strategy: &str,
        label: String,
        point: BTreeMap<String, String>,
    ) -> Result<SystemUnderTest, EngineError> {
        let strategy = self.strategy_with(strategy, &point)?;
        let fingerprint = fingerprint([self.fingerprint(strategy.as_ref())?]);
        Ok(SystemUnderTest { strategy, label, fingerprint, point })
    }

    /// What systems under test are run against, without a judge. `searched` says whether a question
    /// sees the passages of all of them or its own alone.
    pub fn bench(self: &Arc<Self>, searched: &Pool) -> Result<Bench, EngineError> {
        let engine = Arc::clone(self);
        let alone = *searched == Pool::EachAlone;
        let knowledge = self.evaluated_knowledge()?;
        Ok(Bench {
            open: Arc::new(move |item, budget| {
                let documents =
                    alone.then(|| item.contexts.iter().map(Passage::document).collect());
                let parent = Some(Arc::clone(budget));
                let knowledge = Some(Arc::clone(&knowledge));
                let options = ContextOptions::default();
                engine.context(ContextOptions { parent, documents, knowledge, ..options })
            }),
            retrieve: self.chunk_search(Mode::Hybrid),
            fingerprint: self.base_fingerprint()?,
            has_embedder: self.embedder().is_some(),
            judge: None,
            assessors: vec![],
        })
    }

    /// What evaluations search: without what was accepted from answers, unless `feedback.eval` says
    /// otherwise. An accepted answer to one of the questions would be measured, not the strategy.
    fn evaluated_knowledge(&self) -> Result<Arc<dyn Knowledge>, EngineError> {
        if self.config.feedback.eval || self.base.has_no_feedback()? {
            return Ok(Arc::clone(&self.setup.knowledge));
        }
        Ok(Arc::new(OffRuntime::new(&self.base.without_feedback())))
    }

    /// Searches chunks with a question as it is.
    pub fn chunk_search(self: &Arc<Self>, mode: Mode) -> Retrieve {
        let engine = Arc::clone(self);
        Arc::new(move |text| {
            let engine = Arc::clone(&engine);
            let feedback = if engine.config.feedback.eval { None } else { Some(false) };
            let filter = Filter { feedback, ..Filter::default() };
            let (mode, limit, filter) = (Some(mode), Some(RETRIEVED), Some(filter));
            let request = SearchRequest { text, mode, limit, filter, layer: None };
            Box::pin(async move { engine.search(request).await.map_err(Into::into) })
        })
    }
}
