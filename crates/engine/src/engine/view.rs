//! Engines that see some documents of a base only.
use std::sync::{Arc, Weak};

use halma_core::{ConfigError, Filter, Knowledge, Metadata, MetadataFilter, Setup};
use halma_kb::Base;
use parking_lot::Mutex;

use super::{Engine, OffRuntime, knowledge_graph};
use crate::error::EngineError;

/// Views of one base that are kept with what they have loaded, those of views among them; the one
/// that was not used for longest goes.
const RETAINED: usize = 16;

/// The views of one base, the latest last.
type RetainedViews = Mutex<Vec<RetainedView>>;

struct RetainedView {
    /// What it is restricted to: the conditions of the engine that it is a view of, then its own.
    conditions: Vec<Condition>,
    engine: Arc<Engine>,
}

/// What a view is restricted to.
#[derive(Clone, PartialEq)]
struct Condition {
    filter: Filter,
    /// Uploaded files as well: the view is for those who may see no others. That of a question is
    /// not, and must never be given to them.
    uploads: bool,
}

/// Where an engine has its views: with those of the engine that it is a view of itself.
pub(super) struct Views {
    kept: Retained,
    /// What the engine is restricted to.
    conditions: Vec<Condition>,
}

enum Retained {
    Owned(Arc<RetainedViews>),
    /// Does not keep alive what keeps it.
    Whole(Weak<RetainedViews>),
}

impl Default for Views {
    fn default() -> Self {
        Self { kept: Retained::Owned(Arc::default()), conditions: vec![] }
    }
}

impl Views {
    /// Of a view with this condition in addition.
    fn below(&self, condition: Condition) -> Self {
        let kept = match &self.kept {
            Retained::Owned(kept) => Arc::downgrade(kept),
            Retained::Whole(kept) => Weak::clone(kept),
        };
        let conditions = self.conditions.iter().cloned().chain([condition]).collect();
        Self { kept: Retained::Whole(kept), conditions }
    }

    /// `None` when the engine of the whole base is gone.
    fn all(&self) -> Option<Arc<RetainedViews>> {
        match &self.kept {
            Retained::Owned(kept) => Some(Arc::clone(kept)),
            Retained::Whole(kept) => kept.upgrade(),
        }
    }
}

/// The view with these conditions, which is the latest then.
fn take(views: &RetainedViews, conditions: &[Condition]) -> Option<Arc<Engine>> {
    let mut views = views.lock();
    let at = views.iter().position(|view| view.conditions == conditions)?;
    let view = views.remove(at);
    let engine = Arc::clone(&view.engine);
    views.push(view);
    Some(engine)
}

impl Engine {
    /// This engine for those who see only the documents whose fields meet the conditions: every
    /// strategy, search, list and query of it reads a restricted base ([`Base::restricted`]), and
    /// there are no loaded knowledge graphs, which belong to no document.
    pub fn restricted(&self, to: &MetadataFilter) -> Result<Arc<Self>, EngineError> {
        to.check().map_err(halma_kb::KbError::from)?;
        let filter = Filter { metadata: to.clone(), ..Filter::default() };
        let originals = self.originals.restricted(to.clone());
        self.view(Condition { filter: filter.clone(), uploads: true }, |views| {
            Ok(Self { originals, ..self.over_documents(filter, views)? })
        })
    }

    /// This engine for a question about some documents, or one that is answered without what was
    /// accepted from answers. Nodes smaller than a document cannot be chosen here.
    pub fn filtered(self: &Arc<Self>, filter: &Filter) -> Result<Arc<Self>, EngineError> {
        Ok(self.filtered_view(filter)?.unwrap_or_else(|| Arc::clone(self)))
    }

