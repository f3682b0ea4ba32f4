//! The graphs against each other, against an endpoint on loopback, and on the demo's questions.
mod base;
mod kqapro;
mod loaded;
mod samples;
mod sparql;
mod wikidata;
mod world;
