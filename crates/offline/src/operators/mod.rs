//! Tasks of `AtomR`: plans of operators, the sources of a look-up, what an operator finds, and what
//! is concluded from answers.
pub(crate) mod conclude;
pub(crate) mod operate;
pub(crate) mod plan;
mod relation;
pub(crate) mod sources;
