//! Engines that see some documents of a base only.
use std::sync::{Arc, Mutex, PoisonError};

use halma_core::{ConfigError, Filter, Metadata, MetadataFilter, Setup};
use halma_kb::Base;

use super::{Engine, OffRuntime, knowledge_graph};
use crate::error::EngineError;

/// Views that are kept with what they have loaded; the one that was not used for longest goes.
const KEPT: usize = 16;

/// The views of one engine by what they are restricted to, the latest last.
#[derive(Default)]
pub(super) struct Views(Mutex<Vec<(Vec<Filter>, Arc<Engine>)>>);

impl Engine {
    /// This engine for those who see only the documents whose fields meet the conditions: every
    /// strategy, search, list and query of it reads a restricted base ([`Base::restricted`]), and
    /// there are no loaded knowledge graphs, which belong to no document.
    pub fn restricted(&self, to: &MetadataFilter) -> Result<Arc<Self>, EngineError> {
        to.check().map_err(halma_kb::KbError::from)?;
        let filter = Filter { metadata: to.clone(), ..Filter::default() };
        let originals = self.originals.restricted(to.clone());
        let filters = vec![filter];
        self.view(filters.clone(), || Ok(Self { originals, ..self.over_documents(filters)? }))
    }

    /// This engine for a question about some documents, or one that is answered without what was
    /// accepted from answers. Nodes smaller than a document cannot be chosen here.
    pub fn filtered(self: &Arc<Self>, filter: &Filter) -> Result<Arc<Self>, EngineError> {
        let unfit = |key: &str| ConfigError {
            file: "the filter of a question".into(),
            key: key.into(),
            reason: "a question is answered from whole documents".into(),
            hint: "filter by documents, formats, dates or metadata; a search can be filtered by \
                   sections and tags"
                .into(),
        };
        if !filter.sections.is_empty() {
            return Err(unfit("filter.sections").into());
        }
        if !filter.tags.is_empty() {
            return Err(unfit("filter.tags").into());
        }
        if filter.feedback == Some(true) {
            return Err(unfit("filter.feedback").into());
        }
        if filter.is_empty() {
            return Ok(Arc::clone(self));
        }
        filter.metadata.check().map_err(halma_kb::KbError::from)?;
        let filters = vec![filter.clone()];
        let documents = Filter { feedback: None, ..filter.clone() };
        if filter.feedback == Some(false) && documents.is_empty() {
            return self.view(filters, || Ok(self.without_feedback()));
        }
        self.view(filters.clone(), || self.over_documents(filters))
    }

    /// This engine over the base without what was accepted from answers.
    fn without_feedback(&self) -> Self {
        let base = self.base.without_feedback();
        let knowledge = Arc::new(OffRuntime::new(&base));
        let setup = Setup { knowledge, ..Setup::clone(&self.setup) };
        let independent_facts = self.independent_facts.clone();
        Self { independent_facts, ..self.with(base, setup) }
    }

    fn view(
        &self,
        filters: Vec<Filter>,
        make: impl FnOnce() -> Result<Self, EngineError>,
    ) -> Result<Arc<Self>, EngineError> {
        let mut views = self.views.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = views.iter().position(|(known, _)| *known == filters) {
            let view = views.remove(at);
            let engine = Arc::clone(&view.1);
            views.push(view);
            return Ok(engine);
        }
        let view = Arc::new(make()?);
        if views.len() >= KEPT {
            views.remove(0);
        }
        views.push((filters, Arc::clone(&view)));
        Ok(view)
    }

    /// This engine over the documents of its base that all of these admit.
    fn over_documents(&self, filters: Vec<Filter>) -> Result<Self, EngineError> {
        let base = self.base.restricted(filters);
        let named = |e| self.config.named(e);
        let setup =
            self.resources.setup(&self.config, &base, self.cache.as_ref()).map_err(named)?;
        let facts = knowledge_graph::facts_of_documents(self, &base)?;
        Ok(self.with(base, Setup { facts, ..setup }))
    }

    fn with(&self, base: Arc<Base>, setup: Setup) -> Self {
        Self {
            config: self.config.clone(),
            place: self.place.clone(),
            shared: self.shared.clone(),
            base,
            setup: Arc::new(setup),
            cache: self.cache.clone(),
            resources: self.resources.clone(),
            independent_facts: None,
            traces: Arc::clone(&self.traces),
            originals: self.originals.clone(),
            views: Views::default(),
        }
    }

    /// Gives a document, named or by its id, other fields, and the file that was uploaded for it the
    /// same. Returns its name.
    pub fn set_metadata(&self, document: &str, metadata: &Metadata) -> Result<String, EngineError> {
        metadata.check().map_err(halma_kb::KbError::from)?;
        let store = |name: &str| {
            let set = self.originals.set_metadata(name, metadata);
            set.map_err(|e| EngineError::file(self.originals.dir(), e))
        };
        match self.base.set_metadata(document, metadata) {
            Ok(name) => store(&name).map(|_| name),
            // It may wait for a build.
            Err(halma_kb::KbError::NoNode { .. }) if store(document)? => Ok(document.to_owned()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a document or file of this name is there that is not to be seen here, so that
    /// another of its name would take its place.
    pub fn hides(&self, name: &str) -> Result<bool, EngineError> {
        Ok(self.originals.hides(name) || self.base.hides(name)?)
    }
}
