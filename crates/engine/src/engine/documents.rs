//! Bringing documents into the base, and deleting them with everything that quotes them.
use std::path::PathBuf;
use std::sync::Arc;

use halma_core::Meter;
use halma_kb::{
    BuildContext, Deleted, Estimate, IndexOptions, IndexReport, Progress, TagLearning, TagSample,
};
use halma_models::Cache;
use halma_net::daily::forget_replies;

use super::Engine;
use crate::assemble;
use crate::error::EngineError;

impl Engine {
    /// Brings the base up to date with the inputs, under the budget for indexing.
    pub async fn index(
        &self,
        inputs: &[PathBuf],
        options: &IndexOptions,
        progress: Progress,
    ) -> Result<IndexReport, EngineError> {
        self.index_within(inputs, options, progress, None).await
    }

    /// [`Engine::index`] that also counts against a parent budget.
    pub async fn index_within(
        &self,
        inputs: &[PathBuf],
        options: &IndexOptions,
        progress: Progress,
        parent: Option<Arc<Meter>>,
    ) -> Result<IndexReport, EngineError> {
        let meter = self.index_meter(parent);
        let context = BuildContext { meter, progress, ..self.build_context() };
        let report = halma_kb::index(context, inputs, options).await?;
        self.forget(&report.documents_removed)?;
        Ok(report)
    }

    /// Learns from sample questions what they call the tags of the base, under the budget for
    /// indexing. With `replace` what was learned from other samples is forgotten.
    pub async fn learn_tags(
        &self,
        samples: &[TagSample],
        replace: bool,
        progress: Progress,
    ) -> Result<TagLearning, EngineError> {
        self.learn_tags_within(samples, replace, progress, None).await
    }

    /// [`Engine::learn_tags`] that also counts against a parent budget.
    pub async fn learn_tags_within(
        &self,
        samples: &[TagSample],
        replace: bool,
        progress: Progress,
        parent: Option<Arc<Meter>>,
    ) -> Result<TagLearning, EngineError> {
        let meter = self.index_meter(parent);
        let context = BuildContext { meter, progress, ..self.build_context() };
        Ok(halma_kb::learn_tags(context, samples, replace).await?)
    }

    /// What [`Engine::learn_tags`] would use; asks no model and stores nothing.
    pub async fn estimate_learning(&self, samples: &[TagSample]) -> Result<Estimate, EngineError> {
        Ok(halma_kb::estimate_learning(self.build_context(), samples).await?)
    }

    /// The budget for indexing.
    fn index_meter(&self, parent: Option<Arc<Meter>>) -> Arc<Meter> {
        let budget = self.config.budget.index;
        Arc::new(match parent {
            Some(parent) => Meter::within(budget, parent),
            None => Meter::new(budget),
        })
    }

    /// What [`Engine::index`] would use; spends nothing and stores nothing.
    pub async fn estimate(
        &self,
        inputs: &[PathBuf],
        options: &IndexOptions,
    ) -> Result<Estimate, EngineError> {
        Ok(halma_kb::estimate(self.build_context(), inputs, options).await?)
    }

    fn build_context(&self) -> BuildContext {
        BuildContext::new(&self.base, &self.config.kb, &self.setup)
    }

    /// Deletes documents (by name, id or glob) with everything that quotes them: cached replies,
    /// traces of questions and uploaded originals included.
    pub fn delete(&self, documents: &[String]) -> Result<Deleted, EngineError> {
        let deleted = self.base.delete(documents)?;
        if let Some(cache) = &self.cache {
            cache.refuse(&deleted.names);
        }
        self.forget(&deleted.names)?;
        let dir = self.originals.dir();
        self.originals.remove(&deleted.names).map_err(|e| EngineError::file(dir, e))?;
        Ok(deleted)
    }

    /// Deletes the cached replies and traces that may quote these documents, also those of models
    /// that are not configured any more; and all replies of the web and of an endpoint, since it is
    /// not known which of their queries were made from a document.
    pub(super) fn forget(&self, documents: &[String]) -> Result<(), EngineError> {
        if documents.is_empty() {
            return Ok(());
        }
        self.traces.forget(documents).map_err(|e| EngineError::file(self.traces.dir(), e))?;
        let dir = self.base.cache_dir();
        forget_replies(&assemble::web_folder(&dir))?;
        forget_replies(&assemble::kg_folder(&dir))?;
        let failed = |e| EngineError::Cache(Box::new(e));
        let cache = match &self.cache {
            Some(cache) => Arc::clone(cache),
            None if dir.join("data.mdb").exists() || dir.join("replies").exists() => {
                Cache::open(&dir).map_err(failed)?
            }
            None => return Ok(()),
        };
        cache.forget(documents).map_err(failed)?;
        Ok(())
    }
}
