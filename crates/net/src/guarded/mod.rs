//! HTTP with every server that is not a configured model server. An address from a document, a
//! plan, a result or a redirect must not lead to this machine or its network, and a reply must not
//! fill the memory.
//!
//! Names are resolved here and every address is checked before it is connected to, so that a name
//! that resolves differently the second time gains nothing. No proxy is used for the same reason:
//! it would resolve the names itself.
mod body;
mod places;
mod resolve;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, StatusCode, Url};

use halma_core::ConfigError;

use crate::address::{show, wrong};
use crate::failure::clip;
use crate::http::error_chain;
pub use resolve::Lookup;
use resolve::{Guarded, Refusal, System};

/// Redirects that are followed, at most.
const REDIRECTS: usize = 5;

/// What a client may reach and how much it takes.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Hosts that the configuration names (without port), which may be anywhere.
    pub named: Vec<String>,
    /// For one exchange from its first byte to its last, redirects included.
    pub timeout: Duration,
    /// Bytes of a body as it came and as it was unpacked, at most.
    pub max_bytes: usize,
}

/// What a client calls itself: `contact` is who asks, an address or a page, and may be empty.
/// Wikimedia refuses programs that do not say it
/// (<https://foundation.wikimedia.org/wiki/Policy:User-Agent_policy>).
pub fn user_agent(contact: &str) -> Result<HeaderValue, ConfigError> {
    let name = concat!("halma/", env!("CARGO_PKG_VERSION"));
    let contact = contact.trim();
    let agent = if contact.is_empty() { name.to_owned() } else { format!("{name} ({contact})") };
    HeaderValue::try_from(agent).map_err(|_| {
        let reason = "it holds characters that no HTTP header may hold";
        wrong("contact", reason, "write an e-mail address or the address of a page")
    })
}

/// Which redirects are followed. Each hop is checked like the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// None: the reply is the redirect.
    No,
    /// To the same scheme, host and port, with the same method: for calls that carry a key.
    SameOrigin,
    /// Anywhere outside; no header of the request goes along to another origin.
    Anywhere,
}

pub struct Request {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub follow: Follow,
}

impl Request {
    pub fn get(url: Url, follow: Follow) -> Self {
        let (method, headers) = (Method::GET, HeaderMap::new());
        Self { method, url, headers, body: vec![], follow }
    }
}

/// A response of any status, read to its end and unpacked.
#[derive(Debug)]
pub struct Reply {
    /// Where it came from in the end.
    pub url: Url,
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Reply {
    /// The content type in lower case, empty without one.
    pub fn kind(&self) -> String {
        let kind = self.headers.get(reqwest::header::CONTENT_TYPE);
        kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_ascii_lowercase()
    }

    /// Where a redirect leads.
    pub fn leads_to(&self) -> Option<Url> {
        if !matches!(self.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        self.url.join(self.headers.get(LOCATION)?.to_str().ok()?).ok()
    }
}

/// Why no reply was received. Addresses are shown without their query.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FetchError {
    #[error("`{url}` is not requested: {reason}")]
    Refused { url: String, reason: String },
    #[error("`{url}` cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("`{url}` did not reply in full within {} s", .timeout.as_secs_f64())]
    Late { url: String, timeout: Duration },
    #[error("`{url}` broke the connection: {reason}")]
    Broken { url: String, reason: String },
    #[error("`{url}` sends more than {limit} bytes")]
    TooLarge { url: String, limit: usize },
    #[error("`{url}` sends its reply packed as {encoding}, which cannot be read: {reason}")]
    Packed { url: String, encoding: String, reason: String },
}

impl FetchError {
    /// Whether the same call may fare better later.
    pub fn passes(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Late { .. } | Self::Broken { .. })
    }
}

impl From<FetchError> for halma_core::LlmError {
    fn from(error: FetchError) -> Self {
        let reason = error.to_string();
        if error.passes() { Self::transient(reason) } else { Self::refused(reason) }
    }
}

pub struct GuardedClient {
    client: Client,
    named: Arc<BTreeSet<String>>,
    bounds: Bounds,
}

impl GuardedClient {
    pub fn new(bounds: Bounds) -> Result<Self, FetchError> {
        Self::resolving(bounds, Arc::new(System))
    }

