//! The address of a server, which is reserved before its base is opened or made: a port that is
//! taken, or an address that needs API keys, must not leave an empty base behind.
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use halma_engine::Loaded;
use tokio::net::{TcpListener, TcpSocket, lookup_host};

use crate::checks::check;
use crate::keys::ApiKeys;
use crate::serve::{ServeError, needs_keys};

/// Connections that wait to be accepted, at most; the system may allow fewer (`net.core.somaxconn`).
/// Those of the usual 128 were full when hundreds of people asked at once: then connecting takes
/// seconds, or fails.
const BACKLOG: u32 = 4096;

/// An address that is bound and does not accept connections yet.
pub struct ReservedAddress {
    socket: TcpSocket,
    /// As it was configured.
    configured: String,
}

impl ReservedAddress {
    /// Checks `[serve]` and binds the first address of `serve.addr` that can be bound.
    ///
    /// # Errors
    /// [`ServeError::Config`] where the address or another value is not valid, [`ServeError::Bind`]
    /// where the address is taken or not one of this machine.
    pub async fn reserve(loaded: &Loaded) -> Result<Self, ServeError> {
        check(loaded)?;
        let configured = loaded.config.serve.addr.clone();
        match bind(&configured).await {
            Ok(socket) => Ok(Self { socket, configured }),
            Err(source) => Err(ServeError::Bind { addr: configured, source }),
        }
    }

    /// Refuses an address that other machines can reach where the folder of a base that is still to
    /// be made has no API keys. [`Server::listen`](crate::Server::listen) looks at all bases, but
    /// needs them to be open.
    ///
    /// # Errors
    /// [`ServeError::Config`] where there are no keys.
    pub fn check_keys(&self, dir: &Path) -> Result<(), ServeError> {
        let addr = self.socket.local_addr();
        let addr =
            addr.map_err(|source| ServeError::Bind { addr: self.configured.clone(), source })?;
        if addr.ip().is_loopback() || ApiKeys::for_base(dir).exists()? {
            return Ok(());
        }
        Err(needs_keys(addr.ip(), &dir.display().to_string()).into())
    }

    /// Accepts connections from now on.
    pub(crate) fn listen(self) -> Result<(TcpListener, SocketAddr), ServeError> {
        let Self { socket, configured } = self;
        let listen = || {
            let listener = socket.listen(BACKLOG)?;
            let addr = listener.local_addr()?;
            Ok((listener, addr))
        };
        listen().map_err(|source| ServeError::Bind { addr: configured, source })
    }
}

async fn bind(addr: &str) -> io::Result<TcpSocket> {
    let mut last = None;
    for addr in lookup_host(addr).await? {
        match bind_to(addr) {
            Ok(socket) => return Ok(socket),
            Err(e) => last = Some(e),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::other("there is no such address")))
}

fn bind_to(addr: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A server that is started again need not wait for the connections of the former one.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use halma_engine::Config;

    use super::*;

    fn loaded(addr: &str) -> Loaded {
        let mut config = Config::default();
        config.serve.addr = addr.to_owned();
        Loaded { config, origins: BTreeMap::new(), file: None }
    }

    #[tokio::test]
    async fn hundreds_of_connections_wait_to_be_accepted() {
        let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
        if !allowed.trim().parse().is_ok_and(|allowed: u32| allowed >= 512) {
            return;
        }
        let reserved = ReservedAddress::reserve(&loaded("localhost:0")).await.unwrap();
        let (_listener, addr) = reserved.listen().unwrap();
        let connect = || std::net::TcpStream::connect_timeout(&addr, Duration::from_millis(900));
        let connected: Result<Vec<_>, _> = (0..400).map(|_| connect()).collect();
        assert_eq!(connected.unwrap().len(), 400);
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_not_reserved() {
        let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = other.local_addr().unwrap().to_string();
        let refused = ReservedAddress::reserve(&loaded(&addr)).await.err().unwrap();
        assert!(matches!(refused, ServeError::Bind { .. }), "{refused}");
        assert!(refused.to_string().contains(&addr), "{refused}");
    }
}
