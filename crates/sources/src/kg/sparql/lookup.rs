//! The two look-ups that facts and descriptions are made of: what is stated about some things, and
//! what leads to one. A store in this process does them itself, in half the time of a query.
use halma_core::{BoxError, EntityId};
use oxigraph::model::Term;
use sparesults::QuerySolution;
use spargebra::term::GroundTerm;

use super::query::{
    distinct, filter, iri_node, is_iri, join, readable, triple, union, values, var,
};
use super::{SparqlGraph, iri};
use crate::kg::endpoint::Endpoint;
use crate::kg::graph::{Lookup, Stated};

impl SparqlGraph {
    /// The values of some properties, thing by thing. Far graphs have texts in hundreds of
    /// languages, of which only ours are sent.
    pub(super) async fn look_up(
        &self,
        ids: &[EntityId],
        lookup: Lookup<'_>,
    ) -> Result<Vec<Stated>, BoxError> {
        if lookup.properties.is_empty() {
            return Ok(vec![]);
        }
        if let Endpoint::InProcess(store) = &self.endpoint {
            return store.look_up(ids, lookup);
        }
        let node = if lookup.over.is_some() { "n" } else { "e" };
        let value = |property: &&str| {
            let name = values("p", vec![GroundTerm::NamedNode(iri_node(property))]);
            join(name, triple(var(node), iri_node(property), var("v")))
        };
        let solutions = self.ask_in_batches(ids, |these| {
            let these = match lookup.over {
                Some(step) => join(these, triple(var("e"), iri_node(step), var("n"))),
                None => these,
            };
            let stated = join(these, union(lookup.properties.iter().map(value).collect()));
            distinct(readable(stated, "v", &self.language), &["e", "n", "p", "v"], None)
        });
        Ok(solutions.await?.iter().filter_map(|solution| stated(solution, lookup)).collect())
    }

    /// What has an entity under a property, at most `limit`, each with the graph that states it.
    pub(super) async fn leading_to(
        &self,
        entity: &EntityId,
        property: &str,
        limit: usize,
    ) -> Result<Vec<(String, Option<String>)>, BoxError> {
        let (Some(object), Some(predicate)) = (self.node(&entity.0), self.node(property)) else {
            return Ok(vec![]);
        };
        if let Endpoint::InProcess(store) = &self.endpoint {
            return store.leading_to(&object, &predicate, limit);
        }
        let facts = filter(triple(var("e"), predicate, object), is_iri("e"));
        let solutions = self.ask(distinct(facts, &["e"], Some(limit))).await?;
        Ok(self.ids_in(&solutions, "e").into_iter().map(|id| (id, None)).collect())
    }
}

fn stated(solution: &QuerySolution, lookup: Lookup<'_>) -> Option<Stated> {
    let subject = iri(solution, "e")?.to_owned();
    let node = match (lookup.over, solution.get("n")) {
        (None, _) => subject.clone(),
        (Some(_), Some(Term::NamedNode(node))) => node.as_str().to_owned(),
        (Some(_), Some(Term::BlankNode(node))) => node.as_str().to_owned(),
        _ => return None,
    };
    let predicate = iri(solution, "p")?;
    let property = lookup.properties.iter().position(|iri| *iri == predicate)?;
    Some(Stated { subject, node, property, value: solution.get("v")?.clone(), graph: None })
}
