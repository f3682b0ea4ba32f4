//! Sorting the errors of a server by what to do next: retry, shorten, or give up.
use std::time::{Duration, SystemTime};

use halma_core::LlmError;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::Value;
use serde_json::error::Category;

use crate::http::Place;

/// Characters of a server's message that go into an error.
const CLIP: usize = 200;

/// The refusal of a server, from which a client can learn to ask differently.
#[derive(Debug, Clone)]
pub struct Complaint {
    pub status: u16,
    /// The server's message and code in lower case.
    pub text: String,
}

/// A failed exchange: what to do about it, and what the server complained of, from which a client
/// can learn to ask differently.
#[derive(Debug)]
pub struct Failed {
    pub error: LlmError,
    /// `None` for everything that is neither a refusal nor an internal error of the server (500).
    pub complaint: Option<Complaint>,
}

impl From<LlmError> for Failed {
    fn from(error: LlmError) -> Self {
        Self { error, complaint: None }
    }
}

impl From<Failed> for LlmError {
    fn from(failed: Failed) -> Self {
        failed.error
    }
}

/// Sorts a response that is not a success. `body` holds no key any more.
pub fn classify(status: StatusCode, headers: &HeaderMap, body: &str, place: &Place) -> Failed {
    let Place { url, model } = place;
    let (said, code) = server_message(body);
    let n = status.as_u16();
    let lower = format!("{} {code}", said.to_lowercase());
    let complaint = Some(Complaint { status: n, text: lower.clone() });
    let refused =
        |what: String| Failed { error: LlmError::refused(what), complaint: complaint.clone() };
    match n {
        429 if code == "insufficient_quota" => {
            refused(format!("`{url}` has no credit left for this key (429): {said}"))
        }
        429 => throttled(format!("`{url}` asks for fewer calls (429): {said}"), headers).into(),
        503 | 529 if headers.contains_key(RETRY_AFTER) => {
            throttled(format!("`{url}` is overloaded ({n}): {said}"), headers).into()
        }
        501 => refused(format!("`{url}` cannot do this (501): {said}")),
        400 | 422 | 500 if is_too_long(&lower) => {
            LlmError::TooLong { reason: format!("`{url}` ({n}): {said}") }.into()
        }
        // Some servers fail at what they do not know, and say what that is.
        500 => Failed {
            error: LlmError::transient(format!("`{url}` failed (500): {said}")),
            complaint,
        },
        408 | 409 | 425 | 501..=599 => {
            LlmError::transient(format!("`{url}` failed ({n}): {said}")).into()
        }
        413 => LlmError::TooLong { reason: format!("`{url}` (413): {said}") }.into(),
        401 | 403 => refused(format!(
            "`{url}` does not accept the key ({n}): {said}; check the environment variable that \
             `key_env` names"
        )),
        404 => refused(format!(
            "`{url}` is not there (404): {said}; check that `url` is the API base (…/v1) and that \
             the server has the model `{model}`"
        )),
        300..=399 => {
            let to = headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("elsewhere");
            refused(format!(
                "`{url}` sends its callers to `{}` ({n}); set `url` to where the API is",
                clip(to.split('?').next().unwrap_or(to))
            ))
        }
        _ => refused(format!("`{url}` refused the call to `{model}` ({n}): {said}")),
    }
}

/// Sorts an error that came with status 200 and names no other.
pub(crate) fn without_status(body: &str, place: &Place) -> LlmError {
    let Place { url, .. } = place;
    let (said, code) = server_message(body);
    if is_too_long(&format!("{} {code}", said.to_lowercase())) {
        return LlmError::TooLong { reason: format!("`{url}`: {said}") };
    }
    if code == "content_filter" || code.starts_with("invalid_") {
        return LlmError::refused(format!("`{url}` refused the call: {said}"));
    }
    LlmError::transient(format!("`{url}` reports an error: {said}"))
}

/// What is wrong with a body that should have been JSON.
pub(crate) struct Fault<'a> {
    pub(crate) category: Category,
    /// The parser's message, which may quote the body and holds no key any more.
    pub(crate) text: &'a str,
}

