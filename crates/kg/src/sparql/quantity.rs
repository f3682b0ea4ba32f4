//! Numbers with units that are stated in several triples.
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::SparqlGraph;
use super::query::{any_of, bgp, in_language, join, optional, own, triple, var};
use crate::rdf;

impl SparqlGraph {
    /// The unit where a value has one of its own: at a node that holds number and unit, or, in
    /// Wikidata, at the statement that the direct property shortens.
    pub(super) fn with_quantity(&self, facts: GraphPattern, property: &str) -> GraphPattern {
        if let Some(number) = property.strip_prefix(rdf::WIKIDATA_DIRECT) {
            return match self.statements(number) {
                Some(quantity) => optional(facts, quantity),
                None => facts,
            };
        }
        if self.vocabulary.quantities.is_empty() {
            return facts;
        }
        let number = any_of(var("v"), &self.vocabulary.quantities, var("number"));
        optional(facts, optional(number, self.unit_of("v")))
    }

    /// The quantities of Wikidata's statements of a property, `P2048` say; `None` where the graph
    /// has no statements.
    fn statements(&self, number: &str) -> Option<GraphPattern> {
        let of = |kind: &str| own(&format!("http://www.wikidata.org/prop/{kind}{number}"));
        let store = self.endpoint.in_process();
        if store.is_some_and(|store| !store.has_predicate(of("").as_str())) {
            return None;
        }
        let ontology = |name: &str| own(&format!("http://wikiba.se/ontology#{name}"));
        let step = |subject: &str, predicate, object: &str| TriplePattern {
            subject: TermPattern::Variable(var(subject)),
            predicate: NamedNodePattern::NamedNode(predicate),
            object: TermPattern::Variable(var(object)),
        };
        let quantity = bgp(vec![
            step("e", of(""), "statement"),
            step("statement", of("statement/value/"), "node"),
            step("node", ontology("quantityAmount"), "v"),
            step("node", ontology("quantityUnit"), "unitNode"),
        ]);
        let label = triple(var("unitNode"), own(rdf::LABELS[0]), var("unit"));
        Some(join(quantity, in_language(label, "unit", &self.language)))
    }
}
