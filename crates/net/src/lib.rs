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
mod limits;
mod policy;
mod retry;
mod service;
mod tls;

pub use child_server::ChildServer;
pub use endpoint::{Endpoint, JsonMode, ServerCommand};
pub use limits::Limits;
pub use policy::CallPolicy;
pub use service::Service;
