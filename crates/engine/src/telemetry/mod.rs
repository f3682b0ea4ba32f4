//! Traces of questions for an `OpenTelemetry` collector: a span for each question, hop, call and
//! search, by OTLP over HTTP. Spans wait in a bounded queue of a thread of its own, and are dropped
//! when it is full: a collector that is slow or gone costs a question nothing.
mod run;
mod sender;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use halma_core::ConfigError;
use halma_net::Service;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

pub(crate) use self::run::{RunSpans, RunStart};
use self::sender::Sender;
use crate::config::{TelemetryConfig, key_error};

/// For one attempt to send spans.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How long the program waits at its end for spans that are not sent yet.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// The path of traces below the address of a collector (OTLP 1.x).
const PATH: &str = "/v1/traces";

pub(crate) struct Telemetry {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    content: bool,
}

impl Telemetry {
    /// `None` where no collector is configured.
    pub(crate) fn open(config: &TelemetryConfig) -> Result<Option<Arc<Self>>, ConfigError> {
        let url = config.otlp_url.trim().trim_end_matches('/');
        if url.is_empty() {
            return Ok(None);
        }
        let url = url.strip_suffix(PATH).unwrap_or(url);
        let hint = "give the address of a collector that takes OTLP over HTTP, such as \
                    `http://localhost:4318`, or leave it empty";
        let failed = |reason: String| key_error("telemetry.otlp_url", reason, hint);
        let service = Service::new(url, TIMEOUT).map_err(|e| failed(e.reason))?;
        let sender = Sender::new(service).map_err(|e| failed(e.to_string()))?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(sender)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{url}{PATH}"))
            .with_timeout(TIMEOUT)
            .build()
            .map_err(|e| failed(e.to_string()))?;
        // `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME` are read by the builder; a name that is
        // written in the configuration comes before the latter.
        let mut resource = Resource::builder();
        if config.service_name != TelemetryConfig::default().service_name
            || std::env::var_os("OTEL_SERVICE_NAME").is_none()
        {
            resource = resource.with_service_name(config.service_name.clone());
        }
        let version = opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.with_attribute(version).build())
            .with_batch_exporter(exporter)
            .build();
        let tracer = provider.tracer("halma");
        Ok(Some(Arc::new(Self { provider, tracer, content: config.content })))
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        // Spans that cannot be sent in time are lost; the sender has logged that.
        let _ = self.provider.shutdown_with_timeout(LAST_WAIT);
    }
}
