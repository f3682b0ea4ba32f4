//! Reading a forecast from the words of an answer (PIKE-RAG's L3), to compare it with what came.
use halma_core::{Cx, Prompt, Result};
use minijinja::context;
use serde::{Deserialize, Serialize};

use crate::metrics::{Direction, Forecast};

const FORECAST: Prompt<Outlook> = Prompt::json("judge/forecast");

/// What an answer forecasts, as far as it says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Outlook {
    pub direction: Option<Direction>,
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl Outlook {
    /// For [`crate::metrics::direction_accuracy`] and [`crate::metrics::interval_coverage`];
    /// `None` when it gives no value.
    pub fn forecast(&self) -> Option<Forecast> {
        self.value.map(|value| Forecast { value, low: self.low, high: self.high })
    }
}

/// Has the judge read what an answer forecasts. It computes nothing of its own.
///
/// # Errors
///
/// Bounds in the wrong order are asked for again, then [`halma_core::Error::BadReply`].
pub async fn outlook(cx: &Cx, question: &str, answer: &str) -> Result<Outlook> {
    let ordered = |outlook: &Outlook| match (outlook.low, outlook.high) {
        (Some(low), Some(high)) if low > high => Err(format!("`low` {low} is above `high` {high}")),
        _ => Ok(()),
    };
    cx.span("outlook").ask_checked(&FORECAST, context! { question, answer }, ordered).await
}