/// The error for a body that is not the JSON it should be: cut off, a gateway's page in place of a
/// reply, which passes as a 502 does, or not an API at all.
pub(crate) fn not_json(url: &str, kind: &str, body: &str, fault: &Fault<'_>) -> LlmError {
    let page = kind.contains("html") || body.trim_start().starts_with('<');
    let fault_text = clip(fault.text);
    if page {
        return LlmError::transient(format!(
            "`{url}` sent a web page and not a reply: \"{}\"; if it always does, check that `url` is \
             the API base (…/v1)",
            clip(page_title(body).unwrap_or(body))
        ));
    }
    if fault.category == Category::Eof {
        return LlmError::transient(format!("`{url}` sent a reply that is cut off: {fault_text}"));
    }
    let kind = if kind.is_empty() { "no content type" } else { kind };
    let what = if fault.category == Category::Data {
        format!("JSON that is not a reply of the API ({fault_text})")
    } else {
        "no JSON".to_owned()
    };
    LlmError::refused(format!(
        "`{url}` sent {what} but `{kind}`: \"{}\"; is `url` the API base (…/v1)?",
        clip(body)
    ))
}

/// What an HTML page says of itself: its title, or else its first heading.
fn page_title(page: &str) -> Option<&str> {
    // Of ASCII letters only, so that positions stay as they are.
    let lower = page.to_ascii_lowercase();
    ["title", "h1"].iter().find_map(|element| {
        let tag = lower.find(&format!("<{element}"))?;
        let start = tag + lower[tag..].find('>')? + 1;
        let end = start + lower[start..].find('<')?;
        Some(page[start..end].trim()).filter(|title| !title.is_empty())
    })
}

pub fn throttled(reason: String, headers: &HeaderMap) -> LlmError {
    let retry_after = retry_after(headers, SystemTime::now());
    LlmError::Transient { reason, retry_after, throttled: true }
}

/// `retry-after-ms`, else `Retry-After` in seconds or as an HTTP date.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds =
        |text: &str, unit: f64| Duration::try_from_secs_f64(text.parse::<f64>().ok()? * unit).ok();
    if let Some(wait) = header("retry-after-ms").and_then(|ms| seconds(ms, 1e-3)) {
        return Some(wait);
    }
    let text = header("retry-after")?;
    seconds(text, 1.0).or_else(|| {
        let date = httpdate::parse_http_date(text).ok()?;
        Some(date.duration_since(now).unwrap_or_default())
    })
}

/// The server's message and its code, wherever it keeps them.
pub fn server_message(body: &str) -> (String, String) {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        let words = clip(body);
        return (if words.is_empty() { "no reason given".into() } else { words }, String::new());
    };
    let error = value.get("error").unwrap_or(&value);
    let first = [error.get("message"), error.get("detail"), Some(error)].into_iter().flatten();
    let message = first
        .map(|message| message.as_str().map_or_else(|| message.to_string(), str::to_owned))
        .next()
        .unwrap_or_default();
    let code = ["code", "type"].iter().find_map(|key| error.get(key)?.as_str());
    (clip(&message), code.unwrap_or_default().to_owned())
}

fn is_too_long(said: &str) -> bool {
    [
        "context_length",
        "context length",
        "maximum context",
        "context window",
        "context size",
        "exceed context",
        "reduce the length",
        "too many tokens",
        "input is too long",
        "prompt is too long",
        "input length",
        "maximum sequence length",
        "larger than the maximum",
        "exceeds the maximum number of tokens",
        "maximum prompt length",
        "must have less than",
        "`inputs` tokens + `max_new_tokens` must be",
    ]
    .iter()
    .any(|words| said.contains(words))
}

