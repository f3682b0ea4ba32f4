//! What all engines of one configuration share, independent of their base.
use std::sync::Arc;

use halma_core::{
    ConfigError, Embedder, Knowledge, PassageReader, Prompts, Reranker, Setup, Source, Tagging,
};
use halma_kb::{Base, Workers};
use halma_models::Cache;
use halma_offline::Extractive;

use crate::assemble;
use crate::config::{BudgetConfig, Config, ModelConfig};
use crate::engine::OffRuntime;
use crate::telemetry::Telemetry;

/// What is expensive to open: above all, the weights of the embedder.
#[derive(Clone)]
pub(crate) struct SharedResources {
    pub(crate) prompts: Arc<Prompts>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    /// What reads passages for the offline model.
    pub(crate) heads: Option<Arc<dyn PassageReader>>,
    pub(crate) offline: Extractive,
    reranker: Option<Arc<dyn Reranker>>,
    tagger: Tagging,
    pub(crate) workers: Option<Arc<Workers>>,
    pub(crate) telemetry: Option<Arc<Telemetry>>,
    pub(crate) warnings: Vec<String>,
}

/// Models for which a limit in US dollars does nothing, where there is such a limit.
fn unpriced(config: &Config) -> Option<String> {
    let BudgetConfig { ask, index, eval } = &config.budget;
    ask.usd.or(index.usd).or(eval.usd)?;
    let free = |model: &ModelConfig| model.price.prompt + model.price.completion <= 0.0;
    let named = config.models.iter().filter(|(_, model)| free(model));
    let named: Vec<String> = named.map(|(name, _)| format!("`models.{name}`")).collect();
    (!named.is_empty()).then(|| {
        format!(
            "a limit in US dollars has no effect on a model without `price` ({}): configure one, or \
             limit calls or tokens",
            named.join(", ")
        )
    })
}

impl SharedResources {
    pub(crate) fn open(config: &Config) -> Result<Self, ConfigError> {
        let prompts = Arc::new(assemble::prompts(config)?);
        let opened = assemble::embedder(&config.embedder)?;
        let heads = assemble::heads(config, opened.value.local.as_ref());
        let warnings = opened.warning.into_iter().chain(heads.warning).chain(unpriced(config));
        let warnings = warnings.collect();
        let (embedder, heads) = (opened.value.embedder, heads.value);
        let rules = Extractive::new();
        let offline = heads.iter().cloned().fold(rules, Extractive::with);
        let reranker = assemble::reranker(&config.reranker, embedder.as_ref())?;
        let tagger = assemble::tagger(config)?;
        let workers = config.worker.as_deref().map(Workers::new);
        let telemetry = Telemetry::open(&config.telemetry)?;
        Ok(Self {
            prompts,
            embedder,
            heads,
            offline,
            reranker,
            tagger,
            workers,
            telemetry,
            warnings,
        })
    }

    /// The same resources with the prompts read again.
    pub(crate) fn with_prompts(&self, config: &Config) -> Result<Self, ConfigError> {
        let prompts = Arc::new(assemble::prompts(config)?);
        Ok(Self { prompts, ..self.clone() })
    }

    /// Everything a run needs but the knowledge graph, which belongs to the base.
    pub(crate) fn setup(
        &self,
        config: &Config,
        base: &Arc<Base>,
        cache: Option<&Arc<Cache>>,
    ) -> Result<Setup, ConfigError> {
        let models = assemble::models(config, cache, &self.offline)?;
        let knowledge: Arc<dyn Knowledge> = Arc::new(OffRuntime::new(base));
        let setup = Setup::new(models, knowledge, Arc::clone(&self.prompts));
        let (reranker, tagger) = (self.reranker.clone(), Some(self.tagger.clone()));
        let web = assemble::web(config, assemble::web_folder(&base.cache_dir()))?;
        let sources = web.into_iter().map(|web| web as Arc<dyn Source>).collect();
        let about_base = match config.sources.text.about.trim() {
            "" => setup.about_base,
            about => about.to_owned(),
        };
        Ok(Setup { about_base, reranker, tagger, sources, ..setup })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_in_dollars_for_a_model_without_a_price_is_warned_of() {
        let mut config = Config::default();
        let model = "url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n";
        config.models.insert("main".into(), toml::from_str(model).unwrap());
        assert_eq!(unpriced(&config), None);
        config.budget.ask.usd = Some(0.5);
        assert!(unpriced(&config).unwrap().contains("`models.main`"));
        config.models.get_mut("main").unwrap().price.completion = 0.6;
        assert_eq!(unpriced(&config), None);
    }
}
