//! An endpoint over HTTP: asked within its limits, again after failures that pass, and once a day
//! for the same query.
use std::path::PathBuf;
use std::time::Duration;

use halma_core::{ConfigError, LlmError};
use halma_net::address::{show, wrong};
use halma_net::daily::DailyCache;
use halma_net::failure::{clip, throttled};
use halma_net::guarded::{Bounds, Follow, GuardedClient, Reply, Request, user_agent};
use halma_net::http::bearer;
use halma_net::{CallPolicy, Limits};
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use reqwest::{Method, Url};
use sparesults::{
    QueryResultsFormat, QueryResultsParser, QuerySolution, SliceQueryResultsParserOutput,
};
use spargebra::Query;
use time::{Date, OffsetDateTime};

use crate::kg::settings::KgSettings;

/// Bytes of a result, at most.
const MAX_BYTES: usize = 64 << 20;
/// Seconds after which a query that is throttled or fails is given up.
const LONGEST: f64 = 60.0;
/// Changes whenever what a key is made of changes, so that old results are never matched.
const KEY_VERSION: &[u8] = b"halma kg 1";

/// What an endpoint needs in addition to its settings.
#[derive(Debug, Clone, Default)]
pub struct KgAccess {
    /// What the variable `key_env` holds.
    pub key: Option<String>,
    /// Who asks: an address or a page, as Wikimedia wants it in the user agent; may be empty.
    pub contact: String,
    /// Where results are kept.
    pub folder: PathBuf,
}

/// A SPARQL 1.1 endpoint.
pub(crate) struct HttpEndpoint {
    outside: GuardedClient,
    url: Url,
    headers: HeaderMap,
    policy: CallPolicy,
    kept: DailyCache,
    today: fn() -> Date,
}

impl HttpEndpoint {
    /// Connects to nothing yet. The error's `file` is left empty for the caller that
    /// read the configuration.
    pub(crate) fn new(settings: &KgSettings, access: &KgAccess) -> Result<Self, ConfigError> {
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
            let hint = "give a number above zero, 30 say";
            wrong("timeout_seconds", "it is not a valid duration", hint)
        })?;
        let limits = Limits {
            concurrency: settings.concurrency,
            requests_per_minute: None,
            retries: settings.retries,
            max_wait_seconds: LONGEST,
        };
        // An address in the configuration names its host.
        let mut named = settings.allow_private.clone();
        named.push(host);
        let outside = GuardedClient::new(Bounds { named, timeout, max_bytes: MAX_BYTES });
        let hint = "check the certificates of this machine";
        let outside = outside.map_err(|e| wrong("url", &e.to_string(), hint))?;
        let kept = DailyCache::new(access.folder.clone(), settings.cache_days);
        let (headers, policy) = (headers(access)?, limits.policy()?);
        let today = || OffsetDateTime::now_utc().date();
        Ok(Self { outside, url, headers, policy, kept, today })
    }

    /// The host, as facts of this endpoint are cited.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or("endpoint")
    }

    /// All solutions of a `SELECT`: kept ones, or from the endpoint.
    pub(crate) async fn solutions(&self, query: &Query) -> Result<Vec<QuerySolution>, LlmError> {
        let text = query.to_string();
        let (key, day) = (self.key(&text), (self.today)());
        if self.kept.keeps()
            && let Some(kept) = self.kept.get(&key, day, |_, text| read(text.as_bytes()).ok())
        {
            return Ok(kept);
        }
        let (solutions, reply) = self.policy.call(|| self.once(&text)).await?;
        if let Ok(text) = String::from_utf8(reply) {
            self.kept.put(&key, &day.to_string(), &text);
        }
        Ok(solutions)
    }

    fn key(&self, query: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [KEY_VERSION, self.url.as_str().as_bytes(), query.as_bytes()] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    async fn once(&self, query: &str) -> Result<(Vec<QuerySolution>, Vec<u8>), LlmError> {
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
        if !reply.status.is_success() {
            return Err(self.refused(&reply));
        }
        let (url, kind) = (show(&reply.url), reply.kind());
        let hint = "is `kg.url` the SPARQL endpoint?";
        if kind.contains("html") || reply.bytes.trim_ascii_start().starts_with(b"<") {
            let reason = format!("`{url}` sent a web page instead of results; {hint}");
            return Err(LlmError::refused(reason));
        }
        if !reply.bytes.trim_ascii_start().starts_with(b"{") {
            let kind = clip(&kind);
            let reason = format!("`{url}` sent no SPARQL results but `{kind}`; {hint}");
            return Err(LlmError::refused(reason));
        }
        let solutions = read(&reply.bytes).map_err(|reason| {
            LlmError::transient(format!("`{url}` sent half a result: {}", clip(&reason)))
        })?;
        Ok((solutions, reply.bytes))
    }

    /// Sorts a reply that is not a success by what to do next.
    fn refused(&self, reply: &Reply) -> LlmError {
        let (url, n) = (show(&reply.url), reply.status.as_u16());
        if let Some(to) = reply.leads_to() {
            return LlmError::refused(format!(
                "`{url}` sends its callers to `{}`, which is not followed; set `kg.url` to where \
                 the endpoint is",
                clip(&show(&to))
            ));
        }
        let said = clip(&String::from_utf8_lossy(&reply.bytes));
        let overloaded = n == 503 && reply.headers.contains_key(RETRY_AFTER);
        match n {
            _ if n == 429 || overloaded => {
                throttled(format!("`{url}` asks for fewer queries ({n})"), &reply.headers)
            }
            401 | 403 if self.headers.contains_key(AUTHORIZATION) => LlmError::refused(format!(
                "`{url}` does not accept the key ({n}); check the variable that `kg.key_env` names"
            )),
            401 | 403 => LlmError::refused(format!(
                "`{url}` does not answer this client ({n}): {said}; set `kg.key_env` if it needs a \
                 key, and `sources.contact` if it wants to know who asks, as Wikidata does"
            )),
            408 | 500..=599 => LlmError::transient(format!("`{url}` failed ({n}): {said}")),
            _ => LlmError::refused(format!("`{url}` refused the query ({n}): {said}")),
        }
    }
}

fn headers(access: &KgAccess) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/sparql-results+json"));
    let form = HeaderValue::from_static("application/x-www-form-urlencoded");
    headers.insert(CONTENT_TYPE, form);
    headers.insert(USER_AGENT, user_agent(&access.contact)?);
    if let Some(key) = access.key.as_deref().map(str::trim).filter(|key| !key.is_empty()) {
        headers.insert(AUTHORIZATION, bearer(key)?);
    }
    Ok(headers)
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
