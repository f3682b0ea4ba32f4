//! A key as it is kept: never its secret, only the secret's hash.
use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What every key begins with, so that one can be told when it is found where it should not be.
const PREFIX: &str = "halma";

/// Names the use of the hash, so that it fits nothing else.
const CONTEXT: &str = "halma api keys 2026-11 secret";

/// What a key may be used for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Ask, search, read.
    Ask,
    /// Upload, build, delete.
    Write,
    /// Workspaces, keys, prompts, models, configuration.
    Admin,
}

impl Scope {
    pub const ALL: [Self; 3] = [Self::Ask, Self::Write, Self::Admin];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// A key, without its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Key {
    pub id: String,
    /// Who or what it is for.
    pub name: String,
    pub scopes: Vec<Scope>,
    pub workspace: String,
    #[schema(value_type = String, format = DateTime)]
    pub created: DateTime<Utc>,
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires: Option<DateTime<Utc>>,
    /// US dollars that its questions and builds may cost in a day (UTC).
    #[serde(default)]
    pub budget_per_day_usd: Option<f64>,
    /// Calls to models that its questions and builds may take in a day (UTC).
    #[serde(default)]
    pub calls_per_day: Option<u64>,
}

/// What a key is made from.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    pub name: String,
    pub scopes: Vec<Scope>,
    /// `default` where none is named.
    #[serde(default)]
    pub workspace: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires: Option<DateTime<Utc>>,
    #[serde(default)]
    pub budget_per_day_usd: Option<f64>,
    #[serde(default)]
    pub calls_per_day: Option<u64>,
}

impl Key {
    pub fn is_over(&self, now: DateTime<Utc>) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

/// An id and a secret, as a client sends them: `halma_<id>_<secret>`.
pub(super) struct Credentials<'a> {
    pub(super) id: &'a str,
    secret: &'a str,
}

impl<'a> Credentials<'a> {
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (prefix, rest) = text.split_once('_')?;
        let (id, secret) = rest.split_once('_')?;
        (prefix == PREFIX && !id.is_empty()).then_some(Self { id, secret })
    }

    pub(super) fn hash(&self) -> blake3::Hash {
        hash(self.secret)
    }
}

fn hash(secret: &str) -> blake3::Hash {
    blake3::Hash::from_bytes(blake3::derive_key(CONTEXT, secret.as_bytes()))
}

/// Two digits a byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut digits, byte| {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// A new id, the key as the client sends it, and the hash that is kept.
pub(super) fn fresh() -> Result<(String, String, blake3::Hash), getrandom::Error> {
    let (mut id, mut secret) = ([0; 5], [0; 24]);
    getrandom::fill(&mut id)?;
    getrandom::fill(&mut secret)?;
    let (id, secret) = (hex(&id), hex(&secret));
    let hash = hash(&secret);
    Ok((id.clone(), format!("{PREFIX}_{id}_{secret}"), hash))
}
