//! Filter of AtomR (Section 3.1) over any graph: conditions that are comparisons are decided, all
//! others are left to a reader.
//!
//! Values are fetched in batches and compared here, not in the query: SPARQL cannot compare a year
//! with a day, and knows no units.
mod condition;
#[cfg(test)]
mod tests;
mod units;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use halma_core::text::normalise_name;
use halma_core::{BoxError, EntityId, Fact};

use self::condition::{Reading, Test, readings};
use super::combined::in_order;
use super::graph::{Class, Near, Node, Profile, Property, Statement};
use super::matching::{Expected, PropertyMatch};
use super::operators::{Operators, reversed};
use super::rdf;
use super::synonyms::SynonymSide;
use super::words::stems;

/// Properties that are tried for one condition, at most.
const TRIED: usize = 6;
/// Entities that a name in a condition may stand for.
const SAME_NAME: usize = 32;
/// Less than this a property must not fit where a name follows it: every split of a sentence
/// means something a little.
const SURE: f32 = 0.9;

impl Operators {
    /// [`halma_core::Facts::filter`].
    pub(super) async fn filtered(
        &self,
        entities: &[EntityId],
        condition: &str,
    ) -> Result<Option<Vec<Fact>>, BoxError> {
        if entities.is_empty() {
            return Ok(None);
        }
        for reading in readings(condition) {
            let kept = match &reading.test {
                Test::Class(name) => self.of_class(entities, name).await?,
                Test::Called(name) => self.called(entities, &reading, name).await?,
                Test::Amount(..) | Test::Between(..) => self.measured(entities, &reading).await?,
            };
            if let Some(kept) = kept {
                return Ok(Some(in_order(entities, self.describe(kept).await?)));
            }
        }
        Ok(None)
    }

    async fn of_class(
        &self,
        entities: &[EntityId],
        name: &str,
    ) -> Result<Option<Vec<(Statement, f32)>>, BoxError> {
        if !self.graph.has_class(name).await? {
            return Ok(None);
        }
        let wanted = stems(name);
        let is = |class: &&Class| class.names.iter().any(|name| stems(name) == wanted);
        let labels = rdf::TYPE_NAMES.iter().map(|&name| name.to_owned()).collect();
        let property = Arc::new(Property::new(rdf::TYPE.into(), labels, String::new()));
        let classes = self.graph.classes(entities).await?;
        let kept = entities.iter().zip(&classes).filter_map(|(id, classes)| {
            let class = classes.iter().find(is)?;
            let tail = Node::Entity(EntityId(class.id.clone()));
            let source = self.graph.name().to_owned();
            Some((Statement::plain(id.clone(), &property, tail, source), 1.0))
        });
        Ok(Some(kept.collect()))
    }

    /// Values in batches; the first property that has some that can be compared decides.
    async fn measured(
        &self,
        entities: &[EntityId],
        reading: &Reading,
    ) -> Result<Option<Vec<(Statement, f32)>>, BoxError> {
        let wanted = if reading.test.of_time() { Expected::Time } else { Expected::Any };
        for meant in self.tried(entities, &reading.property, wanted).await? {
            if meant.side == SynonymSide::Backward {
                continue;
            }
            let stated = self.graph.facts_from(entities, &meant.property).await?;
            let passed = stated.into_iter().filter_map(|fact| match &fact.tail {
                Node::Value(value) => reading.test.passes(value).map(|passes| (passes, fact)),
                Node::Entity(_) => None,
            });
            let passed: Vec<(bool, Statement)> = passed.collect();
            if !passed.is_empty() {
                let kept = passed.into_iter().filter(|(passes, _)| *passes);
                let kept = kept.map(|(_, fact)| (fact, meant.score));
                return Ok(Some(kept.collect()));
            }
        }
        Ok(None)
    }

    async fn tried(
        &self,
        entities: &[EntityId],
        words: &str,
        wanted: Expected,
    ) -> Result<Vec<PropertyMatch>, BoxError> {
        let mut meant = self.meant(entities, words, wanted).await?;
        meant.truncate(TRIED);
        Ok(meant)
    }

    /// `located in France`: a property and the name of what it leads to, which the graph must
    /// know.
    async fn called(
        &self,
        entities: &[EntityId],
        reading: &Reading,
        name: &str,
    ) -> Result<Option<Vec<(Statement, f32)>>, BoxError> {
        let meant = self.tried(entities, &reading.property, Expected::Any).await?;
        let meant: Vec<PropertyMatch> =
            meant.into_iter().filter(|meant| meant.score >= SURE).collect();
        if meant.is_empty() {
            return Ok(None);
        }
        let named = self.graph.named(name, Near::Same, SAME_NAME).await?;
        let namesakes: HashSet<&EntityId> = named.iter().collect();
        let subjects: HashSet<&EntityId> = entities.iter().collect();
        let mut decided = false;
        for PropertyMatch { property, score, side } in meant {
            // Callers take the head of a fact for the entity that it is about.
            if side == SynonymSide::Backward {
                continue;
            }
            let mut stated = self.graph.facts_from(entities, &property).await?;
            if side == SynonymSide::Both {
                let other = self.graph.facts_from(&named, &property).await?;
                stated.extend(
                    other.into_iter().map(reversed).filter(|fact| subjects.contains(&fact.head)),
                );
            }
            decided |= !stated.is_empty() && !namesakes.is_empty();
            let called = self.tails_called(&stated, &namesakes, name).await?;
            let passed = stated.into_iter().zip(called).filter(|(_, called)| *called);
            let kept: Vec<_> = passed.map(|(fact, _)| (fact, score)).collect();
            if !kept.is_empty() {
                return Ok(Some(kept));
            }
        }
        Ok(decided.then(Vec::new))
    }

    async fn tails_called(
        &self,
        stated: &[Statement],
        namesakes: &HashSet<&EntityId>,
        name: &str,
    ) -> Result<Vec<bool>, BoxError> {
        let wanted = normalise_name(name);
        let ends: BTreeSet<EntityId> = stated
            .iter()
            .filter_map(|fact| match &fact.tail {
                Node::Entity(end) if namesakes.is_empty() => Some(end.clone()),
                _ => None,
            })
            .collect();
        let ends: Vec<EntityId> = ends.into_iter().collect();
        let profiles = self.graph.profiles(&ends).await?;
        let goes_by = |profile: &&Profile| {
            let mut names = profile.aliases.iter().chain([&profile.label]);
            names.any(|name| normalise_name(name) == wanted)
        };
        let called: HashSet<&EntityId> = profiles.iter().filter(goes_by).map(|p| &p.id).collect();
        let passes = |fact: &Statement| match &fact.tail {
            Node::Entity(end) => namesakes.contains(end) || called.contains(end),
            Node::Value(value) => normalise_name(&value.text) == wanted,
        };
        Ok(stated.iter().map(passes).collect())
    }
}
