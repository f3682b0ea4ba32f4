//! The table `[telemetry]`: where traces of questions are sent.
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetryConfig {
    /// The address of an `OpenTelemetry` collector that takes OTLP over HTTP; empty: no traces are
    /// sent.
    pub otlp_url: String,
    /// Whether traces hold the texts of questions, prompts, replies and searches.
    pub content: bool,
    /// The name of this program among those that send to the collector.
    pub service_name: String,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self { otlp_url: String::new(), content: false, service_name: "halma".into() }
    }
}
