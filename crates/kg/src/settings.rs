//! `[kg]`: which knowledge graph is asked, and the graph it makes.
use std::sync::Arc;

use halma_core::{ConfigError, Facts};
use serde::{Deserialize, Serialize};

use super::base::BaseFacts;
use super::changing::Changing;
use super::embedded::KgGraphs;
use super::several::Several;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KgKind {
    /// What `halma kg load` has loaded and the base's own facts, as far as there are any.
    #[default]
    Auto,
    /// What `halma kg load` has loaded.
    Loaded,
    /// What was read out of the documents.
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
    /// Of the labels that are shown and searched.
    pub language: String,
    /// `sparql`: the endpoint.
    pub url: String,
    pub profile: KgProfile,
    /// `sparql`: for one query.
    pub timeout_seconds: f64,
    /// `sparql`: tries again after a passing failure.
    pub retries: usize,
    /// The environment variable that holds the key, sent as a bearer token.
    pub key_env: String,
    /// Hosts in private networks that may be asked all the same.
    pub allow_private: Vec<String>,
}

impl Default for KgSettings {
    fn default() -> Self {
        Self {
            kind: KgKind::default(),
            language: "en".into(),
            url: String::new(),
            profile: KgProfile::default(),
            timeout_seconds: 30.0,
            retries: 2,
            key_env: String::new(),
            allow_private: vec![],
        }
    }
}

/// What a graph can be made of.
pub struct KgParts<'a> {
    /// What the variable `key_env` holds.
    pub key: Option<String>,
    pub graphs: &'a KgGraphs,
    /// The base's facts, and whether there are any.
    pub base: BaseFacts,
    pub base_has_facts: bool,
}

/// The graph as configured; none for `none`, and for `auto` where there is nothing.
#[derive(Clone, Default)]
pub struct KgFacts {
    pub all: Option<Arc<dyn Facts>>,
    /// Without what was read out of the documents, for questions that may see some of them only.
    pub apart: Option<Arc<dyn Facts>>,
}

/// What the settings make of the parts. The error's `file` is left empty for whoever read the
/// configuration.
pub fn facts(settings: &KgSettings, parts: KgParts<'_>) -> Result<KgFacts, ConfigError> {
    let KgParts { key, graphs, base, base_has_facts } = parts;
    let same =
        |facts: Arc<dyn Facts>| KgFacts { all: Some(Arc::clone(&facts)), apart: Some(facts) };
    Ok(match settings.kind {
        KgKind::None => KgFacts::default(),
        KgKind::Loaded => same(graphs.facts()),
        KgKind::Sparql => same(super::sparql::endpoint(settings, key.as_deref())?),
        KgKind::Base => KgFacts { all: Some(Arc::new(Changing(base))), apart: None },
        KgKind::Auto => {
            let loaded = (!graphs.is_empty()).then(|| graphs.facts());
            let own = base_has_facts.then(|| Arc::new(Changing(base)) as Arc<dyn Facts>);
            let all = match (loaded.clone(), own) {
                (Some(loaded), Some(own)) => {
                    Some(Arc::new(Several::new(vec![loaded, own])) as Arc<dyn Facts>)
                }
                (loaded, own) => loaded.or(own),
            };
            KgFacts { all, apart: loaded }
        }
    })
}
