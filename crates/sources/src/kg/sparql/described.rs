//! What a graph says of its entities, classes and properties.
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use halma_core::{BoxError, EntityId};
use oxigraph::model::Term;
use sparesults::QuerySolution;

use super::description::Description;
use super::query::{
    any_of, begins_with, distinct, filter, is_iri, join, sample, triple, union, upwards, values,
    var,
};
use super::{AT_ONCE, SparqlGraph};
use crate::kg::graph::{Class, Ends, Lookup, Profile, Property};
use crate::kg::rdf;

/// Entities whose properties are looked at for what a condition may mean.
const LOOKED_AT: usize = 20;
/// Facts that are looked through for properties that lead to an entity, or for the ends of one.
const SAMPLE: usize = 5_000;
const SAMPLED_ENDS: usize = 500;
/// What the IRIs of Wikidata's items begin with, and those of nothing else.
const ITEM: &str = "http://www.wikidata.org/entity/Q";

impl SparqlGraph {
    /// One profile for each entity, in their order; one that is unknown has its id for a label.
    pub(crate) async fn profiles(&self, entities: &[EntityId]) -> Result<Vec<Profile>, BoxError> {
        let described = self.describe(entities, &self.vocabulary.describing()).await?;
        let classes: BTreeSet<String> =
            described.values().flat_map(|one| &one.classes).map(|iri| self.id(iri)).collect();
        let classes = self.named_classes(&classes).await?;
        let profile = |id: &EntityId| {
            let description = described.get(&id.0).cloned().unwrap_or_default();
            let named = description.classes.iter();
            let named = named.filter_map(|class| classes.get(&self.id(class)).cloned()).collect();
            description.profile(id, named)
        };
        Ok(entities.iter().map(profile).collect())
    }

    /// Descriptions by id, from these properties.
    pub(super) async fn describe(
        &self,
        entities: &[EntityId],
        properties: &[&str],
    ) -> Result<HashMap<String, Description>, BoxError> {
        let mut described: HashMap<String, Description> = HashMap::new();
        for stated in self.look_up(entities, Lookup { over: None, properties }).await? {
            let description = described.entry(stated.subject).or_default();
            let property = properties[stated.property];
            description.take(property, &stated.value, &self.vocabulary, &self.language);
        }
        Ok(described)
    }

    /// Classes, units and the like by id; those that are known are not asked for again.
    pub(super) async fn named_classes(
        &self,
        ids: &BTreeSet<String>,
    ) -> Result<HashMap<String, Class>, BoxError> {
        let unknown: Vec<EntityId> = {
            let cache = self.classes.lock();
            ids.iter().filter(|id| !cache.contains_key(*id)).cloned().map(EntityId).collect()
        };
        let mut described = self.describe(&unknown, &self.vocabulary.names()).await?;
        let mut cache = self.classes.lock();
        for EntityId(id) in unknown {
            let class = described.remove(&id).unwrap_or_default().class(id.clone());
            cache.insert(id, class);
        }
        Ok(ids.iter().filter_map(|id| Some((id.clone(), cache.get(id)?.clone()))).collect())
    }

    /// The classes of each entity with those above them, in the entities' order.
    pub(crate) async fn classes(&self, entities: &[EntityId]) -> Result<Vec<Vec<Class>>, BoxError> {
        let solutions = self.ask_in_batches(entities, |these| {
            let classes = upwards(var("e"), &self.vocabulary, var("class"));
            distinct(join(these, classes), &["e", "class"], None)
        });
        let mut of_each: HashMap<String, BTreeSet<String>> = HashMap::new();
        for solution in solutions.await? {
            if let (Some(id), Some(class)) =
                (self.id_in(&solution, "e"), self.id_in(&solution, "class"))
            {
                of_each.entry(id).or_default().insert(class);
            }
        }
        let all: BTreeSet<String> = of_each.values().flatten().cloned().collect();
        let named = self.named_classes(&all).await?;
        let of = |id: &EntityId| {
            let classes = of_each.get(&id.0).into_iter().flatten();
            classes.filter_map(|class| named.get(class).cloned()).collect()
        };
        Ok(entities.iter().map(of).collect())
    }

