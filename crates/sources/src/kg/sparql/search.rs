//! Entities and classes by their names.
use halma_core::text::normalise_name;
use halma_core::{BoxError, EntityId};
use oxigraph::model::Literal;
use sparesults::QuerySolution;
use spargebra::algebra::GraphPattern;
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

use super::query::{
    any_of, bgp, distinct, filter, greatest, holds, iri_node, is_iri, join, optional, sample,
    triple, union, values, var,
};
use super::vocabulary::{singular, spellings};
use super::{SparqlGraph, text};
use crate::kg::graph::{Near, order};

impl SparqlGraph {
    /// Whether names can be looked up by their words at little cost.
    pub(crate) fn has_name_index(&self) -> bool {
        self.endpoint.in_process().is_some()
    }

    /// Entities with such a label or alias, at most `limit`.
    pub(crate) async fn named(
        &self,
        name: &str,
        near: Near,
        limit: usize,
    ) -> Result<Vec<EntityId>, BoxError> {
        if let Some(store) = self.endpoint.in_process() {
            return Ok(store.named(name, near, limit));
        }
        match near {
            Near::Same => {
                let ways = spellings(name, &self.language);
                if ways.is_empty() {
                    return Ok(vec![]);
                }
                let named = any_of(var("e"), &self.vocabulary.names(), var("name"));
                let matches = filter(join(values("name", ways), named), is_iri("e"));
                // Of more namesakes than are looked at, the known ones are.
                let matches = match self.vocabulary.fame.first() {
                    Some(fame) => {
                        let matches =
                            optional(matches, triple(var("e"), iri_node(fame), var("fame")));
                        greatest(matches, &["e", "fame"], "fame", limit)
                    }
                    None => distinct(matches, &["e"], Some(limit)),
                };
                Ok(self.entities(&self.ask(matches).await?))
            }
            Near::AllWords => self.by_words(name, limit).await,
            Near::MostWords => Ok(vec![]),
        }
    }

    /// Names by their words: by the service that Wikidata has for it, else by looking at every
    /// name, which an endpoint may take too long for.
    async fn by_words(&self, name: &str, limit: usize) -> Result<Vec<EntityId>, BoxError> {
        if self.vocabulary.of_wikidata {
            let search = distinct(entity_search(name, &self.language), &["e"], Some(limit));
            return Ok(self.entities(&self.ask(search).await?));
        }
        let plain = normalise_name(name);
        let words: Vec<&str> = plain.split(' ').filter(|word| !word.is_empty()).collect();
        let Some(contains_words) = holds("name", &words) else { return Ok(vec![]) };
        let all = any_of(var("e"), &self.vocabulary.names(), var("name"));
        let pattern = filter(filter(all, contains_words), is_iri("e"));
        let mut solutions = self.ask(distinct(pattern, &["e", "name"], Some(limit))).await?;
        // The query cannot distinguish a word from a part of one.
        solutions.retain(|solution| {
            let label = text(solution, "name").map(normalise_name).unwrap_or_default();
            words.iter().all(|word| label.split(' ').any(|part| part == *word))
        });
        Ok(self.entities(&solutions))
    }

    /// In an order of their own: endpoints answer in any.
    pub(super) fn entities(&self, solutions: &[QuerySolution]) -> Vec<EntityId> {
        let ids = self.ids_in(solutions, "e").into_iter().map(EntityId);
        let mut ids: Vec<EntityId> = ids.collect();
        ids.sort_by(|a, b| order(a).cmp(&order(b)));
        ids
    }

    /// Whether the graph has a class of this name at all.
    pub(crate) async fn has_class(&self, name: &str) -> Result<bool, BoxError> {
        if let Some(store) = self.endpoint.in_process() {
            return Ok(store.has_class(name));
        }
        let ways: Vec<GroundTerm> =
            singular(name).iter().flat_map(|name| spellings(name, &self.language)).collect();
        if ways.is_empty() {
            return Ok(false);
        }
        let names = any_of(var("class"), &self.vocabulary.names(), var("name"));
        let used = union(vec![
            any_of(var("member"), &self.vocabulary.types, var("class")),
            any_of(var("member"), &self.vocabulary.subclasses, var("class")),
        ]);
        let pattern = join(join(values("name", ways), names), used);
        Ok(!self.ask(sample(pattern, &["class"], 1)).await?.is_empty())
    }
}

/// Wikidata's own search for names, which knows aliases and forgives case.
pub(crate) fn entity_search(name: &str, language: &str) -> GraphPattern {
    let service = |setting: &str, value: &str| TriplePattern {
        subject: TermPattern::NamedNode(iri_node("http://www.bigdata.com/rdf#serviceParam")),
        predicate: NamedNodePattern::NamedNode(iri_node(setting)),
        object: TermPattern::Literal(Literal::new_simple_literal(value)),
    };
    let inner = bgp(vec![
        service("http://wikiba.se/ontology#api", "EntitySearch"),
        service("http://wikiba.se/ontology#endpoint", "www.wikidata.org"),
        service("https://www.mediawiki.org/ontology#API/search", name),
        service("https://www.mediawiki.org/ontology#API/language", language),
        TriplePattern {
            subject: TermPattern::Variable(var("e")),
            predicate: NamedNodePattern::NamedNode(iri_node(
                "http://wikiba.se/ontology#apiOutputItem",
            )),
            object: TermPattern::NamedNode(iri_node("https://www.mediawiki.org/ontology#API/item")),
        },
    ]);
    let name = NamedNodePattern::NamedNode(iri_node("http://wikiba.se/ontology#mwapi"));
    GraphPattern::Service { name, inner: Box::new(inner), silent: false }
}

#[cfg(test)]
mod tests {
    use super::super::query::select;
    use super::*;

    #[test]
    fn wikidata_is_searched_by_its_own_service() {
        let query = select(distinct(entity_search(r#"a" } #"#, "en"), &["e"], Some(5)));
        let text = query.to_string();
        assert_eq!(spargebra::SparqlParser::new().parse_query(&text).unwrap(), query);
        assert!(text.contains("SERVICE <http://wikiba.se/ontology#mwapi>"), "{text}");
    }
}
