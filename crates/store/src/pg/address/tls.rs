//! Whether a connection is enciphered, and which servers are trusted. A certificate is always
//! checked: TLS with any server whatsoever protects from nothing that it is used against.
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::config::Host;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::wrong;
use crate::pg::PgError;

/// How to connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tls {
    Off,
    /// With the system's certification authorities, or those of a file.
    Verified(Option<PathBuf>),
}

impl Tls {
    /// By default on, except for servers on this machine.
    pub(super) fn choose(
        mode: Option<&str>,
        roots: Option<PathBuf>,
        hosts: &[Host],
    ) -> Result<Self, PgError> {
        let sockets = |host: &Host| !matches!(host, Host::Tcp(_));
        match mode {
            // Nothing is between the two ends of a socket, and it has no name to be certified.
            Some("disable" | "require" | "verify-ca" | "verify-full")
                if hosts.iter().all(sockets) =>
            {
                Ok(Self::Off)
            }
            Some("disable") => Ok(Self::Off),
            Some("require" | "verify-ca" | "verify-full") => Ok(Self::Verified(roots)),
            Some("prefer" | "allow") => Err(wrong(
                "has an `sslmode` that gives way to anyone in between",
                "write `sslmode=require`, or `sslmode=disable` where the network is trusted",
            )),
            Some(other) => {
                let hint = "`sslmode` is `disable` or `require`";
                Err(wrong(&format!("has `sslmode={other}`"), hint))
            }
            None if roots.is_none() && hosts.iter().all(is_here) => Ok(Self::Off),
            None => Ok(Self::Verified(roots)),
        }
    }
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            let ip = name.trim_matches(['[', ']']).parse::<IpAddr>();
            name == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// The connector for [`Tls::Verified`].
pub(crate) fn connector(roots: Option<&Path>) -> Result<MakeRustlsConnect, PgError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error.to_string()))?;
    let config = match roots {
        None => {
            let builder = builder.with_platform_verifier();
            builder.map_err(|error| unusable(&error.to_string()))?.with_no_client_auth()
        }
        Some(file) => builder.with_root_certificates(read_roots(file)?).with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

fn unusable(reason: &str) -> PgError {
    let reason = format!("needs TLS, which this machine is not set up for ({reason})");
    wrong(&reason, "name a file of certification authorities with `sslrootcert=FILE`")
}

fn read_roots(file: &Path) -> Result<RootCertStore, PgError> {
    let unreadable = |reason: String| {
        let reason =
            format!("has an `sslrootcert` that cannot be used: {}: {reason}", file.display());
        wrong(&reason, "name a file of certificates in PEM form")
    };
    let mut roots = RootCertStore::empty();
    let certificates =
        CertificateDer::pem_file_iter(file).map_err(|error| unreadable(error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unreadable("there is no certificate in it".to_owned()));
    }
    Ok(roots)
}
