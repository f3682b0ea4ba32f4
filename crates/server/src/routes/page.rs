//! The web page, which is part of the binary.
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderValue, Method, Response, StatusCode};
use axum::response::IntoResponse as _;
use include_dir::{Dir, include_dir};

use crate::problem::Problem;

static PAGE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/ui/dist");

/// What is shown where the page was not built.
const UNBUILT: &str = include_str!("../unbuilt.html");

const INDEX: &str = "index.html";

/// A file of the page; its index for every path that is no file and none of an interface.
pub(crate) async fn page(request: Request) -> Response<Body> {
    let path = request.uri().path();
    if ["/api/", "/v1/", "/mcp"].iter().any(|start| path.starts_with(start)) {
        return Problem::not_found("such path")
            .hint("/api/docs lists what there is")
            .into_response();
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let name = path.trim_start_matches('/');
    let (name, bytes) = match PAGE.get_file(name) {
        Some(file) => (name, file.contents()),
        // A missing asset is no page.
        None if name.starts_with("assets/") => {
            return Problem::not_found("such file").into_response();
        }
        None => (INDEX, PAGE.get_file(INDEX).map_or(UNBUILT.as_bytes(), |index| index.contents())),
    };
    served(name, bytes, request.headers().get(IF_NONE_MATCH))
}

fn served(name: &str, bytes: &'static [u8], known: Option<&HeaderValue>) -> Response<Body> {
    let tag = format!("\"{}\"", &blake3::hash(bytes).to_hex()[..16]);
    // What a bundler names by its content never changes.
    let forever = name.starts_with("assets/");
    let caching = if forever { "public, max-age=31536000, immutable" } else { "no-cache" };
    let same = known.is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = Response::new(if same { Body::empty() } else { Body::from(bytes) });
    if same {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media(name)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

fn media(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json" | "map") => "application/json",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("wasm") => "application/wasm",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
