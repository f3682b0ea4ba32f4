//! A SPARQL 1.1 endpoint over HTTP.
mod asked;
mod client;
#[cfg(test)]
mod double;
mod query;
mod read;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use halma_core::{BoxError, ConfigError, EntityId, Facts, Hit};
use oxigraph::model::NamedNode;
use sparesults::QuerySolution;
use spargebra::term::GroundTerm;

use self::asked::{Endpoint, node, terms};
use self::client::{Client, iri, text};
use self::query::{
    any_of, distinct, filter, is_iri, join, optional, sample, triple, union, upwards, values, var,
};
use self::words::{Vocabulary, singular, written};
use super::graph::{Class, Ends, Graph, Near, Node, Profile, Property, Stated};
use super::operators::Operators;
use super::settings::{KgProfile, KgSettings};

/// Entities whose properties are looked at for what a condition may mean.
const LOOKED_AT: usize = 20;
/// Facts that are looked through for properties that lead to an entity, or for the ends of one.
const SAMPLE: usize = 5_000;
const SAMPLED_ENDS: usize = 200;

/// The endpoint as configured. The error's `file` is left empty for whoever read the
/// configuration.
pub(crate) fn endpoint(
    settings: &KgSettings,
    key: Option<&str>,
) -> Result<Arc<dyn Facts>, ConfigError> {
    let client = Client::new(settings, key)?;
    let about = match settings.profile {
        KgProfile::Wikidata => format!(
            "Wikidata at {}: entities of all kinds with dates, places, people, figures and how \
             they are related",
            client.host()
        ),
        KgProfile::Generic => format!("knowledge graph at {}", client.host()),
    };
    let graph = Endpoint {
        client,
        profile: settings.profile,
        words: Vocabulary::of(settings.profile),
        language: settings.language.clone(),
        properties: Mutex::default(),
        ends: Mutex::default(),
    };
    Ok(Arc::new(Operators::new(Arc::new(graph), about)))
}

#[async_trait]
impl Graph for Endpoint {
    fn looks_by_words(&self) -> bool {
        false
    }

    async fn named(&self, name: &str, near: Near, limit: usize) -> Result<Vec<EntityId>, BoxError> {
        match near {
            Near::Same => {
                let ways = written(name, &self.language);
                if ways.is_empty() {
                    return Ok(vec![]);
                }
                let named = any_of(var("e"), &self.words.names(), var("name"));
                let found = filter(join(values("name", ways), named), is_iri("e"));
                self.ids(distinct(found, &["e"], Some(limit))).await
            }
            Near::AllWords => self.by_words(name, limit).await,
            Near::MostWords => Ok(vec![]),
        }
    }

    async fn profiles(&self, entities: &[EntityId]) -> Result<Vec<Profile>, BoxError> {
        let words = self.words;
        let found = self.in_batches(entities, |these| {
            let class = any_of(var("e"), words.types, var("class"));
            let class = optional(class, self.text_of("class", words.labels, "classLabel"));
            let told = union(vec![
                self.text_of("e", words.labels, "label"),
                self.text_of("e", words.aliases, "alias"),
                self.text_of("e", words.descriptions, "description"),
                class,
            ]);
            let names = ["e", "label", "alias", "description", "class", "classLabel"];
            distinct(join(these, told), &names, None)
        });
        let mut told: HashMap<String, read::Told> = HashMap::new();
        for solution in found.await? {
            if let Some(id) = iri(&solution, "e") {
                told.entry(id).or_default().take(&solution);
            }
        }
        let profile = |id: &EntityId| told.get(&id.0).cloned().unwrap_or_default().profile(id);
        Ok(entities.iter().map(profile).collect())
    }

    async fn around(&self, entity: &EntityId, limit: usize) -> Result<Vec<String>, BoxError> {
        let Some(entity) = node(entity) else { return Ok(vec![]) };
        let near = union(vec![
            triple(entity.clone(), var("p"), var("near")),
            triple(var("near"), var("p"), entity),
        ]);
        let near = sample(near, &["near"], limit);
        let named = join(near, self.text_of("near", self.words.labels, "label"));
        let found = self.ask(distinct(named, &["label"], Some(limit))).await?;
        let mut labels: Vec<String> =
            found.iter().filter_map(|solution| text(solution, "label")).collect();
        labels.sort_unstable();
        Ok(labels)
    }

    async fn properties(
        &self,
        entities: &[EntityId],
        _words: &str,
    ) -> Result<Vec<Arc<Property>>, BoxError> {
        let looked_at = terms(&entities[..entities.len().min(LOOKED_AT)]);
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
        let ids = found.iter().filter_map(|solution| iri(solution, "p"));
        let ids = ids.filter(|id| !super::rdf::is_describing(id)).collect();
        self.described(&ids).await
    }

