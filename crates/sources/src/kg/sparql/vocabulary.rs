//! What a graph calls labels, aliases and classes, and the ways in which a name may be written.
use halma_core::text::{capitalize, normalise_name};
use oxigraph::model::Literal;
use spargebra::term::GroundTerm;

use crate::kg::endpoint::Endpoint;
use crate::kg::rdf;

/// The properties that describe things, in the order in which they are preferred.
pub(crate) struct Vocabulary {
    /// Whether properties are described apart from the relations that they make, and names found
    /// by a service, as Wikidata has it.
    pub(crate) of_wikidata: bool,
    pub(crate) labels: Vec<&'static str>,
    pub(crate) aliases: Vec<&'static str>,
    pub(crate) descriptions: Vec<&'static str>,
    pub(crate) types: Vec<&'static str>,
    pub(crate) subclasses: Vec<&'static str>,
    pub(crate) units: Vec<&'static str>,
    pub(crate) quantities: Vec<&'static str>,
    pub(crate) fame: Vec<&'static str>,
}

impl Vocabulary {
    /// Of a graph in this process only what it uses.
    pub(crate) fn generic(endpoint: &Endpoint) -> Self {
        let used = |list: &[&'static str]| {
            let store = endpoint.in_process();
            let used = |iri: &&&str| store.is_none_or(|store| store.has_predicate(iri));
            list.iter().filter(used).copied().collect()
        };
        // Far graphs are asked for Wikidata's classes by its profile only.
        let count = if endpoint.in_process().is_some() { 2 } else { 1 };
        Self {
            of_wikidata: false,
            labels: used(rdf::LABELS),
            aliases: used(rdf::ALIASES),
            descriptions: used(rdf::DESCRIPTIONS),
            types: used(&rdf::TYPES[..count]),
            subclasses: used(&rdf::SUBCLASSES[..count]),
            units: used(rdf::UNITS),
            quantities: used(rdf::QUANTITIES),
            // Endpoints other than Wikidata's do not count articles.
            fame: if endpoint.in_process().is_some() { used(rdf::FAME) } else { vec![] },
        }
    }

    pub(crate) fn wikidata() -> Self {
        Self {
            of_wikidata: true,
            labels: vec![rdf::LABELS[0]],
            aliases: vec![rdf::ALIASES[0]],
            descriptions: vec![rdf::DESCRIPTIONS[0]],
            types: vec![rdf::TYPES[1]],
            subclasses: vec![rdf::SUBCLASSES[1]],
            units: vec![],
            quantities: vec![],
            fame: rdf::FAME.to_vec(),
        }
    }

    /// Everything that a profile is made of.
    pub(crate) fn describing(&self) -> Vec<&'static str> {
        let Self { descriptions, types, fame, .. } = self;
        [self.names().as_slice(), descriptions, types, fame].concat()
    }

    /// Labels and aliases.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.labels.iter().chain(&self.aliases).copied().collect()
    }
}

/// The ways in which a name may be written in a graph, with and without the language.
pub(crate) fn spellings(name: &str, language: &str) -> Vec<GroundTerm> {
    let plain = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = plain.to_lowercase();
    let every = |words: &str| words.split(' ').map(capitalize).collect::<Vec<_>>().join(" ");
    let mut ways =
        vec![plain.clone(), lower.clone(), capitalize(&plain), capitalize(&lower), every(&lower)];
    for article in ["the ", "The ", "a ", "an "] {
        if let Some(rest) = plain.strip_prefix(article) {
            ways.extend([rest.to_owned(), capitalize(rest)]);
        }
    }
    ways.push(normalise_name(&plain));
    let mut seen = std::collections::HashSet::new();
    ways.retain(|way| !way.is_empty() && seen.insert(way.clone()));
    let tagged = |way: &String| Literal::new_language_tagged_literal(way.as_str(), language).ok();
    let both =
        ways.iter().flat_map(|way| [tagged(way), Some(Literal::new_simple_literal(way.as_str()))]);
    both.flatten().map(GroundTerm::Literal).collect()
}

/// The name of a class, and what may be its singular.
pub(crate) fn singular(name: &str) -> Vec<String> {
    let mut ways = vec![name.to_owned()];
    for (ending, instead) in [("ies", "y"), ("es", ""), ("s", "")] {
        if let Some(rest) = name.strip_suffix(ending) {
            ways.push(format!("{rest}{instead}"));
        }
    }
    ways
}
