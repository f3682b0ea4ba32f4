//! What can go wrong with a shared base, distinguished by what to do next.
use std::error::Error;

use tokio_postgres::error::SqlState;

/// Everything that this crate reports. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum PgError {
    #[error("the address of the database {reason}; {hint}")]
    Address { reason: String, hint: &'static str },
    #[error(
        "`{database}` cannot be reached: {reason}; check that the server runs and is reachable"
    )]
    Unreachable { database: String, reason: String },
    #[error("no secure connection to `{database}`: {reason}; {hint}")]
    Tls { database: String, reason: String, hint: &'static str },
    #[error(
        "`{database}` refuses the connection: {reason}; check user and password (in the address, or \
         the password in PGPASSWORD)"
    )]
    Refused { database: String, reason: String },
    #[error("`{database}`: {reason}; create it with `createdb`, or correct the address")]
    NoDatabase { database: String, reason: String },
    #[error("`{database}`: {reason}; {hint}")]
    NoRight { database: String, reason: String, hint: &'static str },
    #[error(
        "`{database}` only reads ({reason}); give the address of the primary server, or list all \
         hosts with `target_session_attrs=read-write`"
    )]
    ReadOnly { database: String, reason: String },
    #[error("`{database}` is PostgreSQL {version}, and Halma needs {needed} or later; upgrade it")]
    OldServer { database: String, version: u32, needed: u32 },
    #[error(
        "the tables in `{database}` have version {version}, and this version of Halma knows up to \
         {newest}; upgrade Halma on this machine"
    )]
    NewerSchema { database: String, version: i32, newest: i32 },
    #[error("`{database}` has no space left ({reason}); free some and run the command again")]
    NoSpace { database: String, reason: String },
    #[error(
        "all connections to `{database}` are busy; try again, or allow more with `pool=NUMBER` in \
         the address"
    )]
    Busy { database: String },
    #[error("`{database}`: {reason}; others work on the same rows: try again")]
    Conflict { database: String, reason: String },
    #[error("a statement failed in `{database}`: {reason}; report it with the log")]
    Statement { database: String, reason: String },
    #[error(
        "the workspace `{workspace}` is no longer in the database; it was erased by another program"
    )]
    Erased { workspace: String },
    #[error(
        "the right to write in the workspace `{workspace}` has passed to another program; nothing \
         was written: run the command again"
    )]
    LeaseLost { workspace: String },
    #[error(
        "the workspace is at generation {actual}, and {expected} was expected; nothing was written: \
         take in the changes first"
    )]
    Behind { expected: u64, actual: u64 },
    #[error(
        "the segments after generation {after} have been joined into generation {first}; start \
         again from the head"
    )]
    Compacted { after: u64, first: u64 },
    #[error(
        "the database is at generation {actual}, before {expected} that was there already: it was \
         restored, or a replica took over; fill the local copy again"
    )]
    Rewound { expected: u64, actual: u64 },
    #[error("a segment of {bytes} bytes is larger than the {limit} that are stored; cut it")]
    SegmentTooLarge { bytes: usize, limit: usize },
    #[error(
        "`{name}` is not the name of the workspace (`{workspace}`); nothing was erased: give the \
         name exactly"
    )]
    NotConfirmed { name: String, workspace: String },
}

impl PgError {
    /// Whether the same may succeed in a moment: the server restarts, a connection was cut, others
    /// were first.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Busy { .. } | Self::Conflict { .. })
    }

    /// What a failure of the driver means.
    pub(crate) fn from_driver(database: &str, error: &tokio_postgres::Error) -> Self {
        let database = database.to_owned();
        let Some(server) = error.as_db_error() else {
            return Self::without_server(database, error);
        };
        let reason = server.message().to_owned();
        let code = server.code();
        match code.code().get(..2) {
            _ if [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]
                .contains(code) =>
            {
                Self::Refused { database, reason }
            }
            _ if *code == SqlState::INVALID_CATALOG_NAME => Self::NoDatabase { database, reason },
            _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
                Self::NoRight { database, reason, hint: GRANT }
            }
            _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
                Self::ReadOnly { database, reason }
            }
            _ if [SqlState::DISK_FULL, SqlState::OUT_OF_MEMORY].contains(code) => {
                Self::NoSpace { database, reason }
            }
            // Entered by two at once, for instance by a push whose first attempt is just committed.
            _ if *code == SqlState::UNIQUE_VIOLATION => Self::Conflict { database, reason },
            // Rolled back for another transaction.
            Some("40") => Self::Conflict { database, reason },
            // The connection, the number of connections, an operator (shutdown, start).
            Some("08" | "53" | "57") => Self::Unreachable { database, reason },
            _ => Self::Statement { database, reason: format!("{reason} ({})", code.code()) },
        }
    }

    fn without_server(database: String, error: &tokio_postgres::Error) -> Self {
        let reason = chain(error);
        let refuses_tls = reason.contains("server does not support TLS");
        if refuses_tls {
            let hint = "switch TLS on there, or add `sslmode=disable` where the network is trusted";
            return Self::Tls { database, reason: "the server does not offer TLS".into(), hint };
        }
        if reason.contains("TLS handshake") {
            let hint = "name the file of its certification authority with `sslrootcert=FILE`";
            return Self::Tls { database, reason, hint };
        }
        if reason.contains("password") || reason.contains("authentication") {
            return Self::Refused { database, reason };
        }
        let broken = error.is_closed() || has_io(error);
        if broken {
            Self::Unreachable { database, reason }
        } else {
            Self::Statement { database, reason }
        }
    }
}

const GRANT: &str = "let its owner run `grant create on database NAME to USER`, or connect once as the \
                     owner, who may then grant the schema `halma`";

/// The message of an error with those of its causes.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = next.source();
    }
    text
}

fn has_io(error: &dyn Error) -> bool {
    let mut cause = error.source();
    while let Some(next) = cause {
        if next.is::<std::io::Error>() {
            return true;
        }
        cause = next.source();
    }
    error.to_string().contains("timed out") || error.to_string().contains("timeout")
}
