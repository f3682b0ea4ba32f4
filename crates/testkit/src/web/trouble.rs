//! What a server outside can do to its callers.
use std::convert::Infallible;
use std::io::Write as _;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Response, header};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::stream;

use crate::double::respond;

/// What happens to one request instead of an answer.
#[derive(Debug, Clone)]
pub enum EngineFailure {
    /// The answer comes, but this much later.
    Late(Duration),
    /// 200 and a web page, as a log-in gives.
    Html,
    /// 200 and JSON that stops in the middle.
    HalfJson,
    /// 200 and nothing.
    Empty,
    /// The connection breaks in the middle of the body.
    Cut,
    /// 429, with this `Retry-After`.
    Throttled(Option<String>),
    /// Any status with any body, sent as JSON.
    Status(u16, String),
    /// A redirect with this status to this address.
    Redirect(u16, String),
    /// A body that never ends.
    Endless,
    /// A page of 64 MB of spaces, in a few kilobytes of gzip.
    Bomb,
    /// A byte from time to time, for ever.
    Drip,
    /// A body in an encoding that nobody asked for.
    Brotli,
}

impl EngineFailure {
    /// The response, for those that are one.
    pub(crate) fn response(&self) -> Option<Response<Body>> {
        Some(match self {
            Self::Late(_) => return None,
            Self::Html => {
                let page = "<!doctype html><html><body><h1>Log in</h1></body></html>";
                respond(200, "text/html; charset=utf-8", page)
            }
            Self::HalfJson => respond(200, "application/json", r#"{"results": [{"tit"#),
            Self::Empty => respond(200, "application/json", ""),
            Self::Cut => {
                let pieces = [Ok(Bytes::from("{\"res")), Err(std::io::Error::other("cut"))];
                respond(200, "application/json", Body::from_stream(stream::iter(pieces)))
            }
            Self::Throttled(after) => {
                let mut response = respond(429, "application/json", r#"{"error":"slow down"}"#);
                if let Some(after) = after {
                    response.headers_mut().insert(header::RETRY_AFTER, after.parse().ok()?);
                }
                response
            }
            Self::Status(status, body) => respond(*status, "application/json", body.clone()),
            Self::Redirect(status, to) => {
                let mut response = respond(*status, "text/plain", "elsewhere");
                response.headers_mut().insert(header::LOCATION, to.parse().ok()?);
                response
            }
            Self::Endless => {
                let pieces =
                    stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from(" ".repeat(4096))));
                respond(200, "text/html", Body::from_stream(pieces))
            }
            Self::Bomb => packed(respond(200, "text/html", bomb()), "gzip"),
            Self::Drip => {
                let drip = stream::unfold((), |()| async {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    Some((Ok::<_, Infallible>(Bytes::from_static(b" ")), ()))
                });
                respond(200, "application/json", Body::from_stream(drip))
            }
            Self::Brotli => packed(respond(200, "text/html", "?"), "br"),
        })
    }
}

fn packed(mut response: Response<Body>, encoding: &'static str) -> Response<Body> {
    let headers: &mut HeaderMap = response.headers_mut();
    headers.insert(header::CONTENT_ENCODING, header::HeaderValue::from_static(encoding));
    response
}

fn bomb() -> Vec<u8> {
    gzip(&vec![b' '; 64 << 20])
}

/// Bytes in gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
