//! Tasks that write queries: the next proposals, the look-ups of a chain, keywords.
pub(crate) mod keywords;
pub(crate) mod propose;
pub(crate) mod sub_queries;
