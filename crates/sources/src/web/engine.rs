//! One search engine: called within its limits, retried after failures that pass, with errors that
//! say what to do.
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use halma_core::{ConfigError, LlmError};
use reqwest::Url;
use serde_json::error::Category;

use super::shape::{Ask, Unread};
use super::{WebKind, WebResult, WebSettings};
use halma_net::address::show;
use halma_net::failure::{clip, server_message, throttled};
use halma_net::guarded::{Follow, GuardedClient, Reply, Request};
use halma_net::{CallPolicy, Limits};

/// Seconds after which a search that is throttled or fails is given up.
const LONGEST: f64 = 60.0;

pub(super) struct Engine {
    pub(super) kind: WebKind,
    pub(super) url: Url,
    key: Option<String>,
    key_env: String,
    limit: usize,
    language: String,
    country: String,
    outside: GuardedClient,
    policy: CallPolicy,
    /// Whether more of each page is asked for, until the engine says that the plan lacks it.
    more: AtomicBool,
}

fn not_in_plan(reply: &Reply) -> bool {
    reply.status.is_client_error()
        && String::from_utf8_lossy(&reply.bytes).contains("OPTION_NOT_IN_PLAN")
}

impl Engine {
    pub(super) fn new(
        settings: &WebSettings,
        url: Url,
        key: Option<String>,
        outside: GuardedClient,
    ) -> Result<Self, ConfigError> {
        let limits = Limits {
            concurrency: settings.concurrency,
            requests_per_minute: settings.requests_per_minute,
            retries: settings.retries,
            max_wait_seconds: LONGEST,
        };
        Ok(Self {
            kind: settings.kind,
            url,
            key,
            key_env: settings.key_env.clone(),
            limit: settings.limit,
            language: settings.language.trim().to_owned(),
            country: settings.country.trim().to_owned(),
            outside,
            policy: limits.policy()?,
            more: AtomicBool::new(true),
        })
    }

    pub(super) async fn search(&self, query: &str) -> Result<Vec<WebResult>, LlmError> {
        self.policy.call(|| self.once(query)).await
    }

    /// Whether the engine can be reached, which is free of charge with every engine; in milliseconds.
    pub(super) async fn reach(&self) -> Result<f64, LlmError> {
        let mut root = self.url.clone();
        root.set_path("/");
        let began = Instant::now();
        self.outside.send(Request::get(root, Follow::No)).await?;
        Ok(began.elapsed().as_secs_f64() * 1e3)
    }

    async fn once(&self, query: &str) -> Result<Vec<WebResult>, LlmError> {
        let Self { limit, language, country, .. } = self;
        let key = self.key.as_deref();
        let more = self.more.load(Ordering::Relaxed);
        let mut ask = Ask { query, limit: *limit, language, country, key, more };
        let mut reply = self.send(&ask).await?;
        if more && self.kind == WebKind::Brave && not_in_plan(&reply) {
            self.more.store(false, Ordering::Relaxed);
            ask.more = false;
            reply = self.send(&ask).await?;
        }
        if !reply.status.is_success() {
            return Err(self.refused(&reply));
        }
        let mut results =
            self.kind.api().read(&reply.bytes).map_err(|unread| self.unread(&reply, unread))?;
        // Some engines give more than they are asked for.
        let mut pages = 0;
        results.retain(|result| {
            let page = result.rank == super::WebRank::Page;
            pages += usize::from(page);
            !page || pages <= self.limit
        });
        Ok(results)
    }

    async fn send(&self, ask: &Ask<'_>) -> Result<Reply, LlmError> {
        let reply = self.outside.send(self.kind.api().request(&self.url, ask)).await;
        reply.map_err(|e| self.scrubbed(LlmError::from(e)))
    }

    /// The engine and its address, which begin every error.
    fn name(&self) -> String {
        format!("the search engine `{}` at `{}`", self.kind.name(), show(&self.url))
    }

