//! Graph search: from the names in a question through sentences to other names, and from there to
//! the chunks that hold them or stand under them (PIKE-RAG, Section 5.2.3, Figure 8, with a
//! propagation of our own that needs no model).
//!
//! ```text
//! activate    a(e) = 1 for an entity that the question names, else the likeness of the nearest
//! propagate   three times: each e with a(e) > 0.1 reaches, through its two sentences nearest to q,
//!             the other entities e' in them: a(e') <- max(a(e'), a(e) · max(cos(q, s), 0))
//! aggregate   score(c) = minmax(dense) + 0.5 · share(BM25) + 0.4 · ln(1 + Σ a(e) · i(e) · count(e, c))
//!             + 1.5 · Σ over e that title c of a(e) · i(e)          with i(e) = 1 / log2(1 + df(e))
//! hop by hop  each next chunk: score + share of the question newly covered + i(title) if led to it
//! ```
mod hops;
mod memory;
mod named;
mod reach;
mod score;
mod search;
mod settings;
#[cfg(test)]
mod tests;

use crate::store::Reader;

pub(crate) use hops::Terms;
pub(crate) use memory::Memory;
pub(crate) use reach::Sight;
pub(crate) use score::{Scored, Seen};
pub use settings::GraphSettings;

/// What a graph search walks on.
pub(crate) struct Ground<'a> {
    pub(crate) reader: &'a Reader<'a>,
    pub(crate) memory: &'a Memory,
    pub(crate) settings: &'a GraphSettings,
}
