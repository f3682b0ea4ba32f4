//! Knowledge graphs behind [`halma_core::Facts`]: RDF that was loaded into a base, a SPARQL
//! endpoint, the base's own facts.
mod base;
mod changing;
mod embedded;
mod filter;
mod fit;
mod graph;
mod matching;
mod names;
mod operators;
mod rdf;
mod settings;
mod several;
mod sparql;
mod stem;
mod synonyms;
mod words;
#[cfg(test)]
mod world_tests;

pub use base::{BaseFacts, Telling, Told, ToldEntity, ToldFact};
pub use embedded::{KgError, KgFigures, KgFormat, KgGraph, KgGraphs, KgLoad, KgLoaded};
pub use settings::{KgFacts, KgKind, KgParts, KgProfile, KgSettings, facts};
