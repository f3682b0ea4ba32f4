//! Read access to a knowledge base.
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{BoxError, Hit, Layer, NodeId};

/// How a search compares the query with the nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// By the words they share.
    Bm25,
    /// By the cosine of their vectors.
    Dense,
    /// Both, fused by reciprocal rank.
    #[default]
    Hybrid,
}

/// The least cosine a hit must have. Cosines of different embedders are not comparable, so a
/// strategy asks for the usual threshold and the base resolves it for its embedder; a user who
/// states a number gets that number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MinScore {
    Any,
    Usual,
    At(f32),
}

impl MinScore {
    /// The setting of a strategy: a number, or the embedder's usual threshold.
    pub fn from_setting(setting: Option<f32>) -> Self {
        setting.map_or(Self::Usual, Self::At)
    }
}

/// A search with one or several texts in one pass; every text gets its own list of hits.
#[derive(Debug, Clone)]
pub struct Query {
    pub texts: Vec<String>,
    pub layer: Layer,
    pub mode: Mode,
    /// At most this many hits for each text.
    pub limit: usize,
    pub min_score: MinScore,
    /// Nodes not to return, neither themselves nor what they are parent of.
    pub exclude: Vec<NodeId>,
}

/// A layered knowledge base, read.
#[async_trait]
pub trait Knowledge: Send + Sync {
    /// One list of hits for each text of the query, best first, each deterministic.
    async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError>;

    /// The node with this id, whose score says nothing.
    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError>;
}
