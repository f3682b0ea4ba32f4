//! What a graph says of its entities, classes and properties.
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use halma_core::{BoxError, EntityId};
use sparesults::QuerySolution;
use spargebra::algebra::GraphPattern;

use super::query::{any_of, distinct, join, optional, sample, triple, union, upwards, values, var};
use super::solutions::{Columns, Description};
use super::{SparqlGraph, cache};
use crate::graph::{Class, Ends, Profile, Property};
use crate::rdf;

/// Entities whose properties are looked at for what a condition may mean.
const LOOKED_AT: usize = 20;
/// Facts that are looked through for properties that lead to an entity, or for the ends of one.
const SAMPLE: usize = 5_000;
const SAMPLED_ENDS: usize = 500;

impl SparqlGraph {
    /// One profile for each entity, in their order; one that is unknown has its id for a label.
    pub(crate) async fn profiles(&self, entities: &[EntityId]) -> Result<Vec<Profile>, BoxError> {
        let described = self.describe(entities).await?;
        let classes: BTreeSet<String> =
            described.values().flat_map(|one| &one.classes).cloned().collect();
        let classes = self.named_classes(&classes).await?;
        let profile = |id: &EntityId| {
            let description = described.get(&id.0).cloned().unwrap_or_default();
            let own = description.classes.iter().filter_map(|class| classes.get(class).cloned());
            let own = own.collect();
            description.profile(id, own)
        };
        Ok(entities.iter().map(profile).collect())
    }

    /// Texts and classes by id.
    pub(super) async fn describe(
        &self,
        entities: &[EntityId],
    ) -> Result<HashMap<String, Description>, BoxError> {
        let words = &self.vocabulary;
        let columns = &self.columns;
        let found = self.ask_in_batches(entities, |these| {
            let mut parts = self.texts("e", &words.labels, &columns.labels);
            parts.extend(self.texts("e", &words.aliases, &columns.aliases));
            parts.extend(self.texts("e", &words.descriptions, &columns.descriptions));
            parts.push(any_of(var("e"), &words.types, var("class")));
            distinct(join(these, union(parts)), &self.described_columns(&["class"]), None)
        });
        let mut described: HashMap<String, Description> = HashMap::new();
        for solution in found.await? {
            if let Some(id) = self.id_in(&solution, "e") {
                described.entry(id).or_default().take(&solution, columns, &self.language);
            }
        }
        for description in described.values_mut() {
            description.classes =
                std::mem::take(&mut description.classes).iter().map(|iri| self.id(iri)).collect();
        }
        Ok(described)
    }

    fn described_columns(&self, more: &[&str]) -> Vec<String> {
        let Columns { labels, aliases, descriptions } = &self.columns;
        let texts = labels.iter().chain(aliases).chain(descriptions).cloned();
        texts.chain(["e"].iter().chain(more).map(|&name| name.to_owned())).collect()
    }

    /// Classes by id; those that are known are not asked for again.
    async fn named_classes(
        &self,
        ids: &BTreeSet<String>,
    ) -> Result<HashMap<String, Class>, BoxError> {
        let unknown: Vec<EntityId> = {
            let known = cache(&self.classes);
            ids.iter().filter(|id| !known.contains_key(*id)).cloned().map(EntityId).collect()
        };
        let mut described = self.describe(&unknown).await?;
        let mut known = cache(&self.classes);
        for EntityId(id) in unknown {
            let class = described.remove(&id).unwrap_or_default().class(id.clone());
            known.insert(id, class);
        }
        Ok(ids.iter().filter_map(|id| Some((id.clone(), known.get(id)?.clone()))).collect())
    }

