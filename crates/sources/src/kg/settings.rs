//! `[kg]`: which knowledge graph is asked.
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KgKind {
    /// What `halma kg load` has loaded and the base's own facts, as far as there are any.
    #[default]
    Auto,
    /// What `halma kg load` has loaded.
    Loaded,
    /// What was extracted from the documents.
    Base,
    /// A SPARQL 1.1 endpoint.
    Sparql,
    None,
}

/// How an endpoint's graph names its things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KgProfile {
    /// `rdfs:label`, `skos:altLabel`, `schema:description`, `rdf:type` and their like.
    #[default]
    Generic,
    /// Wikidata: direct properties with the labels of theirs, and its own search for names.
    Wikidata,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KgSettings {
    pub kind: KgKind,
    /// What the graph holds, in one line, for the model that chooses among sources; made from the
    /// graph where it is empty.
    pub about: String,
    /// Of the labels that are shown and searched.
    pub language: String,
    /// `sparql`: the endpoint.
    pub url: String,
    pub profile: KgProfile,
    /// `sparql`: for one query.
    pub timeout_seconds: f64,
    /// `sparql`: retries after a passing failure.
    pub retries: usize,
    /// `sparql`: concurrent queries, at most; fewer while the endpoint throttles. Wikidata takes
    /// five.
    pub concurrency: usize,
    /// `sparql`: for how many days a query is not asked again; 0: always.
    pub cache_days: u32,
    /// The environment variable that holds the key, sent as a bearer token.
    pub key_env: String,
    /// Hosts in private networks that may be asked nevertheless.
    pub allow_private: Vec<String>,
}

impl Default for KgSettings {
    fn default() -> Self {
        Self {
            kind: KgKind::default(),
            about: String::new(),
            language: "en".into(),
            url: String::new(),
            profile: KgProfile::default(),
            timeout_seconds: 30.0,
            retries: 2,
            concurrency: 5,
            cache_days: 1,
            key_env: String::new(),
            allow_private: vec![],
        }
    }
}
