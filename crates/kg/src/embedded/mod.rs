//! The graph that was loaded into a base, kept in memory while it is used.
mod files;
mod loaded;
#[cfg(test)]
pub(crate) mod samples;
mod store;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{BoxError, EntityId, FactValue, Hit};
use oxigraph::model::{Literal, NamedNodeRef, Quad, Term, TermRef};

#[cfg(test)]
pub(crate) use self::files::Files;
pub use self::files::{KgError, KgFormat, KgLoad, KgLoaded};
pub use self::loaded::{KgFigures, KgGraph, KgGraphs};
#[cfg(test)]
pub(crate) use self::store::Stored as EmbeddedGraph;
use self::store::{Stored, id_of, node};
use crate::graph::{Class, Ends, Graph, Near, Node, Profile, Property, Stated};
use crate::rdf;
use crate::words::stems;

/// Facts of a property that are looked at for the classes of its ends.
const SAMPLE: usize = 512;
/// Classes above a class that are followed.
const HIGHEST: usize = 64;

impl Stored {
    fn class(&self, id: &str) -> Class {
        let entity = EntityId(id.to_owned());
        let mut names = self.texts(&entity, rdf::LABELS);
        names.truncate(1);
        names.extend(self.texts(&entity, rdf::ALIASES));
        if names.is_empty() {
            names.push(rdf::local_name(id));
        }
        Class { id: id.to_owned(), names }
    }

    fn class_ids(&self, entity: &EntityId, properties: &[&str]) -> Vec<String> {
        let objects = properties.iter().flat_map(|property| self.objects(entity, property));
        let ids = objects.filter_map(|term| match term {
            Term::NamedNode(class) => Some(class.as_str().to_owned()),
            _ => None,
        });
        ids.collect()
    }

    fn profile(&self, id: &EntityId) -> Profile {
        let mut labels = self.texts(id, rdf::LABELS);
        labels.extend(self.texts(id, rdf::ALIASES));
        if labels.is_empty() {
            labels.push(rdf::local_name(&id.0));
        }
        let label = labels.remove(0);
        let description = self.texts(id, rdf::DESCRIPTIONS).into_iter().next().unwrap_or_default();
        let classes = self.class_ids(id, rdf::TYPES);
        let classes = classes.iter().map(|class| self.class(class)).collect();
        Profile { id: id.clone(), label, aliases: labels, description, classes }
    }

    /// The end of a fact; `None` for a node that only holds a graph together.
    fn end(&self, term: &Term, property: &Property) -> Option<Node> {
        let id = match term {
            Term::Literal(literal) => {
                return Some(Node::Value(rdf::value(literal.as_ref(), &property.unit)));
            }
            Term::NamedNode(node) => EntityId(node.as_str().to_owned()),
            Term::BlankNode(node) => EntityId(node.to_string()),
        };
        if let Some(quantity) = self.quantity(&id, property) {
            return Some(Node::Value(quantity));
        }
        let nameless =
            matches!(term, Term::BlankNode(_)) && self.texts(&id, rdf::LABELS).is_empty();
        (!nameless).then_some(Node::Entity(id))
    }

    /// A node that stands for a number with its unit.
    fn quantity(&self, id: &EntityId, property: &Property) -> Option<FactValue> {
        let number = rdf::QUANTITIES.iter().find_map(|of| {
            self.objects(id, of).into_iter().find_map(|term| match term {
                Term::Literal(number) => Some(number),
                _ => None,
            })
        })?;
        let own = self.unit(id);
        let unit = if own.is_empty() { &property.unit } else { &own };
        Some(rdf::value(number.as_ref(), unit))
    }

    fn stated(&self, quad: &Quad, property: &Arc<Property>) -> Option<Stated> {
        let tail = self.end(&quad.object, property)?;
        let (head, property) = (EntityId(id_of(&quad.subject)), Arc::clone(property));
        Some(Stated { head, property, tail, source: self.source(&quad.graph_name) })
    }

    /// Texts in other languages than ours are left out where there are some in it.
    fn in_our_language(&self, quads: &mut Vec<Quad>) {
        let strange = |quad: &Quad| match &quad.object {
            Term::Literal(text) => self.strangeness(Literal::language(text)),
            _ => 0,
        };
        let own = quads.iter().any(|quad| strange(quad) < 2);
        quads.retain(|quad| !own || strange(quad) < 2);
    }
}

#[async_trait]
impl Graph for Stored {
    async fn named(&self, name: &str, near: Near, limit: usize) -> Result<Vec<EntityId>, BoxError> {
        let mut found = self.names.named(name, near, limit);
        // A class is meant only where nothing else has the name: the Moon, not moons.
        if found.iter().any(|number| !self.classes.contains(number)) {
            found.retain(|number| !self.classes.contains(number));
        }
        Ok(found.into_iter().map(|number| self.entities[number as usize].clone()).collect())
    }

