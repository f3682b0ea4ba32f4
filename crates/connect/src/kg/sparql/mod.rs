//! A SPARQL 1.1 endpoint over HTTP.
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
use futures::{StreamExt as _, TryStreamExt as _, stream};
use halma_core::text::normalise_name;
use halma_core::{BoxError, ConfigError, EntityId, Facts, Hit};
use oxigraph::model::NamedNode;
use sparesults::QuerySolution;
use spargebra::algebra::GraphPattern;
use spargebra::term::GroundTerm;

use self::client::{Client, iri, text};
use self::query::{
    any_of, distinct, filter, holds, in_language, is_iri, join, optional, own, sample, select,
    triple, union, upwards, values, var,
};
use self::words::{Vocabulary, singular, written};
use super::graph::{Class, Ends, Graph, Near, Node, Profile, Property, Stated};
use super::operators::Operators;
use super::settings::{KgProfile, KgSettings};

/// Entities in one query.
const BATCH: usize = 400;
/// Queries for one answer that are under way at once.
const AT_ONCE: usize = 4;
/// Entities whose properties are looked at for what a condition may mean.
const LOOKED_AT: usize = 20;
/// Facts that are looked through for properties that lead to an entity, or for the ends of one.
const SAMPLE: usize = 5_000;
const SAMPLED_ENDS: usize = 200;

const DIRECT_CLAIM: &str = "http://wikiba.se/ontology#directClaim";

/// The endpoint as configured. The error's `file` is left empty for whoever read the
/// configuration.
pub(crate) fn endpoint(
    settings: &KgSettings,
    key: Option<String>,
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

struct Endpoint {
    client: Client,
    profile: KgProfile,
    words: &'static Vocabulary,
    language: String,
    /// What is known of properties, by id.
    properties: Mutex<HashMap<String, Arc<Property>>>,
    ends: Mutex<HashMap<String, Ends>>,
}

/// Only what can stand in a query: an endpoint's blank nodes cannot be asked for again.
fn node(id: &EntityId) -> Option<NamedNode> {
    NamedNode::new(id.0.as_str()).ok()
}

fn terms(ids: &[EntityId]) -> Vec<GroundTerm> {
    ids.iter().filter_map(node).map(GroundTerm::NamedNode).collect()
}

impl Endpoint {
    async fn ask(&self, pattern: GraphPattern) -> Result<Vec<QuerySolution>, BoxError> {
        Ok(self.client.solutions(&select(pattern)).await?)
    }

    /// One query for each batch of entities, some at once, their solutions in order.
    async fn in_batches(
        &self,
        ids: &[EntityId],
        pattern: impl Fn(GraphPattern) -> GraphPattern,
    ) -> Result<Vec<QuerySolution>, BoxError> {
        let batches = ids.chunks(BATCH).map(terms).filter(|terms| !terms.is_empty());
        let asked: Vec<GraphPattern> = batches.map(|terms| pattern(values("e", terms))).collect();
        let asked = stream::iter(asked.into_iter().map(|pattern| self.ask(pattern)));
        let found: Vec<Vec<QuerySolution>> = asked.buffered(AT_ONCE).try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    fn text_of(&self, of: &str, properties: &[&str], name: &str) -> GraphPattern {
        in_language(any_of(var(of), properties, var(name)), name, &self.language)
    }

    /// Labels, aliases and units of properties; those that are known are not asked for again.
    async fn described(&self, ids: &BTreeSet<String>) -> Result<Vec<Arc<Property>>, BoxError> {
        let known = |id: &String| self.held().get(id).cloned();
        let unknown: Vec<EntityId> =
            ids.iter().filter(|id| known(id).is_none()).cloned().map(EntityId).collect();
        let of = if self.words.apart { "described" } else { "e" };
        let found = self.in_batches(&unknown, |these| {
            let named = union(vec![
                self.text_of(of, self.words.labels, "label"),
                self.text_of(of, self.words.aliases, "alias"),
                any_of(var(of), super::rdf::UNITS, var("unit")),
            ]);
            let named = if self.words.apart {
                join(triple(var("described"), own(DIRECT_CLAIM), var("e")), named)
            } else {
                named
            };
            distinct(join(these, named), &["e", "label", "alias", "unit"], None)
        });
        let mut made: HashMap<String, read::Described> = HashMap::new();
        for solution in found.await? {
            if let Some(id) = iri(&solution, "e") {
                made.entry(id).or_default().take(&solution);
            }
        }
        let mut held = self.held();
        for EntityId(id) in unknown {
            let described = made.remove(&id).unwrap_or_default();
            // What Wikidata does not describe is no property of its.
            if !self.words.apart || !described.is_empty() {
                held.insert(id.clone(), Arc::new(described.property(id)));
            }
        }
        Ok(ids.iter().filter_map(|id| held.get(id).cloned()).collect())
    }

    fn held(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Property>>> {
        self.properties.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ids(&self, pattern: GraphPattern) -> Result<Vec<EntityId>, BoxError> {
        Ok(sorted(&self.ask(pattern).await?))
    }

    /// Names by their words: by the service that Wikidata has for it, else by looking at every
    /// name, which an endpoint may take too long for.
    async fn by_words(&self, name: &str, limit: usize) -> Result<Vec<EntityId>, BoxError> {
        if self.profile == KgProfile::Wikidata {
            let search = read::entity_search(name, &self.language);
            return self.ids(distinct(search, &["e"], Some(limit))).await;
        }
        let plain = normalise_name(name);
        let words: Vec<&str> = plain.split(' ').filter(|word| !word.is_empty()).collect();
        let Some(held) = holds("name", &words) else { return Ok(vec![]) };
        let all = any_of(var("e"), &self.words.names(), var("name"));
        let found = filter(filter(all, held), is_iri("e"));
        let mut found = self.ask(distinct(found, &["e", "name"], Some(limit))).await?;
        // The query cannot tell a word from a part of one.
        found.retain(|solution| {
            let own = text(solution, "name").map(|name| normalise_name(&name)).unwrap_or_default();
            words.iter().all(|word| own.split(' ').any(|own| own == *word))
        });
        Ok(sorted(&found))
    }
}

/// Endpoints answer in any order; of the same name the older number is the better known.
fn sorted(found: &[QuerySolution]) -> Vec<EntityId> {
    let ids = found.iter().filter_map(|solution| iri(solution, "e").map(EntityId));
    let mut ids: Vec<EntityId> = ids.collect();
    ids.sort_unstable_by(|a, b| (a.0.len(), a).cmp(&(b.0.len(), b)));
    ids.dedup();
    ids
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
