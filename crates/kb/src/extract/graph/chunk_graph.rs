//! The part of the graph that the facts of one chunk were made into.
use serde::{Deserialize, Serialize};

use crate::store::{Row, Rows};

/// The part of the graph of one chunk, by which it is compared and removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChunkGraph {
    /// The entity of each mention.
    pub(crate) entities: Vec<Row>,
    pub(crate) facts: Rows,
}
