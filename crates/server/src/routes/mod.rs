//! All routes, with their `OpenAPI` description.
mod admin;
mod ask;
mod builds;
mod documents;
mod entities;
mod evaluation_runs;
mod evaluations;
mod examples;
pub(crate) mod feedback;
mod nodes;
mod reference;
mod strategies;
mod tables;
mod tags;
mod traces;
mod web_ui;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::routing::get;
use axum::{Router, middleware};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{AllowHeaders, CorsLayer};
use tower_http::timeout::RequestBodyTimeoutLayer;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::admin::{connect, health, keys, metrics, models, prompts, workspaces};
use self::documents::{file, uploads};
use crate::app::Shared;
use crate::{mcp, openai, security};

/// The longest pause of a client in the middle of a body.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Halma",
        description = "Answers hard questions over your own documents, hop by hop, and shows its \
                       work. Errors are `application/problem+json`; every response has the header \
                       `x-request-id`.",
        license(name = "Apache-2.0")
    ),
    components(schemas(crate::problem::Problem, halma_core::Event)),
    security(("key" = []))
)]
struct Description;

/// The routes with their description.
fn routes_with_openapi() -> (Router<Shared>, utoipa::openapi::OpenApi) {
    let mut openapi = Description::openapi();
    let mut bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    bearer.description =
        Some("An API key, `halma_…`; not required until the first key is created.".into());
    let components = openapi.components.get_or_insert_default();
    components.add_security_scheme("key", SecurityScheme::Http(bearer));
    OpenApiRouter::with_openapi(openapi)
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(metrics::metrics))
        .routes(routes!(health::me))
        .routes(routes!(health::config))
        .routes(routes!(ask::ask))
        .routes(routes!(ask::search))
        .routes(routes!(strategies::strategies))
        .routes(routes!(examples::examples))
        .routes(routes!(documents::list))
        .routes(routes!(documents::get, documents::delete))
        .routes(routes!(documents::set_metadata))
        .routes(routes!(documents::text))
        .routes(routes!(documents::nodes))
        .routes(routes!(file::file))
        .routes(routes!(builds::list, builds::start))
        .routes(routes!(builds::estimate))
        .routes(routes!(tags::learn))
        .routes(routes!(tags::estimate))
        .routes(routes!(builds::get))
        .routes(routes!(builds::events))
        .routes(routes!(builds::pause))
        .routes(routes!(builds::resume))
        .routes(routes!(builds::cancel))
        .routes(routes!(nodes::get))
        .routes(routes!(nodes::neighbours))
        .routes(routes!(entities::list))
        .routes(routes!(entities::timeline))
        .routes(routes!(tables::list))
        .routes(routes!(tables::get))
        .routes(routes!(tables::sql))
        .routes(routes!(traces::list))
        .routes(routes!(traces::get, traces::delete))
        .routes(routes!(traces::conversations))
        .routes(routes!(traces::delete_conversation))
        .routes(routes!(traces::share))
        .routes(routes!(feedback::list, feedback::add))
        .routes(routes!(feedback::get, feedback::delete))
        .routes(routes!(feedback::accept))
        .routes(routes!(feedback::reject))
        .routes(routes!(feedback::undo))
        .routes(routes!(feedback::verify))
        .routes(routes!(prompts::list))
        .routes(routes!(prompts::get, prompts::put, prompts::delete))
        .routes(routes!(models::list, connect::connect))
        .routes(routes!(connect::servers))
        .routes(routes!(connect::trial))
        .routes(routes!(models::assign))
        .routes(routes!(models::test))
        .routes(routes!(metrics::usage))
        .routes(routes!(evaluation_runs::list, evaluation_runs::start))
        .routes(routes!(evaluation_runs::cancel))
        .routes(routes!(evaluations::list))
        .routes(routes!(evaluations::get, evaluations::delete))
        .routes(routes!(evaluations::view))
        .routes(routes!(evaluations::question))
        .routes(routes!(evaluations::compare))
        .routes(routes!(evaluations::page))
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(keys::revoke))
        .routes(routes!(workspaces::list, workspaces::create))
        .routes(routes!(workspaces::delete))
        .routes(routes!(openai::chat))
        .routes(routes!(openai::models))
        .routes(routes!(openai::one_model))
        .routes(routes!(openai::embeddings))
        .split_for_parts()
}

/// Everything that is served.
pub(crate) fn router(app: &Shared) -> Router {
    let (mut routes, mut openapi) = routes_with_openapi();
    // Uploads have their own size limit, counted as they arrive.
    let (uploads, upload_openapi) =
        OpenApiRouter::<Shared>::new().routes(routes!(uploads::upload)).split_for_parts();
    openapi.merge(upload_openapi);
    // `{*name}` is axum's syntax for names that contain slashes.
    let paths = std::mem::take(&mut openapi.paths.paths);
    openapi.paths.paths =
        paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    routes = routes
        .layer(DefaultBodyLimit::max(app.config.max_body_bytes))
        .merge(uploads.layer(DefaultBodyLimit::disable()))
        .merge(reference::routes(&openapi))
        .merge(mcp::routes(app))
        // Under the names that probes and clients look for.
        .route("/health", get(health::health))
        .route("/healthz", get(health::health))
        .route("/v1", get(openai::about))
        .route("/v1/", get(openai::about))
        .fallback(web_ui::web_ui);
    routes
        .layer(CatchPanicLayer::new())
        .layer(middleware::from_fn_with_state(Arc::clone(app), security::outer))
        .layer(cors(app))
        .layer(CompressionLayer::new())
        .layer(RequestBodyTimeoutLayer::new(IDLE_TIMEOUT))
        .with_state(Arc::clone(app))
}

/// Without origins in the configuration no header is sent, so browsers refuse other sites.
fn cors(app: &Shared) -> CorsLayer {
    let origins = app.config.cors_origins.iter();
    let origins: Vec<HeaderValue> = origins.filter_map(|origin| origin.parse().ok()).collect();
    if origins.is_empty() {
        return CorsLayer::new();
    }
    let exposed = ["x-request-id", "retry-after", "mcp-session-id", "content-disposition"];
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        // Clients send headers of their own, such as `x-stainless-os`, which do no harm.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(exposed.map(HeaderName::from_static))
}
