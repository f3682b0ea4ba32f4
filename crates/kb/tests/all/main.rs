//! The base by its public interface: builds, changes, searches.
//! One program, since every program is linked with all that it depends on.
mod common;
mod delete;
mod dependable;
mod estimate;
mod extract;
mod extractor;
mod files;
mod graph_edges;
mod index;
mod languages;
mod lay_questions;
mod layers;
mod migrate;
mod profile;
mod resume;
mod tags;
mod targeted_tables;
mod vectors;
