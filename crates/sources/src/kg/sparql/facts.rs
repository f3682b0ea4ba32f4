//! The facts of a graph, and what they are cited by.
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use halma_core::{BoxError, EntityId, FactValue, Hit, NodeId};
use oxigraph::model::Term;

use super::description::foreignness;
use super::query::{distinct, triple, var};
use super::{SparqlGraph, iri};
use crate::kg::endpoint::is_blank;
use crate::kg::graph::{Lookup, Node, Property, Stated, Statement, order};
use crate::kg::rdf;

/// A number with its unit, at a node that holds both.
struct Quantity {
    subject: String,
    node: String,
    value: FactValue,
    graph: Option<String>,
}

impl SparqlGraph {
    /// The facts that begin in one of these entities.
    pub(crate) async fn facts_from(
        &self,
        heads: &[EntityId],
        property: &Arc<Property>,
    ) -> Result<Vec<Statement>, BoxError> {
        let mut facts = self.statements(heads, property).await?;
        let done: HashSet<&EntityId> = facts.iter().map(|fact| &fact.head).collect();
        let heads: Vec<EntityId> =
            heads.iter().filter(|head| !done.contains(head)).cloned().collect();
        facts.extend(self.direct_facts(&heads, property).await?);
        Ok(facts)
    }

    /// Facts that are a triple each.
    async fn direct_facts(
        &self,
        heads: &[EntityId],
        property: &Arc<Property>,
    ) -> Result<Vec<Statement>, BoxError> {
        let Some(predicate) = self.node(&property.id) else { return Ok(vec![]) };
        let lookup = Lookup { over: None, properties: &[predicate.as_str()] };
        let values = self.look_up(heads, lookup).await?;
        let quantities = self.quantities(heads, predicate.as_str(), property, &values).await?;
        let mut by_head: HashMap<String, Vec<Stated>> = HashMap::new();
        for stated in values {
            by_head.entry(stated.subject.clone()).or_default().push(stated);
        }
        let mut by_subject: HashMap<&str, Vec<&Quantity>> = HashMap::new();
        for quantity in &quantities {
            by_subject.entry(&quantity.subject).or_default().push(quantity);
        }
        let mut facts = vec![];
        for head in heads {
            let stated = by_head.get(&head.0).map_or(&[][..], Vec::as_slice);
            let measured = by_subject.get(head.0.as_str()).map_or(&[][..], Vec::as_slice);
            let mut tails: Vec<(Node, Option<&str>)> = vec![];
            for (value, graph) in self.values(stated) {
                let holds = |id: EntityId| measured.iter().any(|one| one.node == id.0);
                if !self.id_of(value).is_some_and(holds) {
                    tails.extend(self.tail(value, property).map(|tail| (tail, graph)));
                }
            }
            tails.extend(
                measured.iter().map(|one| (Node::Value(one.value.clone()), one.graph.as_deref())),
            );
            facts.extend(tails.into_iter().map(|(tail, graph)| {
                Statement::plain(head.clone(), property, tail, self.stated_by(graph))
            }));
        }
        self.without_nameless(facts).await
    }

