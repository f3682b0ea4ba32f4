//! `halma doctor`: checks that everything the configuration names is available.
mod server;
mod system;
mod unfinished;

use std::path::Path;
use std::sync::Arc;

use halma_core::text::thousands;
use halma_core::{ConfigError, EmbedRole, Embedder, Layer, Source as _, Tagging};
use halma_kb::{DenseTrust, KbError};
use halma_models::embed::minilm::{MAX_TOKENS, MiniLm};
use halma_models::{RerankerKind, ping};
use halma_sources::kg::{KgKind, KgProfile};
use serde::Serialize;

use self::unfinished::unfinished;
use crate::assemble::{self, OpenedEmbedder};
use crate::config::{Config, EmbedderKind, ModelConfig, OFFLINE, ROLES};
use crate::engine::{Engine, check_tables};
use crate::error::EngineError;
use crate::shared::Place;

pub use self::server::{NoServer, ServerState};
pub use self::system::free_space;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    Good,
    /// It works with restrictions.
    Warning,
    Bad,
}

#[derive(Debug, Serialize)]
pub struct Finding {
    /// The component that was checked, such as `embedder` or `model small`.
    pub component: String,
    pub health: Health,
    pub message: String,
}

impl Finding {
    fn new(component: impl Into<String>, health: Health, message: impl Into<String>) -> Self {
        Self { component: component.into(), health, message: message.into() }
    }

    fn bad(component: impl Into<String>, error: impl std::fmt::Display) -> Self {
        Self::new(component, Health::Bad, error.to_string())
    }

    /// A finding for an error of the configuration, with its hint.
    fn misconfigured(component: impl Into<String>, config: &Config, error: ConfigError) -> Self {
        let error = config.named(error);
        Self::bad(component, format!("{error}. {}", error.hint))
    }
}

/// Checks configuration, prompts, embedder, models and, if there is one, the base at `kb`: a folder
/// or an address.
pub async fn examine(config: &Config, kb: &Path) -> Vec<Finding> {
    let place = match Place::new(kb) {
        Ok(place) => place,
        Err(e) => return vec![Finding::bad("base", e)],
    };
    let (dir, opened) = (place.folder(), open(config, kb, &place));
    let (OpenedEmbedder { embedder, local }, finding) = embedder(config).await;
    let mut findings = vec![strategies(config), prompts(config), finding];
    findings.extend(heads(config, local.as_ref()));
    findings.push(reranker(config, embedder.as_ref()).await);
    findings.push(tagger(config).await);
    findings.extend(web(config, dir).await);
    findings.push(text(config));
    findings.extend(graph(config, opened.as_ref().ok().and_then(Option::as_ref)).await);
    for (name, settings) in &config.models {
        findings.push(model(config, name, settings).await);
    }
    let role =
        |role: &&str| Finding::new(format!("role {role}"), Health::Good, config.model_of(role));
    findings.extend(ROLES.iter().map(role));
    findings.push(base(&place, &opened));
    findings.push(system::disk(dir));
    findings.extend(system::open_files(config));
    findings.extend(system::workers(config));
    findings.push(system::budget(config));
    findings.push(server::running(config, dir).await);
    findings
}

/// The default strategy, and the settings of all.
fn strategies(config: &Config) -> Finding {
    match check_tables(config) {
        Ok(()) => Finding::new("strategy", Health::Good, &config.ask.strategy),
        Err(e) => Finding::misconfigured("strategy", config, e),
    }
}

fn prompts(config: &Config) -> Finding {
    match assemble::prompts(config) {
        Ok(prompts) => {
            let list = prompts.list();
            let changed = list.iter().filter(|info| info.overridden).count();
            let demonstrations = assemble::count_demonstrations();
            let message = format!(
                "{} prompts and {demonstrations} files of demonstrations, {changed} replaced by \
                 yours",
                list.len()
            );
            Finding::new("prompts", Health::Good, message)
        }
        Err(e) => Finding::misconfigured("prompts", config, e),
    }
}

/// The embedder, if there is one, and whether it works.
async fn embedder(config: &Config) -> (OpenedEmbedder, Finding) {
    const NAME: &str = "embedder";
    let opened = match assemble::embedder(&config.embedder) {
        Ok(opened) => opened,
        Err(e) => return (OpenedEmbedder::default(), Finding::misconfigured(NAME, config, e)),
    };
    let finding = match (&opened.value.embedder, opened.warning) {
        (Some(embedder), _) => match embedder.embed(&["ready?"], EmbedRole::Query).await {
            Ok(vectors) => {
                let size = vectors.first().map_or(0, Vec::len);
                let message =
                    format!("{}, {size} dimensions{}", embedder.model(), beginning_read(config));
                Finding::new(NAME, Health::Good, message)
            }
            Err(e) => Finding::bad(NAME, format!("{}: {e}", embedder.model())),
        },
        (None, Some(warning)) => Finding::new(NAME, Health::Warning, warning),
        (None, None) => {
            let none = config.embedder.kind == EmbedderKind::None;
            let message =
                if none { "none, as configured: search by keywords only" } else { "none" };
            Finding::new(NAME, Health::Warning, message)
        }
    };
    (opened.value, finding)
}

