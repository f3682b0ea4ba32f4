//! Graph search: from the names in a question through sentences to other names, and from there to
//! the chunks that hold them or stand under them (PIKE-RAG, Section 5.2.3, Figure 8, with a
//! propagation of our own that needs no model).
//!
//! ```text
//! activate    a(e) = 1 for an entity that the question names, 1 / √n for the n that also go by the
//!             name, else the similarity of the nearest
//! propagate   three times: each e with a(e) > 0.1 reaches, through its two sentences nearest to q,
//!             the other entities e' in them: a(e') <- max(a(e'), a(e) · max(cos(q, s), 0))
//! aggregate   score(c) = minmax(dense) + 0.5 · share(BM25) + 0.4 · ln(1 + Σ a(e) · i(e) · count(e, c))
//!             + 1.5 · Σ over e that title c of a(e) · i(e)          with i(e) = 1 / log2(1 + df(e))
//! hop by hop  each next chunk: score + share of the question newly covered + i(title) if led to it
//! ```
mod activation;
mod hops;
mod links;
mod named;
mod propagate;
pub(super) mod ranker;
mod score;
#[cfg(test)]
mod tests;

use crate::memory::GraphCache;
use crate::mentions::MentionGraph;
use crate::settings::GraphSettings;
use crate::store::StoreReader;
#[cfg(test)]
pub(crate) use tests::{Hashed, WhoAsker};

use hops::QueryTerms;
use propagate::Similarity;
use score::{ChunkScore, FirstStage};

/// What a graph search runs over.
struct GraphContext<'a> {
    reader: &'a StoreReader<'a>,
    cache: &'a GraphCache,
    settings: &'a GraphSettings,
}

impl GraphContext<'_> {
    /// Names with the sentences and chunks that hold them.
    fn walk(&self) -> &MentionGraph {
        &self.cache.walk
    }
}
