//! Names of hosts to addresses, of which only those outside are handed on to be connected to.
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Name, Resolve, Resolving};

use super::{places, plain, reason};

/// Finds the addresses of a host.
#[async_trait]
pub trait Lookup: Send + Sync {
    async fn lookup(&self, host: &str) -> std::io::Result<Vec<IpAddr>>;
}

/// The machine's own resolver.
pub(super) struct System;

#[async_trait]
impl Lookup for System {
    async fn lookup(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// A host is not requested.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(super) struct Refusal {
    pub(super) reason: String,
}

#[derive(Clone)]
pub(super) struct Guarded {
    pub(super) lookup: Arc<dyn Lookup>,
    pub(super) named: Arc<BTreeSet<String>>,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let Self { lookup, named } = self.clone();
        Box::pin(async move {
            let host = name.as_str();
            let addresses = lookup.lookup(host).await?;
            if !named.contains(&plain(host)) {
                // One is enough: a mix of inside and outside is an attack.
                if let Some(what) = addresses.iter().copied().find_map(places::inside) {
                    let reason = reason(host, what);
                    return Err(Box::new(Refusal { reason }) as _);
                }
            }
            let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as _)
        })
    }
}
