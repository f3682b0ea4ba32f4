//! The strategies and what each needs.
use axum::Json;
use halma_core::Need;
use halma_engine::{Engine, strategies as all};
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::MayAskDocuments;
use crate::problem::Problem;

#[derive(Serialize, ToSchema)]
pub(crate) struct StrategyLine {
    name: &'static str,
    /// Authors, title, venue.
    paper: &'static str,
    summary: &'static str,
    /// What it requires.
    needs: Vec<String>,
    /// Why it cannot be used with the server's configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    unmet: Option<String>,
    /// Whether it is used where a request names none.
    default: bool,
    /// Calls to a model for one question with the default settings, as the algorithm has them.
    calls: &'static str,
    /// Its settings with their values.
    settings: serde_json::Value,
}

/// List the strategies.
#[utoipa::path(get, path = "/api/v1/strategies", tag = "ask",
    responses((status = 200, body = Vec<StrategyLine>), (status = 401, body = Problem)))]
pub(crate) async fn strategies(
    MayAskDocuments(caller): MayAskDocuments,
) -> Json<Vec<StrategyLine>> {
    Json(lines(&caller.workspace.engine()))
}

fn lines(engine: &Engine) -> Vec<StrategyLine> {
    let default = &engine.config().ask.strategy;
    let line = |entry: &'static halma_core::Entry| {
        let built = engine.strategy(entry.name);
        let table = engine.config().strategy.get(entry.name).cloned().unwrap_or_default();
        let settings = match &built {
            Ok(strategy) => Some(strategy.settings()),
            Err(_) => entry.build_from(table).ok().map(|strategy| strategy.settings()),
        };
        StrategyLine {
            name: entry.name,
            paper: entry.paper,
            summary: entry.summary,
            needs: entry.needs.iter().map(describe).collect(),
            unmet: built.err().map(|e| format!("{}; {}", e.reason, e.hint)),
            default: entry.name == default,
            calls: entry.calls,
            settings: settings.unwrap_or_default(),
        }
    };
    all().iter().map(line).collect()
}

fn describe(need: &Need) -> String {
    match need {
        Need::LogProbs(role) => format!("log-probabilities of the model for `{role}`"),
        Need::Reranker => "a reranker".into(),
        Need::Tagger => "a tagger".into(),
    }
}