/// Characters of a token of English text, about.
const TOKEN_CHARS: usize = 4;

/// How much of a chunk the local embedder reads, where that may not be all.
fn beginning_read(config: &Config) -> String {
    let (read, chunk_chars) = (MAX_TOKENS * TOKEN_CHARS, config.kb.chunk_chars);
    if config.embedder.kind != EmbedderKind::Local || chunk_chars <= read {
        return String::new();
    }
    let (read, chunk_chars) = (thousands(read as u64), thousands(chunk_chars as u64));
    format!(
        "; a vector is of the first {MAX_TOKENS} tokens of a text (about {read} characters of \
         English), and chunks have up to {chunk_chars} characters (`kb.chunk_chars`)"
    )
}

/// Whether the offline model, if it is used, reads with trained heads.
fn heads(config: &Config, local: Option<&MiniLm>) -> Option<Finding> {
    const NAME: &str = "heads";
    if !ROLES.iter().any(|role| config.model_of(role) == OFFLINE) {
        return None;
    }
    let opened = assemble::heads(config, local);
    Some(match (opened.value, opened.warning) {
        (Some(heads), _) => match heads.read("Is it ready?", &["It is ready."]) {
            Ok(_) => Finding::new(NAME, Health::Good, heads.name()),
            Err(e) => Finding::bad(NAME, e),
        },
        (None, Some(warning)) => Finding::new(NAME, Health::Warning, warning),
        (None, None) if config.offline.heads => {
            let message = "none: they need the weights of the local embedder; the offline model \
                           reads by its rules alone";
            Finding::new(NAME, Health::Warning, message)
        }
        (None, None) => Finding::new(
            NAME,
            Health::Good,
            "none, as configured: the offline model reads by rules",
        ),
    })
}

async fn reranker(config: &Config, embedder: Option<&Arc<dyn Embedder>>) -> Finding {
    const NAME: &str = "reranker";
    match assemble::reranker(&config.reranker, embedder) {
        Ok(Some(reranker)) => match reranker.rerank("ready?", &["ready", "not yet"]).await {
            Ok(_) => Finding::new(NAME, Health::Good, reranker.name()),
            Err(e) => Finding::bad(NAME, format!("{}: {e}", reranker.name())),
        },
        Ok(None) if config.reranker.kind == RerankerKind::None => {
            Finding::new(NAME, Health::Good, "none: passages stay in the order of the search")
        }
        Ok(None) => Finding::new(NAME, Health::Warning, "none: `cosine` needs an embedder"),
        Err(e) => Finding::misconfigured(NAME, config, e),
    }
}

async fn tagger(config: &Config) -> Finding {
    const NAME: &str = "tagger";
    match assemble::tagger(config) {
        Ok(Tagging::Model) => {
            let model = config.model_of("tagger");
            Finding::new(NAME, Health::Good, format!("the model {model}"))
        }
        Ok(Tagging::Tagger(tagger)) => match tagger.entities("Is Ada Lovelace ready?").await {
            Ok(_) => Finding::new(NAME, Health::Good, tagger.name()),
            Err(e) => Finding::bad(NAME, format!("{}: {e}", tagger.name())),
        },
        Err(e) => Finding::misconfigured(NAME, config, e),
    }
}

/// The web, if it is configured. The API key is not tested, since a search costs money.
async fn web(config: &Config, dir: &Path) -> Option<Finding> {
    const NAME: &str = "source web";
    match assemble::web(config, assemble::web_folder(&dir.join("cache"))) {
        Ok(None) => None,
        Ok(Some(web)) => Some(match web.check().await {
            Ok(message) => Finding::new(NAME, Health::Good, format!("{message}: {}", web.about())),
            Err(e) => Finding::bad(NAME, e),
        }),
        Err(e) => Some(Finding::misconfigured(NAME, config, e)),
    }
}

/// The base as one of the sources: what a model that chooses among them is told.
fn text(config: &Config) -> Finding {
    let about = config.sources.text.about.trim();
    let others = config.sources.web.is_some() || config.kg.kind == KgKind::Sparql;
    let (health, message) = match (about, others) {
        ("", true) => (
            Health::Warning,
            "not described; say what the documents are about in `about` under [sources.text], so \
             that a model can choose among the sources"
                .to_owned(),
        ),
        ("", false) => (Health::Good, "the documents of the knowledge base".to_owned()),
        (about, _) => (Health::Good, about.to_owned()),
    };
    Finding::new("source text", health, message)
}

