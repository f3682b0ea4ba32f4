//! The web UI, whose built files are part of the binary.
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderValue, Method, Response, StatusCode};
use axum::response::IntoResponse as _;
use include_dir::{Dir, include_dir};

use crate::problem::Problem;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/ui/dist");

/// What is shown when the web UI was not built.
const UNBUILT: &str = include_str!("../unbuilt.html");

const INDEX: &str = "index.html";

/// A file of the web UI; its index for every path that is neither a file nor part of an interface.
pub(crate) async fn web_ui(request: Request) -> Response<Body> {
    let path = request.uri().path();
    if ["/api/", "/v1/", "/mcp"].iter().any(|prefix| path.starts_with(prefix)) {
        return Problem::not_found("such path").hint("/api/docs lists all paths").into_response();
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let name = path.trim_start_matches('/');
    let (name, bytes) = match FILES.get_file(name) {
        Some(file) => (name, file.contents()),
        // The index must not stand in for a missing script or style.
        None if name.starts_with("assets/") => {
            return Problem::not_found("such file").into_response();
        }
        None => (INDEX, FILES.get_file(INDEX).map_or(UNBUILT.as_bytes(), |index| index.contents())),
    };
    serve(name, bytes, request.headers().get(IF_NONE_MATCH))
}

fn serve(name: &str, bytes: &'static [u8], cached: Option<&HeaderValue>) -> Response<Body> {
    let tag = format!("\"{}\"", &blake3::hash(bytes).to_hex()[..16]);
    // The bundler names assets by their content, so they never change.
    let immutable = name.starts_with("assets/");
    let caching = if immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    let unchanged = cached.is_some_and(|cached| cached.as_bytes() == tag.as_bytes());
    let mut response = Response::new(if unchanged { Body::empty() } else { Body::from(bytes) });
    if unchanged {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

fn media_type(name: &str) -> &'static str {
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
