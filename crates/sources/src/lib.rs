//! Sources of knowledge other than the base: knowledge graphs and the web.
pub mod kg;
pub mod web;
