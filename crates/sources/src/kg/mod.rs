//! Knowledge graphs behind [`halma_core::Facts`]: RDF that was loaded into a base, a SPARQL
//! endpoint, the base's own facts. All are asked in SPARQL, over HTTP or in this process.
mod combined;
mod endpoint;
mod filter;
mod fit;
mod graph;
mod loaded;
mod matching;
mod names;
mod operators;
mod rdf;
mod reloading;
mod settings;
mod sources;
mod sparql;
mod synonyms;
#[cfg(test)]
mod tests;
mod words;

pub use endpoint::KgAccess;
pub use loaded::{KgError, KgFigures, KgFormat, KgGraph, KgGraphs, KgLoad, KgLoaded};
pub use settings::{KgKind, KgProfile, KgSettings};
pub use sources::{GraphLoader, KgFacts, KgParts, facts, kb_facts};