/// The beginning, on one line and without control characters.
pub fn clip(text: &str) -> String {
    let line: String =
        text.trim().chars().take(CLIP).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim().chars().nth(CLIP).is_some() { format!("{line}…") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(status: u16, headers: &[(&'static str, &str)], body: &str) -> LlmError {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        let place = Place { url: "http://host/v1/chat/completions".into(), model: "m".into() };
        classify(StatusCode::from_u16(status).unwrap(), &map, body, &place).error
    }

    #[test]
    fn a_throttle_tells_when_to_come_back() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let after = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after(&headers, now)
        };
        assert_eq!(after("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(after("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(after("retry-after-ms", "20"), Some(Duration::from_millis(20)));
        let date = httpdate::fmt_http_date(now + Duration::from_secs(30));
        assert_eq!(after("retry-after", &date), Some(Duration::from_secs(30)));
        let past = httpdate::fmt_http_date(now - Duration::from_secs(30));
        assert_eq!(after("retry-after", &past), Some(Duration::ZERO));
        assert_eq!(after("retry-after", "soon"), None);
        assert_eq!(after("retry-after", "-1"), None);
    }

    #[test]
    fn a_status_says_what_to_do_next() {
        for status in [408, 409, 425, 500, 502, 503, 504, 529] {
            let error = sorted(status, &[], "");
            assert!(matches!(error, LlmError::Transient { throttled: false, .. }), "{error:?}");
        }
        for (status, headers) in [(429, vec![]), (503, vec![("retry-after", "3")])] {
            let error = sorted(status, &headers, "{}");
            assert!(matches!(error, LlmError::Transient { throttled: true, .. }), "{error:?}");
        }
        let long = r#"{"error":{"message":"no","code":"context_length_exceeded"}}"#;
        assert!(matches!(sorted(400, &[], long), LlmError::TooLong { .. }));
        assert!(matches!(sorted(413, &[], ""), LlmError::TooLong { .. }));
        for (status, words) in [
            (500, "Context size has been exceeded."),
            (400, "The input token count (9) exceeds the maximum number of tokens allowed (8)."),
            (400, "This model's maximum prompt length is 8 but the request contains 9 tokens."),
        ] {
            assert!(matches!(sorted(status, &[], words), LlmError::TooLong { .. }), "{words}");
        }
        let refusals = [
            (401, "key_env"),
            (403, "key_env"),
            (404, "the model `m`"),
            (400, "refused the call to `m`"),
            (302, "set `url`"),
            (501, "cannot do this"),
        ];
        for (status, words) in refusals {
            let error = sorted(status, &[], r#"{"detail":"because"}"#);
            let LlmError::Refused { reason } = &error else { panic!("{error:?}") };
            assert!(reason.contains(words) && reason.contains("http://host"), "{reason}");
        }
        let broke = r#"{"error":{"message":"pay","code":"insufficient_quota"}}"#;
        assert!(matches!(sorted(429, &[], broke), LlmError::Refused { .. }));
    }

    #[test]
    fn an_error_in_a_success_is_told_in_the_words_of_the_server() {
        let place = Place { url: "http://host/v1/chat/completions".into(), model: "m".into() };
        let sorted = |body: &str| without_status(body, &place);
        let error = sorted(r#"{"error":{"message":"the GPU is gone"}}"#);
        assert!(matches!(error, LlmError::Transient { throttled: false, .. }), "{error:?}");
        let told = error.to_string();
        assert!(told.ends_with("reports an error: the GPU is gone"), "{told}");
        let long = r#"{"error":{"message":"no","code":"context_length_exceeded"}}"#;
        assert!(matches!(sorted(long), LlmError::TooLong { .. }));
        let filtered = r#"{"error":{"message":"no","code":"content_filter"}}"#;
        assert!(matches!(sorted(filtered), LlmError::Refused { .. }));
    }

    #[test]
    fn a_page_in_place_of_a_reply_passes_and_is_reported_by_its_title() {
        let sorted = |kind: &str, body: &str| {
            let fault = Fault { category: Category::Syntax, text: "expected value" };
            not_json("http://host/v1/chat/completions", kind, body, &fault)
        };
        let long = "a".repeat(300);
        for (body, title) in [
            (
                "<html><head><TITLE lang=en>\n502 Bad Gateway</TITLE></head></html>",
                "502 Bad Gateway",
            ),
            ("<html><title></title><body><h1>We are <b>back</b> soon</h1></body>", "We are"),
            ("<p>İ &amp; <title>Über</title>", "Über"),
            ("<p>Please wait.</p>", "<p>Please wait.</p>"),
            (&format!("<title>{long}</title>"), &format!("{}…", &long[..CLIP])),
            ("<title", "<title"),
        ] {
            for kind in ["text/html; charset=utf-8", ""] {
                let error = sorted(kind, body);
                assert!(matches!(error, LlmError::Transient { throttled: false, .. }), "{error:?}");
                assert!(error.to_string().contains(&format!("\"{title}\"; if")), "{error}");
            }
        }
        let error = sorted("text/plain", "hello there");
        assert!(matches!(error, LlmError::Refused { .. }), "{error:?}");
    }

    #[test]
    fn a_message_is_found_where_servers_put_it() {
        for body in [
            r#"{"error":{"message":"because"}}"#,
            r#"{"error":"because"}"#,
            r#"{"message":"because"}"#,
            r#"{"detail":"because"}"#,
            "because",
        ] {
            assert_eq!(server_message(body).0, "because", "{body}");
        }
        assert!(server_message(r#"{"detail":[{"msg":"because"}]}"#).0.contains("because"));
        assert_eq!(clip("a\u{1b}[31mb\n"), "a [31mb");
    }
}