/// The knowledge graph and what it is said to hold. It is asked for an entity; that there is none
/// of this name is a reply, too.
async fn graph(config: &Config, engine: Option<&Engine>) -> Option<Finding> {
    const NAME: &str = "source kg";
    let facts = engine?.facts()?;
    let about = facts.about().to_owned();
    if let Err(e) = facts.find("Earth", None, 1).await {
        return Some(Finding::bad(NAME, format!("{about}: {e}")));
    }
    let anonymous = config.kg.kind == KgKind::Sparql
        && config.kg.profile == KgProfile::Wikidata
        && config.sources.contact.trim().is_empty();
    if anonymous {
        let message = format!(
            "{about}; set `contact` under [sources] to your e-mail address: Wikimedia limits or \
             refuses programs that do not say who asks"
        );
        return Some(Finding::new(NAME, Health::Warning, message));
    }
    Some(Finding::new(NAME, Health::Good, about))
}

async fn model(config: &Config, name: &str, settings: &ModelConfig) -> Finding {
    let component = format!("model {name}");
    match assemble::endpoint(settings, &format!("models.{name}")) {
        Ok(endpoint) => match ping(endpoint).await {
            Ok(ping) => {
                let milliseconds = ping.took.as_secs_f64() * 1e3;
                let (model, json) = (&settings.model, ping.json);
                let message = format!("{model} answers in {milliseconds:.0} ms; {json}");
                Finding::new(component, Health::Good, message)
            }
            Err(e) => Finding::bad(component, e),
        },
        Err(e) => Finding::misconfigured(component, config, e),
    }
}

/// From which cosines the base counts something as near.
fn thresholds(engine: &Engine) -> String {
    let Ok(Some((model, thresholds))) = engine.base().thresholds() else { return String::new() };
    let given = assemble::thresholds(&engine.config().embedder, Some(&model));
    let (configured, usual) = (given.configured, given.usual);
    let one = |value: Option<f32>, given: Option<f32>| match value {
        Some(value) if given == Some(value) => format!("{value:.3}"),
        Some(value) => format!("{value:.3} (measured in this base)"),
        None => "not measured yet".to_owned(),
    };
    let mut message = format!(
        "; near from cosine {} for chunks, {} for atoms",
        one(thresholds.chunk, configured.chunk.or(usual.chunk)),
        one(thresholds.atom, configured.atom.or(usual.atom))
    );
    let layers = engine.base().layer_thresholds().unwrap_or_default();
    if !layers.is_empty() {
        let layer = |(layer, cosine): (&Layer, &f32)| format!("{cosine:.3} for {}", layer.name());
        let layers: Vec<String> = layers.iter().map(layer).collect();
        message = format!("{message}; measured for other layers: {}", layers.join(", "));
    }
    message
}

/// What cosines weigh in the base, where that was measured.
fn trust(trust: Option<DenseTrust>) -> String {
    let Some(trust) = trust else { return String::new() };
    let DenseTrust { queries, dense, bm25, .. } = trust;
    let comparison = format!("of {queries} parts of passages cosines find {dense}, BM25 {bm25}");
    if trust.are_compared() {
        return format!("; cosines weigh {:.2} ({comparison})", trust.weight());
    }
    format!(
        "; the embedder does not understand the text ({comparison}), so that only BM25 is searched: \
         name an embedder for the language of the text and run `halma index --rebuild embedder`"
    )
}

/// The base, if there is one.
fn open(config: &Config, kb: &Path, place: &Place) -> Result<Option<Engine>, EngineError> {
    if place.address().is_none() && !place.folder().exists() {
        return Ok(None);
    }
    match Engine::open(config.clone(), kb) {
        Err(EngineError::Kb(KbError::NoSharedBase { .. })) => Ok(None),
        opened => opened.map(Some),
    }
}

fn base(place: &Place, opened: &Result<Option<Engine>, EngineError>) -> Finding {
    const NAME: &str = "base";
    let engine = match opened {
        Ok(Some(engine)) => engine,
        Ok(None) => {
            let folder = || place.folder().display().to_string();
            let at = place.address().map_or_else(folder, ToString::to_string);
            return Finding::new(NAME, Health::Warning, format!("there is none at {at} yet"));
        }
        Err(e) => return Finding::bad(NAME, e),
    };
    match engine.base().inspector().stats() {
        Ok(stats) if stats.documents == 0 => {
            Finding::new(NAME, Health::Warning, "0 documents; run `halma index FOLDER`")
        }
        Ok(stats) => {
            let measured = engine.base().dense_trust().ok().flatten();
            let message = format!(
                "{} documents, {} chunks, {} atoms, {} failed units{}{}{}",
                stats.documents,
                stats.chunks,
                stats.atoms,
                stats.failed_units,
                thresholds(engine),
                trust(measured),
                unfinished(&stats)
            );
            let unread = measured.is_some_and(|trust| !trust.are_compared());
            let open = stats.failed_units > 0 || !unfinished(&stats).is_empty();
            Finding::new(NAME, if open || unread { Health::Warning } else { Health::Good }, message)
        }
        Err(e) => Finding::bad(NAME, e),
    }
}
