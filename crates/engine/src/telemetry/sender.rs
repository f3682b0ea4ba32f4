//! Sends what the exporter has encoded, by the HTTP client that all configured services share.
use std::sync::atomic::{AtomicBool, Ordering};

use halma_net::Service;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Runtime;

/// A client with a runtime of its own: it works on the exporter's thread, also while the program
/// ends and its runtime does no more.
#[derive(Debug)]
pub(crate) struct Sender {
    service: Service,
    /// Only `None` while it is dropped.
    runtime: Option<Runtime>,
    /// Whether the last attempt failed, so that the log has a line for each change only.
    failing: AtomicBool,
}

impl Sender {
    pub(crate) fn new(service: Service) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { service, runtime: Some(runtime), failing: AtomicBool::new(false) })
    }

    fn log(&self, failure: Option<&str>) {
        let before = self.failing.swap(failure.is_some(), Ordering::Relaxed);
        let url = self.service.url();
        match failure {
            Some(reason) if !before => {
                tracing::warn!(
                    "traces cannot be sent to {url} and are discarded until it answers: {reason}"
                );
            }
            None if before => tracing::warn!("traces are sent to {url} again"),
            _ => {}
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        // A runtime must not be waited for on a thread of another one.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[async_trait::async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let runtime = self.runtime.as_ref().ok_or("the program ends")?;
        let request = request.map(|body| body.to_vec());
        match runtime.block_on(self.service.send(request)) {
            Ok(response) => {
                let status = response.status();
                self.log((!status.is_success()).then(|| format!("status {status}")).as_deref());
                Ok(response.map(Bytes::from))
            }
            Err(reason) => {
                self.log(Some(&reason));
                Err(reason.into())
            }
        }
    }
}
