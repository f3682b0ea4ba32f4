//! Exchanges with an endpoint: what can go wrong, and what is tried again.
use std::time::{Duration, SystemTime};

use halma_core::ConfigError;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Url};
use sparesults::{
    QueryResultsFormat, QueryResultsParser, QuerySolution, SliceQueryResultsParserOutput,
};
use spargebra::Query;

use crate::settings::KgSettings;
use halma_net::address::{show, wrong};
use halma_net::failure::{clip, retry_after};
use halma_net::guarded::{Bounds, FetchError, Follow, GuardedClient, Request};

/// Bytes of a result, at most.
const MOST_BYTES: usize = 64 << 20;
/// The wait before a second try where the endpoint does not say how long; doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// An endpoint that asks for a longer wait than this is not waited for.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Why an endpoint did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SparqlError {
    #[error(transparent)]
    GuardedClient(#[from] FetchError),
    #[error("`{url}` asks for fewer queries ({status}){}", wait(*.after))]
    Throttled { url: String, status: u16, after: Option<Duration> },
    #[error("`{url}` failed ({status}): {said}")]
    Failed { url: String, status: u16, said: String },
    #[error("`{url}` refused the query ({status}): {said}")]
    Refused { url: String, status: u16, said: String },
    #[error(
        "`{url}` does not accept the key ({status}); check the variable that `kg.key_env` names"
    )]
    Key { url: String, status: u16 },
    #[error(
        "`{url}` sends its callers to `{to}`, which is not followed; set `kg.url` to where the \
         endpoint is"
    )]
    Elsewhere { url: String, to: String },
    #[error("`{url}` sent a web page instead of results; is `kg.url` the SPARQL endpoint?")]
    Page { url: String },
    #[error("`{url}` sent no SPARQL results but `{kind}`; is `kg.url` the SPARQL endpoint?")]
    NoResults { url: String, kind: String },
    #[error("`{url}` sent half a result: {reason}")]
    Half { url: String, reason: String },
}

fn wait(after: Option<Duration>) -> String {
    after.map(|after| format!(", in {} s", after.as_secs())).unwrap_or_default()
}

impl SparqlError {
    /// Whether the same query may fare better later.
    fn passes(&self) -> bool {
        match self {
            Self::GuardedClient(error) => error.passes(),
            Self::Throttled { after, .. } => after.is_none_or(|after| after <= LONGEST_WAIT),
            Self::Failed { .. } | Self::Half { .. } => true,
            _ => false,
        }
    }
}

/// A SPARQL 1.1 endpoint.
pub(crate) struct HttpEndpoint {
    outside: GuardedClient,
    url: Url,
    headers: HeaderMap,
    retries: usize,
}

impl HttpEndpoint {
    /// Connects to nothing yet. The error's `file` is left empty for the caller that
    /// read the configuration.
    pub(crate) fn new(settings: &KgSettings, key: Option<&str>) -> Result<Self, ConfigError> {
        let hint = "give the endpoint, for instance `https://query.wikidata.org/sparql`";
        let url = Url::parse(settings.url.trim())
            .map_err(|e| wrong("url", &format!("it is not a valid URL: {e}"), hint))?;
        let host = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https"));
        let Some(host) = host.map(str::to_owned) else {
            return Err(wrong("url", "it is not an http or https address", hint));
        };
        if !url.username().is_empty() || url.password().is_some() {
            let hint = "name an environment variable with the key in `key_env` instead";
            return Err(wrong("url", "the address holds a user name or password", hint));
        }
        let timeout = Duration::try_from_secs_f64(settings.timeout_seconds).ok();
        let timeout = timeout.filter(|timeout| !timeout.is_zero()).ok_or_else(|| {
            wrong(
                "timeout_seconds",
                "it is not a valid duration",
                "give a number above zero, 30 say",
            )
        })?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/sparql-results+json"));
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, form);
        if let Some(key) = key.map(str::trim).filter(|key| !key.is_empty()) {
            let mut value = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| {
                let hint = "look for line breaks or letters outside ASCII in the variable";
                wrong("key_env", "the key holds characters that no HTTP header may hold", hint)
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        // An address in the configuration names its host.
        let mut named = settings.allow_private.clone();
        named.push(host);
        let outside = GuardedClient::new(Bounds { named, timeout, most: MOST_BYTES });
        let hint = "check the certificates of this machine";
        let outside = outside.map_err(|e| wrong("url", &e.to_string(), hint))?;
        Ok(Self { outside, url, headers, retries: settings.retries })
    }

    /// The host, as facts of this endpoint are cited.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or("endpoint")
    }

    /// All solutions of a `SELECT`, tried again where that may help.
    pub(crate) async fn solutions(&self, query: &Query) -> Result<Vec<QuerySolution>, SparqlError> {
        let text = query.to_string();
        let mut tries = 0;
        loop {
            let error = match self.once(&text).await {
                Ok(found) => return Ok(found),
                Err(error) => error,
            };
            if tries == self.retries || !error.passes() {
                return Err(error);
            }
            let told = match &error {
                SparqlError::Throttled { after, .. } => *after,
                _ => None,
            };
            let doubled = FIRST_WAIT * 2_u32.saturating_pow(u32::try_from(tries).unwrap_or(8));
            tokio::time::sleep(told.unwrap_or(doubled).min(LONGEST_WAIT)).await;
            tries += 1;
        }
    }

    async fn once(&self, query: &str) -> Result<Vec<QuerySolution>, SparqlError> {
        let mut form = self.url.clone();
        form.query_pairs_mut().clear().append_pair("query", query);
        let body = form.query().unwrap_or_default().as_bytes().to_vec();
        let request = Request {
            method: Method::POST,
            url: self.url.clone(),
            headers: self.headers.clone(),
            body,
            follow: Follow::SameOrigin,
        };
        let reply = self.outside.send(request).await?;
        let (url, status) = (show(&reply.url), reply.status.as_u16());
        let said = || clip(&String::from_utf8_lossy(&reply.bytes));
        if let Some(to) = reply.leads_to() {
            return Err(SparqlError::Elsewhere { url, to: clip(&show(&to)) });
        }
        let after = retry_after(&reply.headers, SystemTime::now());
        match status {
            200..=299 => {}
            429 => return Err(SparqlError::Throttled { url, status, after }),
            503 if after.is_some() => return Err(SparqlError::Throttled { url, status, after }),
            401 | 403 => return Err(SparqlError::Key { url, status }),
            408 | 500..=599 => return Err(SparqlError::Failed { url, status, said: said() }),
            _ => return Err(SparqlError::Refused { url, status, said: said() }),
        }
        let kind = reply.kind();
        if kind.contains("html") || reply.bytes.trim_ascii_start().starts_with(b"<") {
            return Err(SparqlError::Page { url });
        }
        if !reply.bytes.trim_ascii_start().starts_with(b"{") {
            return Err(SparqlError::NoResults { url, kind: clip(&kind) });
        }
        read(&reply.bytes).map_err(|reason| SparqlError::Half { url, reason: clip(&reason) })
    }
}

fn read(bytes: &[u8]) -> Result<Vec<QuerySolution>, String> {
    let parser = QueryResultsParser::from_format(QueryResultsFormat::Json);
    match parser.for_slice(bytes).map_err(|e| e.to_string())? {
        SliceQueryResultsParserOutput::Solutions(solutions) => {
            solutions.collect::<Result<_, _>>().map_err(|e| e.to_string())
        }
        SliceQueryResultsParserOutput::Boolean(_) => Err("a truth value for a table".into()),
    }
}
