//! An API key as it is stored: never its secret, only the hash of the secret.
use chrono::{DateTime, Utc};
use halma_core::MetadataFilter;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Every key begins with this, so that a leaked one is recognised.
const PREFIX: &str = "halma";

/// Domain of the hash, so that it cannot be used for anything else.
const CONTEXT: &str = "halma api keys 2026-11 secret";

/// What a key permits.
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
    /// The metrics of the whole server, and no documents or questions.
    Metrics,
}

impl Scope {
    pub const ALL: [Self; 4] = [Self::Ask, Self::Write, Self::Admin, Self::Metrics];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Write => "write",
            Self::Admin => "admin",
            Self::Metrics => "metrics",
        }
    }
}

/// An API key, without its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Key {
    pub id: String,
    /// Who or what uses it.
    pub name: String,
    pub scopes: Vec<Scope>,
    pub workspace: String,
    /// The id of the workspace's base; `None` until a server has opened the workspace.
    #[serde(skip)]
    pub(crate) workspace_id: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub created: DateTime<Utc>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires: Option<DateTime<Utc>>,
    /// US dollars that its questions and builds may cost per day (UTC).
    pub budget_per_day_usd: Option<f64>,
    /// Model calls that its questions and builds may make per day (UTC).
    pub calls_per_day: Option<u64>,
    /// The documents that it sees and may change: those whose fields meet these conditions. Without
    /// it all of the workspace.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub documents: Option<MetadataFilter>,
}

/// A key to create.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    pub name: String,
    pub scopes: Vec<Scope>,
    /// `default` by default.
    pub workspace: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires: Option<DateTime<Utc>>,
    pub budget_per_day_usd: Option<f64>,
    pub calls_per_day: Option<u64>,
    /// The documents that it may see and change: those whose fields meet these conditions.
    #[serde(default, rename = "where")]
    pub documents: Option<MetadataFilter>,
}

impl Key {
    pub fn has_expired(&self, now: DateTime<Utc>) -> bool {
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

/// The random parts of a new key.
pub(super) struct GeneratedKey {
    pub(super) id: String,
    /// The key as a client sends it.
    pub(super) text: String,
    /// The hash to store.
    pub(super) hash: blake3::Hash,
}

pub(super) fn generate() -> Result<GeneratedKey, getrandom::Error> {
    let (mut id, mut secret) = ([0; 5], [0; 24]);
    getrandom::fill(&mut id)?;
    getrandom::fill(&mut secret)?;
    let (id, secret) = (hex::encode(id), hex::encode(secret));
    let text = format!("{PREFIX}_{id}_{secret}");
    Ok(GeneratedKey { id, text, hash: hash(&secret) })
}
