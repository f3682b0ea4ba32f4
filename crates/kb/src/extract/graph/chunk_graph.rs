//! What is remembered of the part of the graph that a chunk was made into.
use serde::{Deserialize, Serialize};

use crate::store::{Row, Rows};

/// What the facts of a chunk were made into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Made {
    /// The entity of each mention.
    pub(crate) entities: Vec<Row>,
    pub(crate) facts: Rows,
}
