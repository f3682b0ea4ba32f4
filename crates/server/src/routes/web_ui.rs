//! The web UI, whose built files are part of the binary.
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderValue, Method, Response, StatusCode};
use axum::response::IntoResponse as _;
use include_dir::{Dir, include_dir};

use crate::accept::accepts;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/ui/dist");

/// What is shown when the web UI was not built.
const UNBUILT: &str = include_str!("../unbuilt.html");

const INDEX: &str = "index.html";

/// The pages of the web UI, `c` being the conversations; what is below them belongs to them.
const PAGES: [&str; 7] = ["", "c", "library", "knowledge", "runs", "evaluate", "settings"];

/// A file of the web UI, or its index for the pages in it. Every other path is one that a program looks
/// for, which must not take a page for what it expects.
pub(crate) async fn web_ui(request: Request) -> Response<Body> {
    let name = request.uri().path().trim_start_matches('/');
    let page = name.split('/').next().is_some_and(|page| PAGES.contains(&page));
    let (name, bytes) = match FILES.get_file(name) {
        Some(file) => (name, file.contents()),
        None if page && accepts(request.headers(), "text/html") => {
            (INDEX, FILES.get_file(INDEX).map_or(UNBUILT.as_bytes(), |index| index.contents()))
        }
        None => return StatusCode::NOT_FOUND.into_response(),
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
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

#[cfg(test)]
mod tests {
    use super::PAGES;

    #[test]
    fn all_pages_of_the_web_ui_are_served() {
        let app = include_str!("../../ui/src/App.svelte");
        let lazy = app.lines().filter_map(|line| line.split_once(": withTexts(() => import("));
        let mut pages: Vec<&str> = lazy.map(|(page, _)| page.trim()).collect();
        pages.splice(0..0, ["", "c"]);
        assert_eq!(pages, PAGES);
    }
}
