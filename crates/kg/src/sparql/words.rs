//! What a graph behind an endpoint calls labels, aliases, classes, and how names are looked up.
use halma_core::text::normalise_name;
use oxigraph::model::Literal;
use spargebra::term::GroundTerm;

use crate::rdf;
use crate::settings::KgProfile;

/// The properties that a profile reads.
pub(crate) struct Vocabulary {
    pub(crate) labels: &'static [&'static str],
    pub(crate) aliases: &'static [&'static str],
    pub(crate) descriptions: &'static [&'static str],
    pub(crate) types: &'static [&'static str],
    pub(crate) above: &'static [&'static str],
    /// Whether properties are described apart from the relations they make, as Wikidata's are.
    pub(crate) apart: bool,
}

const GENERIC: Vocabulary = Vocabulary {
    labels: rdf::LABELS,
    aliases: rdf::ALIASES,
    descriptions: rdf::DESCRIPTIONS,
    types: &[rdf::TYPE],
    above: &["http://www.w3.org/2000/01/rdf-schema#subClassOf"],
    apart: false,
};

const WIKIDATA: Vocabulary = Vocabulary {
    labels: &["http://www.w3.org/2000/01/rdf-schema#label"],
    aliases: &["http://www.w3.org/2004/02/skos/core#altLabel"],
    descriptions: &["http://schema.org/description"],
    types: &["http://www.wikidata.org/prop/direct/P31"],
    above: &["http://www.wikidata.org/prop/direct/P279"],
    apart: true,
};

impl Vocabulary {
    pub(crate) fn of(profile: KgProfile) -> &'static Self {
        match profile {
            KgProfile::Generic => &GENERIC,
            KgProfile::Wikidata => &WIKIDATA,
        }
    }

    /// Labels and aliases.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.labels.iter().chain(self.aliases).copied().collect()
    }
}

/// The ways in which a name may be written in a graph, with and without the language.
pub(crate) fn written(name: &str, language: &str) -> Vec<GroundTerm> {
    let said = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = said.to_lowercase();
    let every = |words: &str| words.split(' ').map(capital).collect::<Vec<_>>().join(" ");
    let mut ways =
        vec![said.clone(), lower.clone(), capital(&said), capital(&lower), every(&lower)];
    for article in ["the ", "The ", "a ", "an "] {
        if let Some(rest) = said.strip_prefix(article) {
            ways.extend([rest.to_owned(), capital(rest)]);
        }
    }
    ways.push(normalise_name(&said));
    let mut seen = std::collections::HashSet::new();
    ways.retain(|way| !way.is_empty() && seen.insert(way.clone()));
    let tagged = |way: &String| Literal::new_language_tagged_literal(way.as_str(), language).ok();
    let both =
        ways.iter().flat_map(|way| [tagged(way), Some(Literal::new_simple_literal(way.as_str()))]);
    both.flatten().map(GroundTerm::Literal).collect()
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A class as it is spoken of, and its singular.
pub(crate) fn singular(name: &str) -> Vec<String> {
    let mut ways = vec![name.to_owned()];
    for (ending, instead) in [("ies", "y"), ("es", ""), ("s", "")] {
        if let Some(rest) = name.strip_suffix(ending) {
            ways.push(format!("{rest}{instead}"));
        }
    }
    ways
}