    async fn of_heads(
        &self,
        heads: &[EntityId],
        property: &Arc<Property>,
    ) -> Result<Vec<Stated>, BoxError> {
        let Ok(predicate) = NamedNode::new(&property.id) else { return Ok(vec![]) };
        let found = self.in_batches(heads, |these| {
            let facts = join(these, triple(var("e"), predicate.clone(), var("v")));
            let facts = read::with_quantity(facts, &property.id, &self.language);
            distinct(facts, &["e", "v", "number", "unit"], None)
        });
        let mut by_head: HashMap<String, Vec<QuerySolution>> = HashMap::new();
        for solution in found.await? {
            if let Some(id) = iri(&solution, "e") {
                by_head.entry(id).or_default().push(solution);
            }
        }
        let facts = heads.iter().flat_map(|head| {
            let ends =
                by_head.get(&head.0).map(|found| read::ends(found, property, &self.language));
            let stated = move |tail| Stated {
                head: head.clone(),
                property: Arc::clone(property),
                tail,
                source: self.own_name(),
            };
            ends.unwrap_or_default().into_iter().map(stated)
        });
        Ok(facts.collect())
    }

    async fn of_tail(
        &self,
        tail: &EntityId,
        property: &Arc<Property>,
        limit: usize,
    ) -> Result<Vec<Stated>, BoxError> {
        let (Some(object), Ok(predicate)) = (node(tail), NamedNode::new(&property.id)) else {
            return Ok(vec![]);
        };
        let facts = filter(triple(var("e"), predicate, object), is_iri("e"));
        let heads = self.ids(distinct(facts, &["e"], Some(limit))).await?;
        let stated = |head| Stated {
            head,
            property: Arc::clone(property),
            tail: Node::Entity(tail.clone()),
            source: self.own_name(),
        };
        Ok(heads.into_iter().map(stated).collect())
    }

    async fn between(&self, head: &EntityId, tail: &EntityId) -> Result<Vec<Stated>, BoxError> {
        let (Some(subject), Some(object)) = (node(head), node(tail)) else { return Ok(vec![]) };
        let found = self.ask(distinct(triple(subject, var("p"), object), &["p"], None)).await?;
        let ids = found.iter().filter_map(|solution| iri(solution, "p"));
        let ids = ids.filter(|id| !super::rdf::is_describing(id)).collect();
        let stated = |property| Stated {
            head: head.clone(),
            property,
            tail: Node::Entity(tail.clone()),
            source: self.own_name(),
        };
        Ok(self.described(&ids).await?.into_iter().map(stated).collect())
    }

    async fn ends(&self, property: &Property) -> Result<Ends, BoxError> {
        let held = || self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = held().get(&property.id).cloned() {
            return Ok(known);
        }
        let Ok(predicate) = NamedNode::new(&property.id) else { return Ok(Ends::default()) };
        let facts = triple(var("h"), predicate, var("t"));
        let facts = sample(facts, &["h", "t"], SAMPLED_ENDS);
        let sorted = union(vec![
            any_of(var("h"), self.words.types, var("head")),
            any_of(var("t"), self.words.types, var("tail")),
        ]);
        let found = self.ask(distinct(join(facts, sorted), &["head", "tail"], None)).await?;
        let of = |name| found.iter().filter_map(|solution| iri(solution, name)).collect();
        let ends = Ends { heads: of("head"), tails: of("tail") };
        held().insert(property.id.clone(), ends.clone());
        Ok(ends)
    }

    async fn classes(&self, entities: &[EntityId]) -> Result<Vec<Vec<Class>>, BoxError> {
        let ways = (self.words.types, self.words.above);
        let found = self.in_batches(entities, |these| {
            distinct(join(these, upwards(var("e"), ways, var("class"))), &["e", "class"], None)
        });
        let mut of_each: HashMap<String, BTreeSet<String>> = HashMap::new();
        for solution in found.await? {
            if let (Some(id), Some(class)) = (iri(&solution, "e"), iri(&solution, "class")) {
                of_each.entry(id).or_default().insert(class);
            }
        }
        let all: BTreeSet<EntityId> = of_each.values().flatten().cloned().map(EntityId).collect();
        let all: Vec<EntityId> = all.into_iter().collect();
        let named: HashMap<String, Class> = self
            .profiles(&all)
            .await?
            .into_iter()
            .map(|Profile { id, label, aliases, .. }| {
                let names = std::iter::once(label).chain(aliases).collect();
                (id.0.clone(), Class { id: id.0, names })
            })
            .collect();
        let of = |id: &EntityId| {
            let classes = of_each.get(&id.0).into_iter().flatten();
            classes.filter_map(|class| named.get(class).cloned()).collect()
        };
        Ok(entities.iter().map(of).collect())
    }

    async fn has_class(&self, name: &str) -> Result<bool, BoxError> {
        let ways: Vec<GroundTerm> =
            singular(name).iter().flat_map(|name| written(name, &self.language)).collect();
        if ways.is_empty() {
            return Ok(false);
        }
        let names = any_of(var("class"), &self.words.names(), var("name"));
        let used = union(vec![
            any_of(var("member"), self.words.types, var("class")),
            any_of(var("member"), self.words.above, var("class")),
        ]);
        let found = join(join(values("name", ways), names), used);
        Ok(!self.ask(sample(found, &["class"], 1)).await?.is_empty())
    }

    fn own_name(&self) -> String {
        format!("kg:{}", self.client.host())
    }

    async fn cited(&self, _stated: &Stated) -> Result<Option<Hit>, BoxError> {
        Ok(None)
    }
}
