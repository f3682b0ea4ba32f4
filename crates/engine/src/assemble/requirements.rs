//! What a strategy requires, checked before its first question.
use halma_core::{ConfigError, Entry, Need, Setup};

use crate::config::{CONFIG_FILE, Config, OFFLINE};

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
        return Err(ConfigError { file: CONFIG_FILE.into(), key, reason, hint });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use halma_core::{Models, Prompts, Tagging};
    use halma_offline::Extractive;
    use halma_testkit::{Capitals, Overlap, Toy};

    use super::*;

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
}
