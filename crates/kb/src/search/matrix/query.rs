//! The vector of a query in the forms that rows are compared with, made once for a search and not
//! for each layer that it compares.
use halma_core::Vector;

use super::codes::QueryCode;
use crate::store::Comparand;

/// A query's vector, its code, and the two vectors of bytes that make it up.
#[derive(Debug)]
pub(crate) struct QueryVector {
    pub(super) code: QueryCode,
    pub(super) comparand: Comparand,
}

impl QueryVector {
    pub(crate) fn new(vector: &[f32]) -> Self {
        Self { code: QueryCode::new(vector), comparand: Comparand::new(vector) }
    }

    /// As the embedder gave it.
    pub(crate) fn vector(&self) -> &Vector {
        self.comparand.vector()
    }
}
