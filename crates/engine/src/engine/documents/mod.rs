//! Bringing documents into the base, and forgetting what quotes those that are gone.
mod deleting;
pub(super) mod quotes;

use std::path::PathBuf;
use std::sync::Arc;

use halma_core::{Meter, Setup};
use halma_kb::{
    BuildContext, Estimate, Forget, IndexOptions, IndexReport, Progress, TagLearning, TagSample,
};

use self::quotes::Quotes;
use super::Engine;
use super::context::meter;
use crate::error::EngineError;
use crate::shared::{CallSharing, Ledger, SharedBuild, keys_of};

/// How a build is done.
pub struct IndexRun {
    pub progress: Progress,
    /// A budget that it counts against in addition to its own.
    pub parent: Option<Arc<Meter>>,
    /// How its calls are done where the base is shared.
    pub sharing: CallSharing,
}

impl IndexRun {
    /// Within no other budget; this process does calls itself, too.
    pub fn new(progress: Progress) -> Self {
        Self { progress, parent: None, sharing: CallSharing::default() }
    }
}

/// Whether a build has left nothing to do.
fn is_complete(report: &IndexReport) -> bool {
    report.failed_units + report.pending_units == 0 && report.spent.is_none()
}

impl Engine {
    /// Brings the base up to date with the inputs, under the budget for indexing.
    pub async fn index(
        &self,
        inputs: &[PathBuf],
        options: &IndexOptions,
        progress: Progress,
    ) -> Result<IndexReport, EngineError> {
        Box::pin(self.index_by(inputs, options, IndexRun::new(progress))).await
    }

    /// [`Engine::index`], within a parent budget and with calls that are shared out as `run` says.
    pub async fn index_by(
        &self,
        inputs: &[PathBuf],
        options: &IndexOptions,
        run: IndexRun,
    ) -> Result<IndexReport, EngineError> {
        let IndexRun { progress, parent, sharing } = run;
        let meter = meter(self.config.budget.index, parent);
        let ledger = self.ledger()?;
        let quotes = self.quotes(ledger.clone());
        let forget: Forget =
            Arc::new(move |documents| quotes.forget_and_refuse(documents).map_err(Into::into));
        let mut context = BuildContext { meter, progress, forget, ..self.build_context() };
        let shared = self.share_calls(&mut context, ledger.as_ref(), &sharing)?;
        let report = halma_kb::index(context, inputs, &self.with_configuration(options)).await;
        if let Some(shared) = shared {
            shared.finish(report.as_ref().is_ok_and(is_complete)).await;
        }
        let report = report?;
        // What was asked before they were removed, and answered since.
        self.forget(&report.documents_removed)?;
        Ok(report)
    }

    /// Lets workers do the calls of a build, where the base is shared.
    fn share_calls(
        &self,
        context: &mut BuildContext,
        ledger: Option<&Ledger>,
        sharing: &CallSharing,
    ) -> Result<Option<SharedBuild>, EngineError> {
        let Some(ledger) = ledger else { return Ok(None) };
        let (config, named) = (&self.config, |e| self.config.named(e));
        let embedder = context.embedder.as_ref();
        let shared = SharedBuild::start(ledger, config, embedder, sharing).map_err(named)?;
        let Some(shared) = shared else { return Ok(None) };
        let models = shared.models(config, self.cache.as_ref()).map_err(named)?;
        context.setup = Arc::new(Setup { models, ..(*context.setup).clone() });
        context.on_turn = shared.on_turn();
        context.embedder = context.embedder.take().map(|local| shared.embedder(local));
        context.settings.concurrency = SharedBuild::in_flight(config);
        Ok(Some(shared))
    }

    /// The calls that workers do for this base, if it is shared.
    fn ledger(&self) -> Result<Option<Ledger>, EngineError> {
        let (Some(space), Some(address)) = (self.shared(), self.place.address()) else {
            return Ok(None);
        };
        Ledger::open(space, keys_of(address)?).map(Some)
    }

    /// Learns from sample questions what they call the tags of the base, under the budget for
    /// indexing and a parent budget. With `replace` what was learned from other samples is
    /// forgotten.
    pub async fn learn_tags(
        &self,
        samples: &[TagSample],
        replace: bool,
        progress: Progress,
        parent: Option<Arc<Meter>>,
    ) -> Result<TagLearning, EngineError> {
        let meter = meter(self.config.budget.index, parent);
        let context = BuildContext { meter, progress, ..self.build_context() };
        Ok(halma_kb::learn_tags(context, samples, replace).await?)
    }

    /// What [`Engine::learn_tags`] would use; asks no model and stores nothing.
    pub async fn estimate_learning(&self, samples: &[TagSample]) -> Result<Estimate, EngineError> {
        Ok(halma_kb::estimate_learning(self.build_context(), samples).await?)
    }

    /// What [`Engine::index`] would use; spends nothing and stores nothing.
    pub async fn estimate(
        &self,
        inputs: &[PathBuf],
        options: &IndexOptions,
    ) -> Result<Estimate, EngineError> {
        let options = self.with_configuration(options);
        Ok(halma_kb::estimate(self.build_context(), inputs, &options).await?)
    }

    /// The options with the configuration file that the engine was made from, which is not indexed.
    fn with_configuration(&self, options: &IndexOptions) -> IndexOptions {
        let file = &self.config.file;
        let configuration = (!file.is_empty()).then(|| PathBuf::from(file));
        IndexOptions { configuration, ..options.clone() }
    }

    fn build_context(&self) -> BuildContext {
        BuildContext::new(&self.base, &self.config.kb, &self.setup)
    }

    /// Deletes everything outside the base that may quote these documents.
    pub(super) fn forget(&self, documents: &[String]) -> Result<(), EngineError> {
        if documents.is_empty() {
            return Ok(());
        }
        self.quotes(self.ledger()?).forget(documents)
    }

    /// What may quote documents, with or without the calls that workers do.
    fn quotes(&self, ledger: Option<Ledger>) -> Quotes {
        let (traces, cache) = (Arc::clone(&self.traces), self.cache.clone());
        Quotes { traces, cache, cache_dir: self.base.cache_dir(), ledger }
    }
}
