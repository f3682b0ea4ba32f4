//! The Model Context Protocol: Halma as tools for agents, over HTTP or standard input and output.
mod arguments;
mod tools;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::ACCEPT;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::any;
use rmcp::ServiceExt as _;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use self::tools::Tools;
use crate::accept::accepts;
use crate::access::{Caller, Reach};
use crate::app::{App, AppSetup, Shared};
use crate::keys::Scope;
use crate::limits::deadline::{BODY_TIMEOUT, within};
use crate::problem::Problem;
use crate::serve::{ServeError, ServeOptions};
use crate::settings::follow_settings;
use crate::workspace::Purpose;

/// The route `/mcp`. Every request is served on its own, in the workspace of its key; there are no
/// sessions.
pub(crate) fn routes(app: &Shared) -> Router<Shared> {
    // Hosts and origins have already been checked; see `security`.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .disable_allowed_hosts()
        .with_max_request_body_bytes(app.config.max_body_bytes);
    let shared = Arc::clone(app);
    let make = move || Ok(Tools { app: Arc::clone(&shared), caller: None });
    let [streamed, whole] = [false, true].map(|whole| {
        let (make, sessions) = (make.clone(), Arc::new(NeverSessionManager::default()));
        StreamableHttpService::new(make, sessions, config.clone().with_json_response(whole))
    });
    let answer = async move |mut request: Request| {
        let headers = request.headers_mut();
        let takes_stream = accepts(headers, "text/event-stream");
        if takes_stream || accepts(headers, "application/json") {
            // The protocol wants both to be named, and most clients that are not agents name one.
            let both = HeaderValue::from_static("application/json, text/event-stream");
            headers.insert(ACCEPT, both);
        }
        let service = if takes_stream { streamed } else { whole };
        service.handle(request).await
    };
    Router::new()
        .route("/mcp", any(answer))
        .layer(middleware::from_fn_with_state(Arc::clone(app), authorize))
}

/// Resolves the caller, which the tools find in the request's extensions.
async fn authorize(
    State(app): State<Shared>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let (scope, reach) = (Some(Scope::Ask), Reach::Documents);
    let caller = Caller::resolve(&app, request.headers(), scope, reach).await?;
    request.extensions_mut().insert(caller);
    Ok(next.run(request.map(|body| within(body, BODY_TIMEOUT))).await)
}

/// Serves the default workspace over standard input and output, until the agent closes them.
pub async fn serve_stdio(options: ServeOptions) -> Result<(), ServeError> {
    let ServeOptions { loaded, engine, dir, demo, .. } = options;
    let (loopback, purpose) = (true, Purpose::Answer);
    let setup = AppSetup { loaded, engine, dir: &dir, demo, loopback, purpose };
    let app = Arc::new(App::new(setup)?);
    let workspace = Arc::clone(&app.workspaces.root);
    let following = tokio::spawn(follow_settings(Arc::clone(&app)));
    let caller = Some(Caller { key: None, workspace, shares_runs: true, trace_parent: None });
    let tools = Tools { app, caller };
    let failed = |e: &dyn std::fmt::Display| {
        ServeError::Start(format!("the connection to the agent failed: {e}"))
    };
    let running = tools.serve(rmcp::transport::stdio()).await.map_err(|e| failed(&e))?;
    let ended = running.waiting().await.map_err(|e| failed(&e)).map(drop);
    following.abort();
    ended
}
