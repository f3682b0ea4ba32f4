//! How an endpoint is asked: in batches, for properties that are not known yet, for names.
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use halma_core::text::normalise_name;
use halma_core::{BoxError, EntityId};
use oxigraph::model::NamedNode;
use sparesults::QuerySolution;
use spargebra::algebra::GraphPattern;
use spargebra::term::GroundTerm;

use super::client::{Client, iri, text};
use super::query::{
    any_of, distinct, filter, holds, in_language, is_iri, join, own, select, triple, union, values,
    var,
};
use super::read;
use super::words::Vocabulary;
use crate::graph::{Ends, Property};
use crate::rdf;
use crate::settings::KgProfile;

/// Entities in one query.
const BATCH: usize = 400;
/// Queries for one answer that are under way at once.
const AT_ONCE: usize = 4;

const DIRECT_CLAIM: &str = "http://wikiba.se/ontology#directClaim";

pub(crate) struct Endpoint {
    pub(crate) client: Client,
    pub(crate) profile: KgProfile,
    pub(crate) words: &'static Vocabulary,
    pub(crate) language: String,
    /// What is known of properties, by id.
    pub(crate) properties: Mutex<HashMap<String, Arc<Property>>>,
    pub(crate) ends: Mutex<HashMap<String, Ends>>,
}

/// Only what can stand in a query: an endpoint's blank nodes cannot be asked for again.
pub(crate) fn node(id: &EntityId) -> Option<NamedNode> {
    NamedNode::new(id.0.as_str()).ok()
}

pub(crate) fn terms(ids: &[EntityId]) -> Vec<GroundTerm> {
    ids.iter().filter_map(node).map(GroundTerm::NamedNode).collect()
}

impl Endpoint {
    pub(crate) async fn ask(&self, pattern: GraphPattern) -> Result<Vec<QuerySolution>, BoxError> {
        Ok(self.client.solutions(&select(pattern)).await?)
    }

    /// One query for each batch of entities, some at once, their solutions in order.
    pub(crate) async fn in_batches(
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

    pub(crate) fn text_of(&self, of: &str, properties: &[&str], name: &str) -> GraphPattern {
        in_language(any_of(var(of), properties, var(name)), name, &self.language)
    }

    /// Labels, aliases and units of properties; those that are known are not asked for again.
    pub(crate) async fn described(
        &self,
        ids: &BTreeSet<String>,
    ) -> Result<Vec<Arc<Property>>, BoxError> {
        let known = |id: &String| self.held().get(id).cloned();
        let unknown: Vec<EntityId> =
            ids.iter().filter(|id| known(id).is_none()).cloned().map(EntityId).collect();
        let of = if self.words.apart { "described" } else { "e" };
        let found = self.in_batches(&unknown, |these| {
            let named = union(vec![
                self.text_of(of, self.words.labels, "label"),
                self.text_of(of, self.words.aliases, "alias"),
                any_of(var(of), rdf::UNITS, var("unit")),
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

    pub(crate) fn held(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Property>>> {
        self.properties.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn ids(&self, pattern: GraphPattern) -> Result<Vec<EntityId>, BoxError> {
        Ok(sorted(&self.ask(pattern).await?))
    }

    /// Names by their words: by the service that Wikidata has for it, else by looking at every
    /// name, which an endpoint may take too long for.
    pub(crate) async fn by_words(
        &self,
        name: &str,
        limit: usize,
    ) -> Result<Vec<EntityId>, BoxError> {
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
