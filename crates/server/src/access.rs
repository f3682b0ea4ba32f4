//! The one place where a request is resolved to its key, scopes and workspace.
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};

use crate::app::{App, Shared};
use crate::keys::{Key, Scope};
use crate::limits::blocking::Lane;
use crate::problem::Problem;
use crate::workspace::{DEFAULT, Workspace};

/// Header that selects another workspace than the key's; requires the scope `admin`.
const WORKSPACE: &str = "x-halma-workspace";

const TRACE_PARENT: &str = "traceparent";

/// The key of a request and the workspace it acts on.
#[derive(Clone)]
pub(crate) struct Caller {
    /// `None` while no keys are required.
    pub(crate) key: Option<Arc<Key>>,
    pub(crate) workspace: Arc<Workspace>,
    /// The header `traceparent` (W3C Trace Context), for the collector of traces.
    pub(crate) trace_parent: Option<String>,
}

impl Caller {
    /// Resolves the headers of a request. With `None` any key will do, whatever its scopes.
    pub(crate) async fn resolve(
        app: &App,
        headers: &HeaderMap,
        scope: Option<Scope>,
    ) -> Result<Self, Problem> {
        let key = if app.keys.are_required() { Some(key(app, headers)?) } else { None };
        if let Some(key) = &key {
            app.rate_limit.check(&key.id)?;
            if let Some(scope) = scope.filter(|scope| !key.may(*scope)) {
                let detail = format!("this key lacks the scope `{}`", scope.name());
                return Err(Problem::new(StatusCode::FORBIDDEN, detail)
                    .hint("use a key that has it; `halma keys create --scope …` creates one"));
            }
        }
        let requested = headers.get(WORKSPACE).map(|name| name.to_str().unwrap_or_default());
        let own = key.as_ref().map_or(DEFAULT, |key| &key.workspace);
        let is_admin = key.as_ref().is_none_or(|key| key.may(Scope::Admin));
        let name = match requested {
            Some(name) if name == own || is_admin => name,
            // The reply must not reveal whether there is such a workspace.
            Some(_) => {
                return Err(Problem::new(
                    StatusCode::FORBIDDEN,
                    "this key is for another workspace",
                ));
            }
            None => own,
        };
        let workspace = app.workspaces.get(name).await?;
        let span = tracing::Span::current();
        span.record("workspace", &workspace.name);
        if let Some(key) = &key {
            span.record("key", &key.id);
        }
        let trace_parent = headers.get(TRACE_PARENT).and_then(|header| header.to_str().ok());
        Ok(Self { key, workspace, trace_parent: trace_parent.map(str::to_owned) })
    }

    /// Where work for the caller's workspace waits for its turn.
    pub(crate) fn lane(&self) -> Lane {
        self.workspace.lane.clone()
    }

    pub(crate) fn key_id(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.id.as_str())
    }

    pub(crate) fn scopes(&self) -> Vec<Scope> {
        self.key.as_ref().map_or_else(|| Scope::ALL.to_vec(), |key| key.scopes.clone())
    }

    /// Returns when the caller's key is revoked or has expired; never while none is required.
    pub(crate) async fn revoked(&self, app: &App) {
        match self.key_id() {
            Some(id) => app.keys.revoked(id).await,
            None => std::future::pending().await,
        }
    }
}

fn key(app: &App, headers: &HeaderMap) -> Result<Arc<Key>, Problem> {
    let refused = |detail: &str| {
        Problem::new(StatusCode::UNAUTHORIZED, detail)
            .hint("send the header `authorization: Bearer halma_…`")
    };
    let sent = headers.get(AUTHORIZATION).ok_or_else(|| refused("an API key is required"))?;
    let text = sent.to_str().ok().and_then(|text| {
        let (kind, rest) = text.split_once(' ')?;
        kind.eq_ignore_ascii_case("bearer").then_some(rest.trim())
    });
    // An unknown, a revoked and an expired key must look the same from outside.
    text.and_then(|text| app.keys.authenticate(text))
        .ok_or_else(|| refused("this key is not valid"))
}

/// A caller with any key.
pub(crate) struct AnyKey(pub(crate) Caller);
/// A caller with the scope `ask`: ask, search, read.
pub(crate) struct MayAsk(pub(crate) Caller);
/// A caller with the scope `write`: upload, build, delete.
pub(crate) struct MayWrite(pub(crate) Caller);
/// A caller with the scope `admin`: everything else.
pub(crate) struct MayAdmin(pub(crate) Caller);
/// A caller with the scope `metrics`: the metrics of the whole server.
pub(crate) struct MayReadMetrics(pub(crate) Caller);

impl FromRequestParts<Shared> for AnyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        Caller::resolve(app, &parts.headers, None).await.map(Self)
    }
}

impl FromRequestParts<Shared> for MayAsk {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        Caller::resolve(app, &parts.headers, Some(Scope::Ask)).await.map(Self)
    }
}

impl FromRequestParts<Shared> for MayWrite {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        Caller::resolve(app, &parts.headers, Some(Scope::Write)).await.map(Self)
    }
}

impl FromRequestParts<Shared> for MayAdmin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        Caller::resolve(app, &parts.headers, Some(Scope::Admin)).await.map(Self)
    }
}

impl FromRequestParts<Shared> for MayReadMetrics {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        Caller::resolve(app, &parts.headers, Some(Scope::Metrics)).await.map(Self)
    }
}
