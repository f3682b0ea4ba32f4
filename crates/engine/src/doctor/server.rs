//! The server of a base, asked over HTTP as its clients ask it.
use std::path::Path;
use std::time::Duration;

use halma_kb::SERVER_LOCK;
use halma_net::Service;
use serde::Deserialize;

use super::{Finding, Health};
use crate::config::Config;

const NAME: &str = "server";

/// A server that works answers these at once.
const TIMEOUT: Duration = Duration::from_secs(3);

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// It can answer questions.
    Ready { version: String },
    /// It runs, and cannot answer questions now.
    NotReady { reason: String },
}

/// Why it is not known how a server is.
#[derive(Debug, thiserror::Error)]
pub enum NoServer {
    #[error("`{addr}` is not an address with a port; write it as `127.0.0.1:8765`")]
    Address { addr: String },
    #[error("no server answers at {addr}: {reason}")]
    Unreachable { addr: String, reason: String },
    #[error("{addr} is not a Halma server: {reason}")]
    Other { addr: String, reason: String },
}

/// The reply to a health check.
#[derive(Deserialize)]
struct HealthReply {
    version: String,
}

/// What a server finds when it looks at itself.
#[derive(Deserialize)]
struct ReadyReply {
    store: bool,
    disk: bool,
    queue: bool,
}

impl ReadyReply {
    fn reason(&self) -> String {
        let parts = [
            (self.store, "its base cannot be read"),
            (self.disk, "its disk is full"),
            (self.queue, "it is stopping, or answers as many questions as it may"),
        ];
        let reasons = parts.iter().filter(|(good, _)| !good).map(|(_, reason)| *reason);
        reasons.collect::<Vec<_>>().join("; ")
    }
}

impl ServerState {
    /// Asks the server at `addr` (`host:port`). One that listens on all addresses is asked at the
    /// loopback address.
    pub async fn of(addr: &str) -> Result<Self, NoServer> {
        let url = url(addr).ok_or_else(|| NoServer::Address { addr: addr.to_owned() })?;
        let other = |reason: String| NoServer::Other { addr: addr.to_owned(), reason };
        let service = Service::new(&url, TIMEOUT).map_err(|e| other(e.reason))?;
        let unreachable = |reason| NoServer::Unreachable { addr: addr.to_owned(), reason };
        let health = service.get("/api/v1/health").await.map_err(unreachable)?;
        let Ok(HealthReply { version }) = serde_json::from_slice(health.body()) else {
            return Err(other(format!(
                "its reply to a health check has status {}",
                health.status()
            )));
        };
        let ready = service.get("/api/v1/ready").await.map_err(unreachable)?;
        // Versions before 0.2 do not say whether they are ready.
        if ready.status().is_success() || ready.status() == 404 {
            return Ok(Self::Ready { version });
        }
        let reason = match serde_json::from_slice::<ReadyReply>(ready.body()) {
            Ok(reply) => format!("it is not ready: {}", reply.reason()),
            Err(_) => format!("it is not ready (status {})", ready.status()),
        };
        Ok(Self::NotReady { reason })
    }
}

fn url(addr: &str) -> Option<String> {
    let (host, port) = addr.trim().rsplit_once(':')?;
    let port: u16 = port.parse().ok().filter(|port| *port > 0)?;
    let host = match host {
        "0.0.0.0" => "127.0.0.1",
        "[::]" => "[::1]",
        host => host,
    };
    (!host.is_empty()).then(|| format!("http://{host}:{port}"))
}

/// The server of this base, if it runs.
pub(super) async fn running(config: &Config, dir: &Path) -> Finding {
    let addr = &config.serve.addr;
    let locked = std::fs::File::open(dir.join(SERVER_LOCK))
        .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)));
    match (ServerState::of(addr).await, locked) {
        (Ok(ServerState::Ready { version }), true) => version_of(addr, &version),
        (Ok(ServerState::NotReady { reason }), true) => {
            Finding::new(NAME, Health::Warning, format!("{addr}: {reason}"))
        }
        (Ok(_), false) => {
            let message = format!("none serves this base; the one at {addr} serves another");
            Finding::new(NAME, Health::Good, message)
        }
        (Err(_), false) => Finding::new(NAME, Health::Good, "none serves this base"),
        (Err(e), true) => {
            let message = format!(
                "one serves this base, and cannot be asked: {e}; if it listens elsewhere, pass the \
                 configuration that it has"
            );
            Finding::new(NAME, Health::Warning, message)
        }
    }
}

fn version_of(addr: &str, version: &str) -> Finding {
    let current = env!("CARGO_PKG_VERSION");
    if version == current {
        return Finding::new(NAME, Health::Good, format!("{addr} is ready"));
    }
    let message = format!(
        "{addr} is ready, with version {version}; this program is {current}: restart the server"
    );
    Finding::new(NAME, Health::Warning, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_server_from_being_ready_is_said() {
        let body = r#"{"ready":false,"store":true,"embedder":null,"disk":false,"queue":false}"#;
        let reply: ReadyReply = serde_json::from_str(body).unwrap();
        let expected = "its disk is full; it is stopping, or answers as many questions as it may";
        assert_eq!(reply.reason(), expected);
    }

    #[test]
    fn a_server_on_all_addresses_is_asked_at_the_loopback_address() {
        for (addr, expected) in [
            ("127.0.0.1:8765", Some("http://127.0.0.1:8765")),
            ("0.0.0.0:80", Some("http://127.0.0.1:80")),
            ("[::]:80", Some("http://[::1]:80")),
            ("halma.example.org:1", Some("http://halma.example.org:1")),
            ("localhost", None),
            ("localhost:0", None),
            (":80", None),
            ("localhost:port", None),
        ] {
            assert_eq!(url(addr).as_deref(), expected, "{addr}");
        }
    }
}
