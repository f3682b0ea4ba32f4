//! HTTP with a model server: one pooled client for each endpoint, and the sorting of failures by
//! what to do next.
use std::time::Duration;

use halma_core::{ConfigError, LlmError};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};

use crate::address::{base, is_loopback, show, wrong};
use crate::endpoint::Endpoint;
use crate::failure::{Failed, Fault, classify, clip, not_json, without_status};

/// Bytes of a reply at most: vectors of a few thousand texts, and far more than any answer.
const MAX_BODY: usize = 256 << 20;
/// Bytes of an error's body that are read.
const MAX_ERROR_BODY: usize = 64 << 10;

/// Header that names the prompt file a request was made from.
const PROMPT_HEADER: &str = "x-halma-prompt";

pub struct Http {
    client: Client,
    base: Url,
    timeout: Duration,
    /// Bytes of a body at most.
    longest: usize,
    key: Option<String>,
    model: String,
}

impl Http {
    /// The error's `file` is left empty for the caller that read the configuration.
    pub fn new(endpoint: &Endpoint) -> Result<Self, ConfigError> {
        let base = base(&endpoint.url)?;
        let key = endpoint.key.as_deref().map(str::trim).filter(|key| !key.is_empty());
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = key {
            headers.insert(AUTHORIZATION, bearer(key)?);
        }
        let client = client(&base, &headers).map_err(|e| {
            let reason = format!("no HTTP client can be made: {}", error_chain(&e));
            wrong("url", &reason, "check the certificates of this machine")
        })?;
        let timeout = endpoint.timeout;
        let model = endpoint.model.clone();
        let key = key.map(str::to_owned);
        Ok(Self { client, base, timeout, longest: MAX_BODY, key, model })
    }

    /// The same client for a server whose bodies have at most so many bytes.
    #[must_use]
    pub fn with_longest_body(self, longest: usize) -> Self {
        Self { longest, ..self }
    }

    /// The address of `path` below the base.
    pub fn address(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url
    }

    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Posts and reads the whole body, all within the timeout.
    pub async fn post(&self, to: &Url, prompt: &str, body: Vec<u8>) -> Result<Whole, Failed> {
        let request = self.request(to, prompt, body).timeout(self.timeout);
        let response = self.send(request, to).await?;
        self.whole(response, to).await
    }

    /// Posts and returns once the head of the response is there; its body is the caller's to read.
    pub async fn open(&self, to: &Url, prompt: &str, body: Vec<u8>) -> Result<Response, Failed> {
        let sent = self.send(self.request(to, prompt, body), to);
        match tokio::time::timeout(self.timeout, sent).await {
            Ok(response) => response,
            Err(_) => Err(self.late(to).into()),
        }
    }

    pub async fn get(&self, from: &Url) -> Result<Whole, Failed> {
        let request = self.client.get(from.clone()).timeout(self.timeout);
        let response = self.send(request, from).await?;
        self.whole(response, from).await
    }

