//! HTTP with a configured service that is not a model: a collector of traces, a server of our own.
use std::time::Duration;

use halma_core::ConfigError;
use reqwest::{Client, Url};

use crate::address;
use crate::http::{client, error_chain};

/// Bytes of a response that are read at most; what such services reply is short.
const MAX_REPLY: usize = 64 * 1024;

/// A client of one service.
#[derive(Debug, Clone)]
pub struct Service {
    client: Client,
    base: Url,
    timeout: Duration,
}

impl Service {
    /// A client for the service at `url`. The error's `file` is left empty for the caller that
    /// read the configuration, and its `key` is `url`.
    pub fn new(url: &str, timeout: Duration) -> Result<Self, ConfigError> {
        let base = address::base(url)?;
        let client = client(&base, &reqwest::header::HeaderMap::new()).map_err(|e| {
            let reason = format!("no HTTP client can be made: {}", error_chain(&e));
            address::wrong("url", &reason, "check the certificates of this machine")
        })?;
        Ok(Self { client, base, timeout })
    }

    /// The address, without its query.
    pub fn url(&self) -> String {
        address::show(&self.base)
    }

    /// Reads `path` below the base. An error says why there is no response.
    pub async fn get(&self, path: &str) -> Result<http::Response<Vec<u8>>, String> {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        let request = http::Request::get(url.as_str()).body(vec![]);
        self.send(request.map_err(|e| e.to_string())?).await
    }

    /// Sends a request with an address of its own. Any status is a response; an error says why
    /// there is none.
    pub async fn send(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<http::Response<Vec<u8>>, String> {
        let mut request = reqwest::Request::try_from(request).map_err(|e| error_chain(&e))?;
        *request.timeout_mut() = Some(self.timeout);
        let failed = |e: reqwest::Error| error_chain(&e.without_url());
        let mut response = self.client.execute(request).await.map_err(failed)?;
        let mut body = vec![];
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            body.extend_from_slice(&piece);
            if body.len() > MAX_REPLY {
                return Err(format!("the response is longer than {MAX_REPLY} bytes"));
            }
        }
        let mut copy = http::Response::new(body);
        *copy.status_mut() = response.status();
        *copy.headers_mut() = response.headers().clone();
        Ok(copy)
    }
}
