//! The model that assesses answers by criteria, from the flag to the evaluation.
use halma_core::ConfigError;
use halma_engine::{Config, Engine, OFFLINE};
use halma_eval::judge::Scheme;
use halma_eval::{Assessor, Bench};

use crate::view;

/// The requested schemes, each once. The offline model supports none of them but `forecast`, which
/// needs no model for answers that state value and interval as `pike_l3` does; the others are an
/// error before a base is made or a question asked.
pub(super) fn schemes(requested: &[Scheme], config: &Config) -> Result<Vec<Scheme>, ConfigError> {
    let mut schemes: Vec<Scheme> = vec![];
    for &scheme in requested {
        if !schemes.contains(&scheme) {
            schemes.push(scheme);
        }
    }
    let unsupported: Vec<&str> = schemes
        .iter()
        .filter(|scheme| **scheme != Scheme::Forecast)
        .map(|scheme| scheme.name())
        .collect();
    if unsupported.is_empty() || config.model_of("judge") != OFFLINE {
        return Ok(schemes);
    }
    Err(ConfigError {
        file: "--assess".into(),
        key: unsupported.join(","),
        reason: "the role `judge` is played by the offline model, which cannot rate, list or \
                 compare; a language model is needed"
            .into(),
        hint: "describe one under [models] and name it for the role `judge` under [roles]".into(),
    })
}

pub(super) fn assessors(engine: &Engine, schemes: &[Scheme]) -> Vec<Assessor> {
    if schemes.contains(&Scheme::Ragas) && engine.embedder().is_none() {
        view::warn("there is no embedder: the answer relevancy of `ragas` is left out");
    }
    let fingerprint = engine.judge_fingerprint();
    let by =
        |scheme: &Scheme| Assessor::by_model(*scheme, &fingerprint, engine.embedder().cloned());
    schemes.iter().map(by).collect()
}

/// An estimate is of the answers alone.
pub(super) fn warn_not_estimated(bench: &Bench) {
    let calls: u32 = bench.assessors.iter().map(|by| by.scheme.calls()).sum();
    if calls > 0 {
        let calls = view::plural(calls.into(), "call", "calls");
        view::warn(&format!("assessing is not in the estimate: up to {calls} for each answer"));
    }
}
