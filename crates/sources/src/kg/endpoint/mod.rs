//! Where the queries of a graph go: to a SPARQL 1.1 endpoint over HTTP, or to a store in this
//! process.
#[cfg(test)]
pub(crate) mod double;
mod http;
mod in_process;
mod index;

use halma_core::BoxError;
use sparesults::QuerySolution;
use spargebra::Query;

pub(crate) use http::HttpEndpoint;
pub use http::KgAccess;
pub(crate) use in_process::{InProcess, is_blank};

pub(crate) enum Endpoint {
    Http(HttpEndpoint),
    InProcess(InProcess),
}

impl Endpoint {
    /// All solutions of a `SELECT`.
    pub(crate) async fn solutions(&self, query: Query) -> Result<Vec<QuerySolution>, BoxError> {
        match self {
            Self::Http(endpoint) => Ok(endpoint.solutions(&query).await?),
            Self::InProcess(store) => Ok(store.solutions(query)?),
        }
    }

    pub(crate) fn in_process(&self) -> Option<&InProcess> {
        match self {
            Self::InProcess(store) => Some(store),
            Self::Http(_) => None,
        }
    }
}