    /// The classes of each entity with those above them, in the entities' order.
    pub(crate) async fn classes(&self, entities: &[EntityId]) -> Result<Vec<Vec<Class>>, BoxError> {
        let found = self.ask_in_batches(entities, |these| {
            let classes = upwards(var("e"), &self.vocabulary, var("class"));
            distinct(join(these, classes), &["e", "class"], None)
        });
        let mut of_each: HashMap<String, BTreeSet<String>> = HashMap::new();
        for solution in found.await? {
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

    /// The labels of what some facts tie an entity to, from at most `limit` facts at each end.
    pub(crate) async fn neighbours(
        &self,
        entity: &EntityId,
        limit: usize,
    ) -> Result<Vec<String>, BoxError> {
        let Some(entity) = self.node(&entity.0) else { return Ok(vec![]) };
        let near = union(vec![
            sample(triple(entity.clone(), var("p"), var("e")), &["e"], limit),
            sample(triple(var("e"), var("p"), entity), &["e"], limit),
        ]);
        let labels = &self.columns.labels;
        let columns: Vec<String> = labels.iter().cloned().chain(["e".to_owned()]).collect();
        let found = self.ask(distinct(join(near, self.labels("e")), &columns, None)).await?;
        let mut described: HashMap<String, Description> = HashMap::new();
        for solution in &found {
            if let Some(id) = self.id_in(solution, "e") {
                described.entry(id).or_default().take(solution, &self.columns, &self.language);
            }
        }
        let names = described.into_iter().map(|(id, one)| one.class(id).names.swap_remove(0));
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
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
        let found = self.ask(distinct(both, &["p"], None)).await?;
        self.described_among(&found).await
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
            let known = cache(&self.properties);
            ids.iter().filter(|id| !known.contains_key(*id)).cloned().collect()
        };
        let of_wikidata = self.vocabulary.of_wikidata;
        let direct = |id: &&String| !of_wikidata || rdf::described_at(id) != **id;
        let at: Vec<EntityId> =
            unknown.iter().filter(direct).map(|id| EntityId(rdf::described_at(id))).collect();
        let found = self.ask_in_batches(&at, |these| self.with_unit(these));
        let mut made: HashMap<String, Description> = HashMap::new();
        for solution in found.await? {
            if let Some(id) = self.id_in(&solution, "e") {
                made.entry(id).or_default().take(&solution, &self.columns, &self.language);
            }
        }
        let mut known = cache(&self.properties);
        for id in unknown {
            let description = made.get(&rdf::described_at(&id)).cloned().unwrap_or_default();
            // What Wikidata does not describe is not one of its properties.
            if !of_wikidata || description.has_name() {
                known.insert(id.clone(), Arc::new(description.property(id)));
            }
        }
        Ok(ids.iter().filter_map(|id| known.get(id).cloned()).collect())
    }

    fn with_unit(&self, these: GraphPattern) -> GraphPattern {
        let words = &self.vocabulary;
        let mut parts = self.texts("e", &words.labels, &self.columns.labels);
        parts.extend(self.texts("e", &words.aliases, &self.columns.aliases));
        parts.push(self.unit_of("e"));
        distinct(join(these, union(parts)), &self.described_columns(&["unit", "unitLabel"]), None)
    }

    /// The unit that is named at something, with its label.
    pub(super) fn unit_of(&self, of: &str) -> GraphPattern {
        let unit = any_of(var(of), &self.vocabulary.units, var("unit"));
        let names = vec!["unitLabel".to_owned(); self.vocabulary.labels.len()];
        let labels = union(self.texts("unit", &self.vocabulary.labels, &names));
        optional(unit, labels)
    }

    /// The classes of what is at the two ends of a property's facts, of a sample of them.
    pub(crate) async fn ends(&self, property: &Property) -> Result<Ends, BoxError> {
        if let Some(known) = cache(&self.ends).get(&property.id).cloned() {
            return Ok(known);
        }
        let Some(predicate) = self.node(&property.id) else { return Ok(Ends::default()) };
        let facts = sample(triple(var("h"), predicate, var("t")), &["h", "t"], SAMPLED_ENDS);
        let sorted = union(vec![
            any_of(var("h"), &self.vocabulary.types, var("head")),
            any_of(var("t"), &self.vocabulary.types, var("tail")),
        ]);
        let found = self.ask(distinct(join(facts, sorted), &["head", "tail"], None)).await?;
        let of = |name| self.ids_in(&found, name).into_iter().collect();
        let ends = Ends { heads: of("head"), tails: of("tail") };
        cache(&self.ends).insert(property.id.clone(), ends.clone());
        Ok(ends)
    }

    /// The label of a class.
    pub(crate) async fn class_label(&self, id: &str) -> Result<String, BoxError> {
        let named = self.named_classes(&BTreeSet::from([id.to_owned()])).await?;
        let label = named.get(id).and_then(|class| class.names.first().cloned());
        Ok(label.unwrap_or_else(|| rdf::local_name(id)))
    }
}