    async fn profiles(&self, entities: &[EntityId]) -> Result<Vec<Profile>, BoxError> {
        Ok(entities.iter().map(|id| self.profile(id)).collect())
    }

    async fn around(&self, entity: &EntityId, limit: usize) -> Result<Vec<String>, BoxError> {
        let Some(node) = node(entity) else { return Ok(vec![]) };
        let leaving = self.store.quads_for_pattern(Some(node.as_ref()), None, None, None);
        let arriving =
            self.store.quads_for_pattern(None, None, Some(TermRef::from(node.as_ref())), None);
        let leads = |quad: &Quad| self.by_id.contains_key(quad.predicate.as_str());
        let tails = leaving.flatten().filter(leads).filter_map(|quad| match quad.object {
            Term::NamedNode(node) => Some(EntityId(node.into_string())),
            _ => None,
        });
        let heads = arriving.flatten().filter(leads).map(|quad| EntityId(id_of(&quad.subject)));
        let ids = tails.take(limit).chain(heads.take(limit));
        let mut labels: Vec<String> =
            ids.filter_map(|id| self.texts(&id, rdf::LABELS).into_iter().next()).collect();
        labels.sort_unstable();
        labels.dedup();
        Ok(labels)
    }

    async fn properties(
        &self,
        _entities: &[EntityId],
        _words: &str,
    ) -> Result<Vec<Arc<Property>>, BoxError> {
        Ok(self.properties.clone())
    }

    async fn of_heads(
        &self,
        heads: &[EntityId],
        property: &Arc<Property>,
    ) -> Result<Vec<Stated>, BoxError> {
        let mut found = vec![];
        for head in heads {
            let mut quads = self.quads(head, &property.id);
            self.in_our_language(&mut quads);
            found.extend(quads.iter().filter_map(|quad| self.stated(quad, property)));
        }
        Ok(found)
    }

    async fn of_tail(
        &self,
        tail: &EntityId,
        property: &Arc<Property>,
        limit: usize,
    ) -> Result<Vec<Stated>, BoxError> {
        let Some(node) = node(tail) else { return Ok(vec![]) };
        let named = NamedNodeRef::new_unchecked(&property.id);
        let object = TermRef::from(node.as_ref());
        let quads = self.store.quads_for_pattern(None, Some(named), Some(object), None);
        let found = quads.flatten().take(limit).filter_map(|quad| self.stated(&quad, property));
        Ok(found.collect())
    }

    async fn between(&self, head: &EntityId, tail: &EntityId) -> Result<Vec<Stated>, BoxError> {
        let (Some(subject), Some(object)) = (node(head), node(tail)) else { return Ok(vec![]) };
        let object = TermRef::from(object.as_ref());
        let quads = self.store.quads_for_pattern(Some(subject.as_ref()), None, Some(object), None);
        let stated = quads.flatten().filter_map(|quad| {
            let property = self.by_id.get(quad.predicate.as_str())?;
            self.stated(&quad, property)
        });
        Ok(stated.collect())
    }

    async fn ends(&self, property: &Property) -> Result<Ends, BoxError> {
        Ok(self.ends_of(&property.id, || {
            let named = NamedNodeRef::new_unchecked(&property.id);
            let mut ends = Ends::default();
            let quads = self.store.quads_for_pattern(None, Some(named), None, None);
            for quad in quads.flatten().take(SAMPLE) {
                ends.heads.extend(self.class_ids(&EntityId(id_of(&quad.subject)), rdf::TYPES));
                if let Term::NamedNode(tail) = &quad.object {
                    let tail = EntityId(tail.as_str().to_owned());
                    ends.tails.extend(self.class_ids(&tail, rdf::TYPES));
                }
            }
            ends
        }))
    }

    async fn classes(&self, entities: &[EntityId]) -> Result<Vec<Vec<Class>>, BoxError> {
        let mut known = std::collections::HashMap::new();
        let mut class =
            |id: &String| known.entry(id.clone()).or_insert_with(|| self.class(id)).clone();
        let of_one = entities.iter().map(|entity| {
            let mut waiting = VecDeque::from(self.class_ids(entity, rdf::TYPES));
            let mut seen: BTreeSet<String> = waiting.iter().cloned().collect();
            let mut found = vec![];
            while let Some(id) = waiting.pop_front().filter(|_| found.len() < HIGHEST) {
                found.push(class(&id));
                for above in self.class_ids(&EntityId(id), rdf::SUBCLASSES) {
                    if seen.insert(above.clone()) {
                        waiting.push_back(above);
                    }
                }
            }
            found
        });
        Ok(of_one.collect())
    }

    async fn has_class(&self, name: &str) -> Result<bool, BoxError> {
        Ok(self.class_names.contains(&stems(name)))
    }

    fn own_name(&self) -> String {
        format!("kg:{}", self.graphs.first().map_or("graph", String::as_str))
    }

    async fn cited(&self, _stated: &Stated) -> Result<Option<Hit>, BoxError> {
        Ok(None)
    }
}
