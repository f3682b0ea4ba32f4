//! What a strategy requires, checked before its first question.
use halma_core::{ConfigError, Entry, Need, Setup, Strategy};

use crate::config::{Config, OFFLINE, key_error};

/// Refuses a strategy whose requirements the configuration does not meet.
pub(crate) fn check(entry: &Entry, setup: &Setup, config: &Config) -> Result<(), ConfigError> {
    for need in entry.needs {
        let (key, what, hint) = match need {
            Need::LogProbs(role) => {
                let model = setup.models.for_role(role);
                if model.logprobs() {
                    continue;
                }
                let named = config.model_of(role);
                let what = format!(
                    "log-probabilities from the role `{role}`, which its model `{named}` does not give"
                );
                let hint = if named == OFFLINE {
                    format!(
                        "assign the role `{role}` under [roles] to a model with `logprobs = true`"
                    )
                } else {
                    format!(
                        "write `logprobs = true` under [models.{named}] if its server gives them, \
                         or assign the role to another model"
                    )
                };
                (format!("roles.{role}"), what, hint)
            }
            Need::Reranker if setup.reranker.is_none() => {
                let what = "a reranker, and none is configured".to_owned();
                let hint = "name one under [reranker]".to_owned();
                ("reranker".to_owned(), what, hint)
            }
            Need::Tagger if setup.tagger.is_none() => {
                let hint = "name one under [tagger]".to_owned();
                ("tagger".to_owned(), "a tagger, and none is configured".to_owned(), hint)
            }
            Need::Reranker | Need::Tagger => continue,
        };
        let reason = format!("strategy `{}` needs {what}", entry.name);
        return Err(key_error(key, reason, hint));
    }
    Ok(())
}

/// The base among the sources that a strategy names.
const TEXT: &str = "text";

/// Refuses a strategy whose setting `sources` names one that is not configured, before a question
/// is lost by it.
pub(crate) fn check_sources(strategy: &dyn Strategy, setup: &Setup) -> Result<(), ConfigError> {
    let settings = strategy.settings();
    let named = settings.get("sources").and_then(serde_json::Value::as_array);
    let mut configured = vec![TEXT];
    configured.extend(setup.sources.iter().map(|source| source.name()));
    configured.extend(setup.facts.iter().map(|facts| facts.name()));
    let missing = named.into_iter().flatten().filter_map(serde_json::Value::as_str);
    let Some(missing) = missing.into_iter().find(|name| !configured.contains(name)) else {
        return Ok(());
    };
    let hint = match missing {
        "kg" => "configure a knowledge graph under [kg] (docs/guide/sources.md)".to_owned(),
        "web" => "configure a search engine under [sources.web] (docs/guide/sources.md)".to_owned(),
        _ => format!("use one of: {}", configured.join(", ")),
    };
    let reason = format!("it names the source `{missing}`, which is not configured");
    Err(key_error(format!("strategy.{}.sources", strategy.name()), reason, hint))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use halma_core::{Models, Prompts, Tagging};
    use halma_offline::Extractive;
    use halma_testkit::{Capitals, Overlap, Toy, ToySource};

    use super::*;
    use crate::config::CONFIG_FILE;

    const ALL: &[Need] = &[Need::Reranker, Need::Tagger, Need::LogProbs("reader")];

    fn entry(needs: &'static [Need]) -> Entry {
        Entry {
            name: "sure",
            paper: "",
            summary: "",
            calls: "",
            needs,
            build: |_| Err(String::new()),
        }
    }

    fn bare() -> Setup {
        let prompts = Arc::new(Prompts::shipped(&[]).unwrap());
        Setup::new(Models::new(Arc::new(Extractive::new())), Toy::empty(), prompts)
    }

    #[test]
    fn a_missing_requirement_is_named_with_a_hint() {
        let both = Setup {
            reranker: Some(Arc::new(Overlap)),
            tagger: Some(Tagging::Tagger(Arc::new(Capitals))),
            ..bare()
        };
        let config = Config::default();
        for (setup, needs, key, hint) in [
            (bare(), ALL, "reranker", "[reranker]"),
            (bare(), &ALL[1..], "tagger", "[tagger]"),
            (both, ALL, "roles.reader", "logprobs = true"),
        ] {
            let error = check(&entry(needs), &setup, &config).unwrap_err();
            assert_eq!((error.file.as_str(), error.key.as_str()), (CONFIG_FILE, key));
            assert!(error.reason.contains("`sure`") && error.hint.contains(hint), "{error}");
        }
    }

    #[test]
    fn met_requirements_pass() {
        let config = Config::default();
        assert!(check(&entry(&[]), &bare(), &config).is_ok());
        let setup = Setup { reranker: Some(Arc::new(Overlap)), ..bare() };
        assert!(check(&entry(&ALL[..1]), &setup, &config).is_ok());
    }

    #[test]
    fn a_source_that_is_not_configured_is_named_before_a_question() {
        let strategy = |sources: &str| {
            let naive = crate::strategies().iter().find(|entry| entry.name == "naive").unwrap();
            let sources: Vec<toml::Value> = sources.split(' ').map(Into::into).collect();
            let table = [("sources".to_owned(), toml::Value::Array(sources))];
            (naive.build)(table.into_iter().collect()).unwrap()
        };
        assert!(check_sources(strategy("text").as_ref(), &bare()).is_ok());
        for (name, hint) in [("web", "[sources.web]"), ("kg", "[kg]"), ("wbe", "text")] {
            let error = check_sources(strategy(name).as_ref(), &bare()).unwrap_err();
            assert!(error.reason.contains(name) && error.hint.contains(hint), "{error:?}");
            assert_eq!(error.key, "strategy.naive.sources");
        }
        let setup = Setup { sources: vec![ToySource::new("web", &[]).shared()], ..bare() };
        assert!(check_sources(strategy("text web").as_ref(), &setup).is_ok());
    }
}
