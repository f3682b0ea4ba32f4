//! Tasks that write queries: the next proposals, keywords.
pub(crate) mod keywords;
pub(crate) mod propose;