    /// Reads a body to its end; one that does not come to an end is an error.
    pub async fn whole(&self, mut response: Response, url: &Url) -> Result<Whole, Failed> {
        let kind = content_type(&response);
        let mut bytes = vec![];
        while let Some(piece) = response.chunk().await.map_err(|e| self.broken(e, url))? {
            if bytes.len() + piece.len() > self.longest {
                let megabytes = self.longest >> 20;
                let reason = format!("`{}` sent more than {megabytes} MiB", show(url));
                return Err(LlmError::transient(reason).into());
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(Whole { kind, bytes })
    }

    /// The error for a body that should have been this JSON and is not.
    pub fn unreadable(&self, whole: &Whole, url: &Url, e: &serde_json::Error) -> LlmError {
        let text = self.scrub(&e.to_string());
        let fault = Fault { category: e.classify(), text: &text };
        not_json(&show(url), &whole.kind, &self.scrub(&whole.text()), &fault)
    }

    /// The error for a piece of a stream that should have been this JSON and is not.
    pub fn unreadable_piece(&self, url: &Url, e: &serde_json::Error) -> LlmError {
        let reason = clip(&self.scrub(&e.to_string()));
        LlmError::transient(format!("`{}` streamed a piece that is not JSON: {reason}", show(url)))
    }

    /// An error that the server sent in a response that looked like a success; its code may be the
    /// real status. Without one it may pass, as a server that is overloaded does.
    pub fn reported(&self, url: &Url, error: &serde_json::Value) -> Failed {
        let code = ["code", "status"].iter().find_map(|key| error.get(key)?.as_u64());
        let status = code.and_then(|code| u16::try_from(code).ok()).filter(|code| *code >= 400);
        let status = status.and_then(|status| StatusCode::from_u16(status).ok());
        let body = self.scrub(&serde_json::json!({ "error": error }).to_string());
        match status {
            Some(status) => classify(status, &HeaderMap::new(), &body, &self.place(url)),
            None => without_status(&body, &self.place(url)).into(),
        }
    }

    /// A connection that ended before the response did.
    pub fn broken(&self, e: reqwest::Error, url: &Url) -> LlmError {
        let e = e.without_url();
        if e.is_timeout() && !e.is_connect() {
            return self.late(url);
        }
        let what = if e.is_connect() {
            "cannot be reached (does the server run, and is `url` right?)"
        } else {
            "broke the connection"
        };
        let reason = format!("`{}` {what}: {}", show(url), error_chain(&e));
        LlmError::transient(self.scrub(&reason))
    }

    pub fn late(&self, url: &Url) -> LlmError {
        let seconds = self.timeout.as_secs_f64();
        LlmError::transient(format!("`{}` gave no reply within {seconds} s", show(url)))
    }

    fn request(&self, to: &Url, prompt: &str, body: Vec<u8>) -> RequestBuilder {
        let request = self.client.post(to.clone()).body(body);
        // A user's folder may hold a file name that no header may hold; the call matters more.
        match HeaderValue::from_str(prompt) {
            Ok(name) if !prompt.is_empty() => request.header(PROMPT_HEADER, name),
            _ => request,
        }
    }

    async fn send(&self, request: RequestBuilder, url: &Url) -> Result<Response, Failed> {
        let mut response = request.send().await.map_err(|e| self.broken(e, url))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let headers = response.headers().clone();
        // The status says enough when the rest of the response is lost.
        let mut body = vec![];
        while let Ok(Some(piece)) = response.chunk().await {
            body.extend_from_slice(&piece);
            if body.len() > MAX_ERROR_BODY {
                body.truncate(MAX_ERROR_BODY);
                break;
            }
        }
        let body = self.scrub(&String::from_utf8_lossy(&body));
        Err(classify(status, &headers, &body, &self.place(url)))
    }

    fn place(&self, url: &Url) -> Place {
        Place { url: show(url), model: self.model.clone() }
    }

    /// Removes the key from the text of a server or a library.
    fn scrub(&self, text: &str) -> String {
        match &self.key {
            Some(key) => text.replace(key.as_str(), "(the key)"),
            None => text.to_owned(),
        }
    }
}

/// The value of `Authorization` for a key, which is never shown. The error's `file` is left empty
/// for the caller that read the configuration.
pub fn bearer(key: &str) -> Result<HeaderValue, ConfigError> {
    let mut value = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| {
        let hint = "look for line breaks or letters outside ASCII in the variable";
        wrong("key_env", "the key holds characters that no HTTP header may hold", hint)
    })?;
    value.set_sensitive(true);
    Ok(value)
}

pub(crate) fn client(base: &Url, headers: &HeaderMap) -> reqwest::Result<Client> {
    crate::install_provider();
    let loopback = is_loopback(base);
    let builder = |certificates: bool| {
        let builder = Client::builder()
            .default_headers(headers.clone())
            .user_agent(concat!("halma/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(10))
            .pool_idle_timeout(Duration::from_secs(90))
            .tcp_nodelay(true)
            .redirect(Policy::custom(follow));
        let builder = if loopback { builder.no_proxy() } else { builder };
        if certificates { builder } else { builder.tls_certs_only([]) }
    };
    if base.scheme() == "https" {
        return builder(true).build();
    }
    // A machine without any certificates (a slim container) can still reach a server in its
    // network; with them a proxy that is reached by https works too.
    let plain = || builder(false).build();
    if loopback { plain() } else { builder(true).build().or_else(|_| plain()) }
}

/// What an error names: where it happened and with which model.
pub struct Place {
    pub url: String,
    pub model: String,
}

/// A response that was read to its end.
pub struct Whole {
    /// The content type, empty without one.
    pub kind: String,
    pub bytes: Vec<u8>,
}

impl Whole {
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

pub fn content_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.unwrap_or_default().to_owned()
}

/// Follows only where the request stays a request to the same server: the key and the texts are
/// meant for no other.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let keeps_method = matches!(attempt.status().as_u16(), 307 | 308);
    let first = attempt.previous().first();
    let same = first.is_some_and(|first| first.origin() == attempt.url().origin());
    if keeps_method && same && attempt.previous().len() <= 5 {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// An error with its sources, where reqwest keeps the useful message; the outermost say nothing.
pub fn error_chain(e: &dyn std::error::Error) -> String {
    let mut words = e.to_string();
    let mut source = e.source();
    while let Some(e) = source {
        let more = e.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        source = e.source();
    }
    words.replace("error sending request: client error (Connect): ", "")
}
