//! Looking things up outside the base: sources of texts and a knowledge graph.
use std::future::Future;
use std::time::Instant;

use super::look::hit_line;
use super::{Cx, ms};
use crate::{
    BoxError, Entity, EntityId, Error, Event, Fact, Facts, Hit, HitLine, NodeId, Result, SourceInfo,
};

impl Cx {
    /// The base as one of the sources.
    pub fn base(&self) -> SourceInfo {
        SourceInfo { name: "text".into(), about: self.run.setup.about_base.clone() }
    }

    /// The sources other than the base, the knowledge graph last; empty when none is configured.
    pub fn sources(&self) -> Vec<SourceInfo> {
        let setup = &self.run.setup;
        let info = |name: &str, about: &str| SourceInfo { name: name.into(), about: about.into() };
        let texts = setup.sources.iter().map(|source| info(source.name(), source.about()));
        texts.chain(setup.facts.iter().map(|facts| info(facts.name(), facts.about()))).collect()
    }

    /// Asks a source other than the base.
    ///
    /// # Errors
    /// [`Error::Source`] when it fails, which is in the trace as well: a strategy may go on with
    /// the others and has to say what was missing. [`Error::MissingRequirement`] when there is none of that
    /// name.
    pub async fn source(&self, name: &str, query: &str, limit: usize) -> Result<Vec<Hit>> {
        let named = |source: &&std::sync::Arc<dyn crate::Source>| source.name() == name;
        let source = self.run.setup.sources.iter().find(named).ok_or_else(|| {
            Error::MissingRequirement(format!(
                "there is no source `{name}`: configure one under [sources]"
            ))
        })?;
        let looked = self.look_up(name, query, source.search(query, limit), |hits| {
            hits.iter().map(hit_line).collect()
        });
        let hits = looked.await?;
        self.saw(&hits);
        Ok(hits)
    }

    /// The knowledge graph, where one is configured.
    pub fn facts(&self) -> Option<FactsCx<'_>> {
        let facts = self.run.setup.facts.as_deref()?;
        Some(FactsCx { cx: self, facts })
    }

    /// Waits for a lookup as long as the budget's time allows, and puts it into the trace.
    async fn look_up<T>(
        &self,
        source: &str,
        query: &str,
        lookup: impl Future<Output = std::result::Result<T, BoxError>>,
        lines: impl Fn(&T) -> Vec<HitLine>,
    ) -> Result<T> {
        let began = Instant::now();
        let looked_up = self.in_time(lookup).await?;
        let (span, elapsed_ms) = (self.span, ms(began));
        let (source, query) = (source.to_owned(), query.to_owned());
        match looked_up {
            Ok(value) => {
                let hits = lines(&value);
                self.push(Event::SourceQueried { span, source, query, hits, elapsed_ms });
                Ok(value)
            }
            Err(error) => {
                let reason = error.to_string();
                let name = source.clone();
                self.push(Event::SourceFailed { span, source, query, reason, elapsed_ms });
                Err(Error::Source { name, source: error })
            }
        }
    }
}

/// The knowledge graph within a run: what is looked up in it is in the trace.
pub struct FactsCx<'a> {
    cx: &'a Cx,
    facts: &'a dyn Facts,
}

impl FactsCx<'_> {
    /// Its name among the sources.
    pub fn name(&self) -> &str {
        self.facts.name()
    }

    /// [`Facts::find`].
    pub async fn find(
        &self,
        name: &str,
        descriptor: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entity>> {
        let query = match descriptor {
            Some(descriptor) => format!("Search({name:?}, {descriptor:?})"),
            None => format!("Search({name:?})"),
        };
        let find = self.facts.find(name, descriptor, limit);
        let entities =
            self.look_up(&query, find, |entities| entities.iter().map(entity_line).collect());
        entities.await
    }

    /// [`Facts::relate`].
    pub async fn relate(&self, entity: &Entity, relation: &str) -> Result<Vec<Fact>> {
        let query = format!("Relate({:?}, {relation:?})", entity.label);
        let facts =
            self.look_up(&query, self.facts.relate(&entity.id, relation), fact_lines).await?;
        self.saw(&facts);
        Ok(facts)
    }

    /// [`Facts::facts_of`].
    pub async fn facts_of(&self, entity: &Entity, limit: usize) -> Result<Vec<Fact>> {
        let query = format!("Facts({:?})", entity.label);
        let facts =
            self.look_up(&query, self.facts.facts_of(&entity.id, limit), fact_lines).await?;
        self.saw(&facts);
        Ok(facts)
    }

    /// [`Facts::between`].
    pub async fn between(&self, head: &Entity, tail: &Entity) -> Result<Vec<Fact>> {
        let query = format!("Relate({:?}, {:?})", head.label, tail.label);
        let facts =
            self.look_up(&query, self.facts.between(&head.id, &tail.id), fact_lines).await?;
        self.saw(&facts);
        Ok(facts)
    }

    /// [`Facts::filter`].
    pub async fn filter(&self, entities: &[Entity], condition: &str) -> Result<Option<Vec<Fact>>> {
        let ids: Vec<EntityId> = entities.iter().map(|entity| entity.id.clone()).collect();
        let query = format!("Filter({} entities, {condition:?})", ids.len());
        let lines = |kept: &Option<Vec<Fact>>| kept.as_ref().map(fact_lines).unwrap_or_default();
        let kept = self.look_up(&query, self.facts.filter(&ids, condition), lines).await?;
        self.saw(kept.iter().flatten());
        Ok(kept)
    }

    /// Answers that quote a document's facts are forgotten with the document.
    fn saw<'f>(&self, facts: impl IntoIterator<Item = &'f Fact>) {
        self.cx.saw(facts.into_iter().map(|fact| &fact.evidence));
    }

    async fn look_up<T>(
        &self,
        query: &str,
        lookup: impl Future<Output = std::result::Result<T, BoxError>>,
        lines: impl Fn(&T) -> Vec<HitLine>,
    ) -> Result<T> {
        self.cx.look_up(self.facts.name(), query, lookup, lines).await
    }
}

fn entity_line(entity: &Entity) -> HitLine {
    HitLine {
        id: NodeId(entity.id.0.clone()),
        title: entity.label.clone(),
        text: entity.description.clone(),
        score: entity.score,
    }
}

#[expect(clippy::ptr_arg, reason = "it is handed over as what a lookup of facts gives")]
fn fact_lines(facts: &Vec<Fact>) -> Vec<HitLine> {
    facts.iter().map(|fact| hit_line(&fact.evidence)).collect()
}
