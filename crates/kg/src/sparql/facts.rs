//! The facts of a graph, and what they are cited by.
use std::collections::HashMap;
use std::sync::Arc;

use halma_core::{BoxError, EntityId, Hit, NodeId};
use sparesults::QuerySolution;

use super::SparqlGraph;
use super::query::{distinct, filter, is_iri, join, triple, var};
use super::solutions::{self, End};
use crate::endpoint::is_blank;
use crate::graph::{Node, Property, Statement};

impl SparqlGraph {
    /// The facts that begin in one of these entities.
    pub(crate) async fn facts_from(
        &self,
        heads: &[EntityId],
        property: &Arc<Property>,
    ) -> Result<Vec<Statement>, BoxError> {
        let Some(predicate) = self.node(&property.id) else { return Ok(vec![]) };
        let found = self.ask_in_batches(heads, |these| {
            let facts = self.stating(triple(var("e"), predicate.clone(), var("v")));
            let facts = self.with_quantity(join(these, facts), &property.id);
            let columns = ["e", "v", "graph", "number", "unit", "unitLabel"];
            distinct(facts, &columns, None)
        });
        let mut by_head: HashMap<String, Vec<QuerySolution>> = HashMap::new();
        for solution in found.await? {
            if let Some(id) = self.id_in(&solution, "e") {
                by_head.entry(id).or_default().push(solution);
            }
        }
        let mut facts = vec![];
        for head in heads {
            let Some(found) = by_head.get(&head.0) else { continue };
            let ends = solutions::ends(found, property, &self.language, |iri| self.id(iri));
            facts.extend(ends.into_iter().map(|End { node, graph }| Statement {
                head: head.clone(),
                property: Arc::clone(property),
                tail: node,
                source: self.stated_by(graph.as_deref()),
            }));
        }
        self.without_nameless(facts).await
    }

    /// The facts that end in an entity, at most `limit`.
    pub(crate) async fn facts_to(
        &self,
        tail: &EntityId,
        property: &Arc<Property>,
        limit: usize,
    ) -> Result<Vec<Statement>, BoxError> {
        let (Some(object), Some(predicate)) = (self.node(&tail.0), self.node(&property.id)) else {
            return Ok(vec![]);
        };
        let facts = self.stating(triple(var("e"), predicate, object));
        let facts = distinct(filter(facts, is_iri("e")), &["e", "graph"], Some(limit));
        let found = self.ask(facts).await?;
        let sources = self.sources_by(&found, "e");
        let stated = |head: EntityId| Statement {
            source: sources[&head.0].clone(),
            head,
            property: Arc::clone(property),
            tail: Node::Entity(tail.clone()),
        };
        Ok(self.entities(&found).into_iter().map(stated).collect())
    }

    /// The facts from one entity to another.
    pub(crate) async fn between(
        &self,
        head: &EntityId,
        tail: &EntityId,
    ) -> Result<Vec<Statement>, BoxError> {
        let (Some(subject), Some(object)) = (self.node(&head.0), self.node(&tail.0)) else {
            return Ok(vec![]);
        };
        let facts = self.stating(triple(subject, var("p"), object));
        let found = self.ask(distinct(facts, &["p", "graph"], None)).await?;
        let sources = self.sources_by(&found, "p");
        let stated = |property: Arc<Property>| Statement {
            source: sources[&property.id].clone(),
            head: head.clone(),
            property,
            tail: Node::Entity(tail.clone()),
        };
        Ok(self.described_among(&found).await?.into_iter().map(stated).collect())
    }

    /// What can be cited for a fact; `None` where the fact itself is all there is. A fact of the
    /// base is cited by the chunk it was extracted from, the class of an entity by that of one of
    /// the entity's facts.
    pub(crate) async fn cited(&self, stated: &Statement) -> Result<Option<Hit>, BoxError> {
        let Some(knowledge) = &self.source.knowledge else { return Ok(None) };
        let fact = if stated.source == self.source.name {
            self.some_fact(&stated.head).await?
        } else {
            Some(stated.source.clone())
        };
        let Some(fact) = fact else { return Ok(None) };
        let fact = knowledge.get(&NodeId(fact)).await?;
        match &fact.parent {
            Some(chunk) => Ok(Some(knowledge.get(chunk).await?)),
            None => Ok(Some(fact)),
        }
    }

    /// The source of some fact about an entity, one that begins in it where there is one.
    async fn some_fact(&self, entity: &EntityId) -> Result<Option<String>, BoxError> {
        let Some(node) = self.node(&entity.0) else { return Ok(None) };
        let leaving = triple(node.clone(), var("p"), var("o"));
        let arriving = triple(var("s"), var("p"), node);
        for facts in [leaving, arriving] {
            let found = self.ask(distinct(self.stating(facts), &["graph"], None)).await?;
            let sources = found.iter().filter_map(|solution| solutions::iri(solution, "graph"));
            let mut sources: Vec<String> =
                sources.map(|graph| self.stated_by(Some(graph))).collect();
            sources.sort_unstable();
            if let Some(source) = sources.into_iter().find(|source| *source != self.source.name) {
                return Ok(Some(source));
            }
        }
        Ok(None)
    }

    /// Of several graphs that state a fact the first by name.
    fn sources_by(&self, found: &[QuerySolution], name: &str) -> HashMap<String, String> {
        let mut sources: HashMap<String, String> = HashMap::new();
        for solution in found {
            let Some(id) = self.id_in(solution, name) else { continue };
            let source = self.stated_by(solutions::iri(solution, "graph"));
            let known = sources.entry(id).or_insert_with(|| source.clone());
            if source < *known {
                *known = source;
            }
        }
        sources
    }

    fn stated_by(&self, graph: Option<&str>) -> String {
        let source = graph.and_then(|graph| self.endpoint.in_process()?.source(graph));
        source.unwrap_or_else(|| self.source.name.clone())
    }

    /// Without blank nodes that only hold a graph together.
    async fn without_nameless(&self, facts: Vec<Statement>) -> Result<Vec<Statement>, BoxError> {
        let blanks = facts.iter().filter_map(|fact| match &fact.tail {
            Node::Entity(id) if is_blank(&id.0) => Some(id.clone()),
            _ => None,
        });
        let blanks: Vec<EntityId> = blanks.collect();
        if blanks.is_empty() {
            return Ok(facts);
        }
        let described = self.describe(&blanks).await?;
        let named = |fact: &Statement| match &fact.tail {
            Node::Entity(id) if is_blank(&id.0) => {
                described.get(&id.0).is_some_and(super::solutions::Description::has_label)
            }
            _ => true,
        };
        Ok(facts.into_iter().filter(named).collect())
    }
}
