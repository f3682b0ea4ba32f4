//! Files next to a knowledge base: traces of questions and uploaded originals.
pub(crate) mod cache;
pub(crate) mod originals;
pub(crate) mod replace;
pub(crate) mod series;
pub(crate) mod state;
pub(crate) mod traces;
