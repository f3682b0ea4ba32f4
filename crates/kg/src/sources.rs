//! From the settings to the graphs that questions are answered from.
use std::sync::Arc;

use halma_core::{ConfigError, Facts};

use crate::combined::Combined;
use crate::endpoint::{HttpEndpoint, KgAccess};
use crate::loaded::KgGraphs;
use crate::operators::Operators;
use crate::settings::{KgKind, KgProfile, KgSettings};
use crate::sparql::SparqlGraph;

/// What a graph can be made of.
pub struct KgParts<'a> {
    pub access: KgAccess,
    pub graphs: &'a KgGraphs,
    /// The base's own facts, and whether there are any.
    pub base: Arc<dyn Facts>,
    pub base_has_facts: bool,
}

/// The graph as configured; none for `none`, and for `auto` where there is nothing.
#[derive(Clone, Default)]
pub struct KgFacts {
    pub all: Option<Arc<dyn Facts>>,
    /// Without what was extracted from the documents, for questions that may see some of them
    /// only.
    pub apart: Option<Arc<dyn Facts>>,
}

/// The graph that the settings ask for. The error's `file` is left empty for the caller that read
/// the configuration.
pub fn facts(settings: &KgSettings, parts: KgParts<'_>) -> Result<KgFacts, ConfigError> {
    let KgParts { access, graphs, base, base_has_facts } = parts;
    let same =
        |facts: Arc<dyn Facts>| KgFacts { all: Some(Arc::clone(&facts)), apart: Some(facts) };
    let made = match settings.kind {
        KgKind::None => KgFacts::default(),
        KgKind::Loaded => same(graphs.facts()),
        KgKind::Sparql => same(over_http(settings, &access)?),
        KgKind::Base => KgFacts { all: Some(base), apart: None },
        KgKind::Auto => {
            let loaded = (!graphs.is_empty()).then(|| graphs.facts());
            let all = match (loaded.clone(), base_has_facts.then_some(base)) {
                (Some(loaded), Some(base)) => {
                    Some(Arc::new(Combined::new(vec![loaded, base])) as Arc<dyn Facts>)
                }
                (loaded, base) => loaded.or(base),
            };
            KgFacts { all, apart: loaded }
        }
    };
    let described = |facts: Arc<dyn Facts>| Combined::described(facts, &settings.about);
    Ok(KgFacts { all: made.all.map(described), apart: made.apart.map(described) })
}

/// A SPARQL endpoint. Connects to nothing yet.
pub(crate) fn over_http(
    settings: &KgSettings,
    access: &KgAccess,
) -> Result<Arc<dyn Facts>, ConfigError> {
    let endpoint = HttpEndpoint::new(settings, access)?;
    let about = match settings.profile {
        KgProfile::Wikidata => format!(
            "Wikidata at {}: entities of all kinds with dates, places, people, figures and how \
             they are related",
            endpoint.host()
        ),
        KgProfile::Generic => format!("knowledge graph at {}", endpoint.host()),
    };
    Ok(Arc::new(Operators::new(SparqlGraph::over_http(endpoint, settings), about)))
}