    /// The labels of what some facts tie each entity to, from at most `limit` facts at each end.
    pub(crate) async fn neighbours(
        &self,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<Vec<String>>, BoxError> {
        let near = entities.iter().filter_map(|entity| self.node(&entity.0)).map(|node| {
            let is_thing = || {
                if self.vocabulary.of_wikidata { begins_with("e", ITEM) } else { is_iri("e") }
            };
            let things = |facts| filter(facts, is_thing());
            let near = union(vec![
                sample(things(triple(node.clone(), var("p"), var("e"))), &["e"], limit),
                sample(things(triple(var("e"), var("p"), node)), &["e"], limit),
            ]);
            self.ask(distinct(near, &["e"], None))
        });
        let solutions: Vec<Vec<QuerySolution>> =
            stream::iter(near.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect().await?;
        let near: Vec<BTreeSet<String>> =
            solutions.iter().map(|solutions| self.ids_in(solutions, "e")).collect();
        let all: BTreeSet<EntityId> = near.iter().flatten().cloned().map(EntityId).collect();
        let all: Vec<EntityId> = all.into_iter().collect();
        let described = self.describe(&all, &self.vocabulary.labels).await?;
        let name = |id: &String| {
            let description = described.get(id).filter(|one| one.has_label())?;
            description.clone().class(id.clone()).names.into_iter().next()
        };
        Ok(near.iter().map(|ids| ids.iter().filter_map(name).collect()).collect())
    }

    /// The properties that may be meant where something is said of these entities: of a graph in
    /// this process all, of a far one those that some of the entities have.
    pub(crate) async fn properties(
        &self,
        entities: &[EntityId],
    ) -> Result<Vec<Arc<Property>>, BoxError> {
        match self.endpoint.in_process() {
            Some(store) => {
                let all = self.all_properties.get_or_try_init(|| self.described(&store.properties));
                Ok(all.await?.clone())
            }
            None => self.own_properties(entities).await,
        }
    }

    /// The properties at either end of these entities.
    pub(crate) async fn own_properties(
        &self,
        entities: &[EntityId],
    ) -> Result<Vec<Arc<Property>>, BoxError> {
        let looked_at = self.terms(&entities[..entities.len().min(LOOKED_AT)]);
        if looked_at.is_empty() {
            return Ok(vec![]);
        }
        let these = || values("e", looked_at.clone());
        let leaving = join(these(), triple(var("e"), var("p"), var("o")));
        let arriving = join(these(), triple(var("s"), var("p"), var("e")));
        let both = union(vec![
            distinct(leaving, &["p"], None),
            distinct(sample(arriving, &["p"], SAMPLE), &["p"], None),
        ]);
        let solutions = self.ask(distinct(both, &["p"], None)).await?;
        self.described_among(&solutions).await
    }

    /// The properties under `p` in some solutions, without those that only name or describe.
    pub(super) async fn described_among(
        &self,
        solutions: &[QuerySolution],
    ) -> Result<Vec<Arc<Property>>, BoxError> {
        let mut ids = self.ids_in(solutions, "p");
        ids.retain(|id| match self.endpoint.in_process() {
            Some(store) => store.properties.contains(id),
            None => !rdf::is_describing(id),
        });
        self.described(&ids).await
    }

    /// Labels, aliases and units of properties; those that are known are not asked for again.
    async fn described(&self, ids: &BTreeSet<String>) -> Result<Vec<Arc<Property>>, BoxError> {
        let unknown: Vec<String> = {
            let cache = self.properties.lock();
            ids.iter().filter(|id| !cache.contains_key(*id)).cloned().collect()
        };
        let of_wikidata = self.vocabulary.of_wikidata;
        let direct = |id: &&String| !of_wikidata || rdf::wikibase(id).is_some();
        let at: Vec<EntityId> =
            unknown.iter().filter(direct).map(|id| EntityId(rdf::described_at(id))).collect();
        let words = &self.vocabulary;
        let properties = [words.names().as_slice(), &words.units].concat();
        let made = self.describe(&at, &properties).await?;
        let units = self.unit_names(made.values().filter_map(|one| one.unit.as_ref())).await?;
        let mut cache = self.properties.lock();
        for id in unknown {
            let description = made.get(&rdf::described_at(&id)).cloned().unwrap_or_default();
            // What Wikidata does not describe is not one of its properties.
            if !of_wikidata || description.has_name() {
                let unit = description.unit.as_ref().map(|unit| self.unit(unit, &units));
                let property = description.property(id.clone(), unit.unwrap_or_default());
                cache.insert(id, Arc::new(property));
            }
        }
        Ok(ids.iter().filter_map(|id| cache.get(id).cloned()).collect())
    }

    /// The names of those units that are things.
    pub(super) async fn unit_names(
        &self,
        units: impl Iterator<Item = &Term>,
    ) -> Result<HashMap<String, Class>, BoxError> {
        let ids = units.filter_map(|unit| match unit {
            Term::NamedNode(node) => Some(self.id(node.as_str())),
            _ => None,
        });
        self.named_classes(&ids.collect()).await
    }

    /// A unit in words; empty for counts, whose unit is 1.
    pub(super) fn unit(&self, unit: &Term, names: &HashMap<String, Class>) -> String {
        match unit {
            Term::Literal(text) if text.value() != "1" => text.value().to_owned(),
            Term::NamedNode(node) if !node.as_str().ends_with("/entity/Q199") => {
                let class = names.get(&self.id(node.as_str()));
                class.and_then(|class| class.names.first().cloned()).unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    /// The classes of what is at the two ends of a property's facts, of a sample of them.
    pub(crate) async fn ends(&self, property: &Property) -> Result<Ends, BoxError> {
        if let Some(cached) = self.ends.lock().get(&property.id).cloned() {
            return Ok(cached);
        }
        let Some(predicate) = self.node(&property.id) else { return Ok(Ends::default()) };
        let facts = sample(triple(var("h"), predicate, var("t")), &["h", "t"], SAMPLED_ENDS);
        let sorted = union(vec![
            any_of(var("h"), &self.vocabulary.types, var("head")),
            any_of(var("t"), &self.vocabulary.types, var("tail")),
        ]);
        let solutions = self.ask(distinct(join(facts, sorted), &["head", "tail"], None)).await?;
        let of = |name| self.ids_in(&solutions, name).into_iter().collect();
        let ends = Ends { heads: of("head"), tails: of("tail") };
        self.ends.lock().insert(property.id.clone(), ends.clone());
        Ok(ends)
    }

    /// The label of a class.
    pub(crate) async fn class_label(&self, id: &str) -> Result<String, BoxError> {
        let named = self.named_classes(&BTreeSet::from([id.to_owned()])).await?;
        let label = named.get(id).and_then(|class| class.names.first().cloned());
        Ok(label.unwrap_or_else(|| rdf::local_name(id)))
    }
}