    /// Sorts a reply with an error status by what to do next.
    fn refused(&self, reply: &Reply) -> LlmError {
        let body = self.scrub(&String::from_utf8_lossy(&reply.bytes));
        let (said, code) = server_message(&body);
        let (name, n) = (self.name(), reply.status.as_u16());
        let lower = said.to_lowercase();
        let spent = ["run out of", "quota", "usage limit", "plan limit", "credit"];
        match n {
            429 | 432 | 433 if n != 429 || spent.iter().any(|words| lower.contains(words)) => {
                LlmError::refused(format!(
                    "{name} has no searches left for this key ({n}): {said}; wait for the next \
                     period or raise its plan"
                ))
            }
            429 => {
                throttled(format!("{name} asks for fewer searches (429): {said}"), &reply.headers)
            }
            503 | 529 if reply.headers.contains_key(reqwest::header::RETRY_AFTER) => {
                throttled(format!("{name} is overloaded ({n}): {said}"), &reply.headers)
            }
            408 | 425 | 500..=599 => LlmError::transient(format!("{name} failed ({n}): {said}")),
            403 if self.kind == WebKind::SearXng => LlmError::refused(format!(
                "{name} does not serve JSON (403); add `json` to `search.formats` in its \
                 settings.yml, and let its limiter pass this machine"
            )),
            401 | 403 => self.unknown_key(n, &said),
            400 | 422 if code.contains("TOKEN") || lower.contains("token") => {
                self.unknown_key(n, &said)
            }
            404 => LlmError::refused(format!(
                "{name} is not there (404): {said}; check `url` and `kind` under [sources.web]"
            )),
            300..=399 => {
                let to = reply.leads_to().map_or_else(|| "elsewhere".into(), |to| show(&to));
                LlmError::refused(format!(
                    "{name} sends its callers to `{}` ({n}); set `url` to where the API is",
                    clip(&to)
                ))
            }
            _ => LlmError::refused(format!("{name} refused the search ({n}): {said}")),
        }
    }

    fn unknown_key(&self, status: u16, said: &str) -> LlmError {
        let name = self.name();
        let todo = match (&self.key, self.key_env.as_str()) {
            (Some(_), env) if !env.is_empty() => format!("check the environment variable `{env}`"),
            (Some(_), _) => "check the key".to_owned(),
            (None, _) => "name the environment variable with the key in `key_env`".to_owned(),
        };
        LlmError::refused(format!("{name} does not accept the key ({status}): {said}; {todo}"))
    }

    /// The error for a body that is not a reply: cut off, another API, or none at all.
    fn unread(&self, reply: &Reply, unread: Unread) -> LlmError {
        let (name, kind) = (self.name(), reply.kind());
        let body = self.scrub(&String::from_utf8_lossy(&reply.bytes));
        let page = kind.contains("html") || body.trim_start().starts_with('<');
        let check = "check `url` and `kind` under [sources.web]";
        let error = match unread {
            Unread::Failed(reason) => {
                LlmError::transient(format!("{name} failed: {}", clip(&reason)))
            }
            Unread::Json(_) if body.trim().is_empty() => {
                LlmError::transient(format!("{name} sent an empty reply"))
            }
            Unread::Json(_) if page => LlmError::refused(format!(
                "{name} sent a web page in the place of JSON: \"{}\"; {check}",
                clip(&body)
            )),
            Unread::Json(e) if e.classify() == Category::Eof => {
                LlmError::transient(format!("{name} sent a reply that is cut off: {e}"))
            }
            Unread::Json(e) => LlmError::refused(format!(
                "{name} sent no JSON ({e}) but \"{}\"; {check}",
                clip(&body)
            )),
            Unread::Shape(reason) => LlmError::refused(format!(
                "{name} sent JSON that is not a reply of `{}`: {}; {check}",
                self.kind.name(),
                clip(&reason)
            )),
        };
        self.scrubbed(error)
    }

    fn scrubbed(&self, error: LlmError) -> LlmError {
        match error {
            LlmError::Transient { reason, retry_after, throttled } => {
                LlmError::Transient { reason: self.scrub(&reason), retry_after, throttled }
            }
            LlmError::TooLong { reason } => LlmError::TooLong { reason: self.scrub(&reason) },
            LlmError::Refused { reason } => LlmError::Refused { reason: self.scrub(&reason) },
        }
    }

    /// Removes the key from the text of a server or a library, also as an address has it.
    fn scrub(&self, text: &str) -> String {
        let Some(key) = &self.key else { return text.to_owned() };
        let mut url = self.url.clone();
        url.query_pairs_mut().clear().append_pair("", key);
        let encoded = url.query().unwrap_or_default().trim_start_matches('=').to_owned();
        text.replace(key.as_str(), "(the key)").replace(&encoded, "(the key)")
    }
}
