//! Outgoing HTTP: clients for configured servers and for the open web, the sorting of failures by
//! what to do next, and the call policy of every server.
pub mod address;
mod child_server;
pub mod daily;
mod endpoint;
pub mod failure;
mod gate;
pub mod guarded;
pub mod http;
mod policy;
mod retry;
mod service;

pub use child_server::ChildServer;
pub use endpoint::{Endpoint, JsonMode, ServerCommand};
pub use policy::{CallPolicy, Limits};
pub use service::Service;

/// Makes ring the provider of all HTTP clients of this process, unless another one is installed.
/// Must be called before a client is built.
pub(crate) fn install_provider() {
    // An error says that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