    /// [`Engine::filtered`]; `None` where the filter admits everything.
    pub(super) fn filtered_view(&self, filter: &Filter) -> Result<Option<Arc<Self>>, EngineError> {
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
            return Ok(None);
        }
        filter.metadata.check().map_err(halma_kb::KbError::from)?;
        let condition = Condition { filter: filter.clone(), uploads: false };
        let documents = Filter { feedback: None, ..filter.clone() };
        if filter.feedback == Some(false) && documents.is_empty() {
            return self.view(condition, |views| Ok(self.without_feedback(views))).map(Some);
        }
        self.view(condition, |views| self.over_documents(filter.clone(), views)).map(Some)
    }

    /// This engine over the base without what was accepted from answers.
    fn without_feedback(&self, views: Views) -> Self {
        let base = self.base.without_feedback();
        let knowledge = Arc::new(OffRuntime::new(&base));
        let setup = Setup { knowledge, ..Setup::clone(&self.setup) };
        let independent_facts = self.independent_facts.clone();
        Self { independent_facts, ..self.with(base, setup, views) }
    }

    /// The view with this condition in addition to those of this engine. It is made without a lock,
    /// so that no one waits for it who wants another; at worst it is made twice at the same time.
    fn view(
        &self,
        condition: Condition,
        make: impl FnOnce(Views) -> Result<Self, EngineError>,
    ) -> Result<Arc<Self>, EngineError> {
        let views = self.views.below(condition);
        let Some(kept) = views.all() else { return Ok(Arc::new(make(views)?)) };
        let conditions = views.conditions.clone();
        if let Some(view) = take(&kept, &conditions) {
            return Ok(view);
        }
        let engine = Arc::new(make(views)?);
        if let Some(view) = take(&kept, &conditions) {
            return Ok(view);
        }
        let mut kept = kept.lock();
        // What goes is dropped without the lock.
        let gone = (kept.len() >= RETAINED).then(|| kept.remove(0));
        kept.push(RetainedView { conditions, engine: Arc::clone(&engine) });
        drop(kept);
        drop(gone);
        Ok(engine)
    }

    /// This engine over the documents of its base that the filter admits, with the models and prompts
    /// that it has.
    fn over_documents(&self, filter: Filter, views: Views) -> Result<Self, EngineError> {
        let base = self.base.restricted(vec![filter]);
        let knowledge: Arc<dyn Knowledge> = Arc::new(OffRuntime::new(&base));
        let facts = knowledge_graph::facts_of_documents(self, &base)?;
        Ok(self.with(base, Setup { knowledge, facts, ..Setup::clone(&self.setup) }, views))
    }

    pub(super) fn with(&self, base: Arc<Base>, setup: Setup, views: Views) -> Self {
        Self {
            config: self.config.clone(),
            place: self.place.clone(),
            state: self.state.clone(),
            base,
            setup: Arc::new(setup),
            cache: self.cache.clone(),
            resources: self.resources.clone(),
            independent_facts: None,
            traces: Arc::clone(&self.traces),
            originals: self.originals.clone(),
            views,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, EmbedderKind};

    fn engine(dir: &std::path::Path) -> Arc<Engine> {
        let mut config = Config::default();
        config.embedder.kind = EmbedderKind::None;
        Arc::new(Engine::create_or_open(config, dir).unwrap())
    }

    fn of_team(team: &str) -> MetadataFilter {
        let mut metadata = MetadataFilter::default();
        metadata.add(&format!("team={team}")).unwrap();
        metadata
    }

    fn filter(team: &str) -> Filter {
        Filter { metadata: of_team(team), ..Filter::default() }
    }

    #[tokio::test]
    async fn a_view_is_found_again_with_what_it_has_loaded() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path());
        let first = engine.filtered(&filter("a")).unwrap();
        assert!(Arc::ptr_eq(&first, &engine.filtered(&filter("a")).unwrap()));
        assert!(!Arc::ptr_eq(&first, &engine.filtered(&filter("b")).unwrap()));
        assert!(first.base.is_restricted());
        // A question's view of the same documents has the uploads of all.
        let restricted = engine.restricted(&of_team("a")).unwrap();
        assert!(!Arc::ptr_eq(&first, &restricted));
        assert!(Arc::ptr_eq(&restricted, &engine.restricted(&of_team("a")).unwrap()));
        let both = restricted.filtered(&filter("b")).unwrap();
        assert!(!Arc::ptr_eq(&both, &engine.filtered(&filter("b")).unwrap()));
    }

    #[tokio::test]
    async fn views_of_views_count_as_views_of_the_base() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path());
        let kept = engine.views.all().unwrap();
        for team in 0..4 {
            let restricted = engine.restricted(&of_team(&team.to_string())).unwrap();
            for number in 0..RETAINED {
                restricted.filtered(&filter(&number.to_string())).unwrap();
            }
        }
        assert_eq!(kept.lock().len(), RETAINED);
        // Nothing keeps itself alive.
        let (view, weak) = (engine.filtered(&filter("a")).unwrap(), Arc::downgrade(&kept));
        drop((engine, kept));
        assert!(weak.upgrade().is_none() && view.filtered(&filter("b")).is_ok());
    }
}