    /// With another way to find the addresses of a host.
    pub fn resolving(bounds: Bounds, lookup: Arc<dyn Lookup>) -> Result<Self, FetchError> {
        let named: Arc<BTreeSet<String>> =
            Arc::new(bounds.named.iter().map(|host| plain(host)).collect());
        let guarded = Guarded { lookup, named: Arc::clone(&named) };
        crate::install_provider();
        let builder = |certificates: bool| {
            let builder = Client::builder()
                .user_agent(concat!("halma/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(Duration::from_secs(10).min(bounds.timeout))
                .pool_idle_timeout(Duration::from_secs(90))
                .redirect(Policy::none())
                .referer(false)
                .no_proxy()
                .dns_resolver(Arc::new(guarded.clone()));
            if certificates { builder } else { builder.tls_certs_only([]) }
        };
        // A machine without any certificates (a slim container) still reaches plain addresses.
        let client = builder(true).build().or_else(|_| builder(false).build());
        let client = client.map_err(|e| FetchError::Unreachable {
            url: String::new(),
            reason: format!("no HTTP client can be made: {}", error_chain(&e)),
        })?;
        Ok(Self { client, named, bounds })
    }

    /// One exchange, redirects included; an error status is a reply like any other.
    pub async fn send(&self, request: Request) -> Result<Reply, FetchError> {
        let first = show(&request.url);
        let timeout = self.bounds.timeout;
        match tokio::time::timeout(timeout, self.exchange(request)).await {
            Ok(reply) => reply,
            Err(_) => Err(FetchError::Late { url: first, timeout }),
        }
    }

    async fn exchange(&self, mut request: Request) -> Result<Reply, FetchError> {
        for _ in 0..=REDIRECTS {
            let reply = self.hop(&request).await?;
            let Some(to) = reply.leads_to() else { return Ok(reply) };
            let same = to.origin() == request.url.origin();
            let keeps = matches!(reply.status.as_u16(), 307 | 308) || request.method == Method::GET;
            match request.follow {
                Follow::No => return Ok(reply),
                Follow::SameOrigin if !same || !keeps => return Ok(reply),
                Follow::SameOrigin => {}
                Follow::Anywhere => {
                    if !keeps {
                        return Ok(reply);
                    }
                    if !same {
                        request.headers.clear();
                    }
                }
            }
            request.url = to;
        }
        let reason = format!("it is the end of more than {REDIRECTS} redirects");
        Err(FetchError::Refused { url: show(&request.url), reason })
    }

    async fn hop(&self, request: &Request) -> Result<Reply, FetchError> {
        let url = &request.url;
        self.check(url)?;
        let mut headers = request.headers.clone();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        let sent = self.client.request(request.method.clone(), url.clone()).headers(headers);
        let sent = sent.body(request.body.clone()).send().await;
        let response = sent.map_err(|e| self.describe(e, url))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = body::read(response, self.bounds.max_bytes, url).await?;
        Ok(Reply { url: url.clone(), status, headers, bytes })
    }

    /// What can be decided from an address alone: hosts that are names are checked when they have
    /// been resolved.
    fn check(&self, url: &Url) -> Result<(), FetchError> {
        let refuse = |reason: String| Err(FetchError::Refused { url: bare(url), reason });
        if !matches!(url.scheme(), "http" | "https") {
            return refuse("only http and https addresses are allowed".into());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("it holds a user name or password".into());
        }
        let Some(host) = url.host_str() else { return refuse("it names no host".into()) };
        // The parser of addresses has made numbers of any notation one.
        let address = host.trim_matches(['[', ']']).parse();
        match address.ok().and_then(places::inside) {
            Some(what) if !self.named.contains(&plain(host)) => refuse(reason(host, what)),
            _ => Ok(()),
        }
    }

    fn describe(&self, e: reqwest::Error, url: &Url) -> FetchError {
        let shown = show(url);
        if let Some(Refusal { reason }) = refusal(&e) {
            return FetchError::Refused { url: shown, reason: reason.clone() };
        }
        let e = e.without_url();
        if e.is_timeout() {
            return FetchError::Late { url: shown, timeout: self.bounds.timeout };
        }
        let reason = clip(&error_chain(&e));
        if e.is_connect() {
            FetchError::Unreachable { url: shown, reason }
        } else {
            FetchError::Broken { url: shown, reason }
        }
    }
}

/// Why a host is not requested, and what to do for those that should be.
fn reason(host: &str, what: &str) -> String {
    let host = clip(host);
    format!("`{host}` is not outside ({what}); if it may be reached, name it in `allow_private`")
}

/// A host as it is compared: in lower case, without brackets and the root's dot.
fn plain(host: &str) -> String {
    host.trim().trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase()
}

/// An address that may hold a password, without it.
fn bare(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    clip(&show(&url))
}

/// The refusal that an error came from, if it did.
fn refusal<'e>(e: &'e (dyn std::error::Error + 'static)) -> Option<&'e Refusal> {
    let mut source = Some(e);
    while let Some(e) = source {
        if let Some(refusal) = e.downcast_ref::<Refusal>() {
            return Some(refusal);
        }
        source = e.source();
    }
    None
}