    /// The values of one entity, sorted, each once with the first of its graphs by name; texts in our
    /// language where there are some.
    fn values<'s>(&self, stated_values: &'s [Stated]) -> Vec<(&'s Term, Option<&'s str>)> {
        let foreign = |stated: &Stated| match &stated.value {
            Term::Literal(text) => foreignness(text, &self.language) == 2,
            _ => false,
        };
        let has_readable = stated_values.iter().any(|stated| !foreign(stated));
        let mut values: BTreeMap<String, (&Term, Option<&str>)> = BTreeMap::new();
        for stated in stated_values.iter().filter(|stated| !has_readable || !foreign(stated)) {
            let graph = stated.graph.as_deref();
            let entry = values.entry(stated.value.to_string()).or_insert((&stated.value, graph));
            entry.1 = entry.1.min(graph);
        }
        values.into_values().collect()
    }

    /// A value as the end of a fact; `None` where it is not known.
    pub(super) fn tail(&self, value: &Term, property: &Property) -> Option<Node> {
        match value {
            Term::Literal(text) => Some(Node::Value(rdf::value(text.as_ref(), &property.unit))),
            Term::NamedNode(node) if rdf::is_unknown(node.as_str()) => None,
            Term::NamedNode(node) => Some(Node::Entity(EntityId(self.id(node.as_str())))),
            Term::BlankNode(_) => None,
        }
    }

    /// The numbers and units of those values that are nodes with both. A node may have no name, so
    /// that it is looked up over the property again.
    async fn quantities(
        &self,
        heads: &[EntityId],
        predicate: &str,
        property: &Property,
        values: &[Stated],
    ) -> Result<Vec<Quantity>, BoxError> {
        let words = &self.vocabulary;
        let numbers = words.quantities.len();
        if numbers == 0 || values.iter().all(|one| matches!(one.value, Term::Literal(_))) {
            return Ok(vec![]);
        }
        let properties = [words.quantities.as_slice(), &words.units].concat();
        let lookup = Lookup { over: Some(predicate), properties: &properties };
        let stated = self.look_up(heads, lookup).await?;
        let (numbers, units): (Vec<&Stated>, Vec<&Stated>) =
            stated.iter().partition(|one| one.property < numbers);
        let names = self.unit_names(units.iter().map(|one| &one.value)).await?;
        let units: HashMap<&str, &Stated> =
            units.into_iter().map(|unit| (unit.node.as_str(), unit)).collect();
        let quantity = |number: &&Stated| {
            let Term::Literal(text) = &number.value else { return None };
            let unit = units.get(number.node.as_str());
            let unit = unit.map(|unit| self.unit(&unit.value, &names));
            let unit = unit.unwrap_or_else(|| property.unit.clone());
            Some(Quantity {
                subject: number.subject.clone(),
                node: number.node.clone(),
                value: rdf::value(text.as_ref(), &unit),
                graph: number.graph.clone(),
            })
        };
        let mut seen = HashSet::new();
        let mut quantities: Vec<Quantity> = numbers.iter().filter_map(quantity).collect();
        quantities.retain(|one| seen.insert((one.subject.clone(), one.node.clone())));
        Ok(quantities)
    }

    pub(super) fn id_of(&self, term: &Term) -> Option<EntityId> {
        match term {
            Term::NamedNode(node) => Some(EntityId(self.id(node.as_str()))),
            _ => None,
        }
    }

    /// The facts that end in an entity, at most `limit`.
    pub(crate) async fn facts_to(
        &self,
        tail: &EntityId,
        property: &Arc<Property>,
        limit: usize,
    ) -> Result<Vec<Statement>, BoxError> {
        let sources = self.sources(self.leading_to(tail, &property.id, limit).await?);
        let end = || Node::Entity(tail.clone());
        let fact = |(head, source)| Statement::plain(EntityId(head), property, end(), source);
        let mut facts: Vec<Statement> = sources.into_iter().map(fact).collect();
        facts.sort_by(|a, b| order(&a.head).cmp(&order(&b.head)));
        Ok(facts)
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
        let solutions = self.ask(distinct(facts, &["p", "graph"], None)).await?;
        let stated = solutions.iter().filter_map(|solution| {
            let graph = iri(solution, "graph").map(str::to_owned);
            Some((self.id_in(solution, "p")?, graph))
        });
        let sources = self.sources(stated.collect());
        let properties = self.described_among(&solutions).await?.into_iter();
        let fact = |property: Arc<Property>| {
            let source = sources[&property.id].clone();
            Statement::plain(head.clone(), &property, Node::Entity(tail.clone()), source)
        };
        Ok(properties.map(fact).collect())
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
            let solutions = self.ask(distinct(self.stating(facts), &["graph"], None)).await?;
            let sources = solutions.iter().filter_map(|solution| iri(solution, "graph"));
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
    fn sources(&self, stated: Vec<(String, Option<String>)>) -> BTreeMap<String, String> {
        let mut sources: BTreeMap<String, String> = BTreeMap::new();
        for (id, graph) in stated {
            let source = self.stated_by(graph.as_deref());
            let entry = sources.entry(id).or_insert_with(|| source.clone());
            if source < *entry {
                *entry = source;
            }
        }
        sources
    }

    pub(super) fn stated_by(&self, graph: Option<&str>) -> String {
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
        let described = self.describe(&blanks, &self.vocabulary.labels).await?;
        let named = |fact: &Statement| match &fact.tail {
            Node::Entity(id) if is_blank(&id.0) => described.contains_key(&id.0),
            _ => true,
        };
        Ok(facts.into_iter().filter(named).collect())
    }
}
