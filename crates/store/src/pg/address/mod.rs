//! The address of a workspace in a database: `postgres://user@host/db?workspace=NAME`.
mod parameters;
mod tls;

use std::fmt;
use std::path::{Path, PathBuf};

use tokio_postgres::config::{Config, Host};

use crate::pg::PgError;
use parameters::OwnParameters;
pub(crate) use tls::{Tls, connector};

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// The workspace of an address that names none.
const DEFAULT_WORKSPACE: &str = "default";
/// Connections of one program.
const DEFAULT_POOL: usize = 16;

/// Where a workspace is. `Display` and `Debug` show it without the password.
#[derive(Clone)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) tls: Tls,
    pub(crate) pool: usize,
    workspace: String,
    keys: Option<PathBuf>,
}

impl Address {
    /// Whether a base is named by such an address and not by a folder.
    pub fn is_postgres(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// Whether a base is named by an address of some kind, perhaps a misspelt one, and not by a folder.
    pub fn is_address(text: &str) -> bool {
        text.contains("://")
    }

    /// `postgres://[user[:password]@]host[:port][,host…]/db[?parameter=value&…]`. Parameters are
    /// `workspace`, `keys` (the folder of the keys), `sslmode` (`disable`, `require`),
    /// `sslrootcert`, `pool` (connections), and those of libpq that concern the connection;
    /// `host=/folder` is a Unix socket. A missing password is that of `PGPASSWORD`.
    pub fn parse(text: &str) -> Result<Self, PgError> {
        Self::parse_with(text, &|name| std::env::var(name).ok())
    }

    fn parse_with(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, PgError> {
        if !Self::is_postgres(text) {
            let reason = match scheme(text) {
                Some(scheme) => format!("begins with `{scheme}://` and not with `postgres://`"),
                None => "does not begin with `postgres://`".to_owned(),
            };
            return Err(wrong(&reason, EXAMPLE));
        }
        let OwnParameters { rest, workspace, keys, sslmode, sslrootcert, pool } =
            OwnParameters::split(text)?;
        let mut config: Config = rest.parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            let reason = cause.unwrap_or_else(|| error.to_string());
            wrong(&format!("is not valid ({reason})"), EXAMPLE)
        })?;
        if config.get_hosts().is_empty() {
            return Err(wrong("names no host", EXAMPLE));
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err(wrong("names no database", EXAMPLE));
        }
        if config.get_user().is_none() {
            let user = variable("PGUSER").or_else(|| variable("USER"));
            config.user(user.ok_or_else(|| wrong("names no user", EXAMPLE))?);
        }
        if config.get_password().is_none()
            && let Some(password) = variable("PGPASSWORD")
        {
            config.password(password);
        }
        if config.get_application_name().is_none() {
            config.application_name("halma");
        }
        let tls = Tls::choose(sslmode.as_deref(), sslrootcert, config.get_hosts())?;
        let workspace = workspace.unwrap_or_else(|| DEFAULT_WORKSPACE.to_owned());
        Ok(Self { config, tls, pool: pool.unwrap_or(DEFAULT_POOL), workspace, keys })
    }

    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// The same database, another workspace.
    #[must_use]
    pub fn with_workspace(&self, workspace: &str) -> Self {
        Self { workspace: workspace.to_owned(), ..self.clone() }
    }

    /// The same workspace with its keys in another folder.
    #[must_use]
    pub fn with_keys(&self, keys: PathBuf) -> Self {
        Self { keys: Some(keys), ..self.clone() }
    }

    /// The folder of the keys, if the address names one.
    pub fn keys(&self) -> Option<&Path> {
        self.keys.as_deref()
    }

    /// 16 hexadecimal digits that stand for hosts, ports, database and workspace, whatever their
    /// order, user and password: the name of the local copy.
    pub fn identity(&self) -> String {
        let mut servers = self.servers();
        servers.sort();
        let database = self.config.get_dbname().unwrap_or_default();
        let all = format!("{}\n{database}\n{}", servers.join(","), self.workspace);
        blake3::hash(all.as_bytes()).to_hex()[..16].to_owned()
    }

    /// `host:port` of each server; of a Unix socket the folder.
    fn servers(&self) -> Vec<String> {
        let ports = self.config.get_ports();
        let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        let hosts = self.config.get_hosts().iter().enumerate();
        hosts
            .map(|(at, host)| match host {
                Host::Tcp(name) => format!("{}:{}", name.to_lowercase(), port(at)),
                #[cfg(unix)]
                Host::Unix(folder) => format!("{}:{}", folder.display(), port(at)),
            })
            .collect()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.config.get_user().unwrap_or_default();
        let database = self.config.get_dbname().unwrap_or_default();
        let servers = self.servers().join(",");
        write!(f, "postgres://{user}@{servers}/{database}?workspace={}", self.workspace)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// What stands before `://`, if it is nothing else than the name of a scheme.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    (!scheme.is_empty() && scheme.chars().all(is_name)).then_some(scheme)
}

const EXAMPLE: &str = "write `postgres://user@host/database?workspace=NAME`";

pub(crate) fn wrong(reason: &str, hint: &'static str) -> PgError {
    PgError::Address { reason: reason.to_owned(), hint }
}

#[cfg(test)]
mod tests;
