//! The one place where a request is resolved to its key, its scopes and its workspace.
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};

use crate::app::{App, Shared};
use crate::keys::{Key, Scope};
use crate::problem::Problem;
use crate::workspace::{DEFAULT, Workspace};

/// Names another workspace than the key's; for keys with the scope `admin`.
const WORKSPACE: &str = "x-halma-workspace";

/// Who calls, and where.
#[derive(Clone)]
pub(crate) struct Caller {
    /// None where no keys are required.
    pub(crate) key: Option<Arc<Key>>,
    pub(crate) workspace: Arc<Workspace>,
}

impl Caller {
    /// Resolves the headers of a request; `None` asks for no scope, but for a key all the same.
    pub(crate) async fn of(
        app: &App,
        headers: &HeaderMap,
        scope: Option<Scope>,
    ) -> Result<Self, Problem> {
        let key = if app.keys.are_required() { Some(key(app, headers)?) } else { None };
        if let Some(key) = &key {
            app.limits.take(&key.id)?;
            if let Some(scope) = scope.filter(|scope| !key.may(*scope)) {
                let said = format!("this key lacks the scope `{}`", scope.name());
                return Err(Problem::new(StatusCode::FORBIDDEN, said)
                    .hint("use a key that has it; `halma keys create --scope …` makes one"));
            }
        }
        let named = headers.get(WORKSPACE).map(|name| name.to_str().unwrap_or_default());
        let own = key.as_ref().map_or(DEFAULT, |key| &key.workspace);
        let may = key.as_ref().is_none_or(|key| key.may(Scope::Admin));
        let name = match named {
            Some(named) if named == own || may => named,
            // Whether there is such a workspace is not told.
            Some(_) => {
                return Err(Problem::new(
                    StatusCode::FORBIDDEN,
                    "this key is for another workspace",
                ));
            }
            None => own,
        };
        let workspace = app.workspaces.get(name).await?;
        Ok(Self { key, workspace })
    }

    pub(crate) fn key_id(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.id.as_str())
    }

    pub(crate) fn scopes(&self) -> Vec<Scope> {
        self.key.as_ref().map_or_else(|| Scope::ALL.to_vec(), |key| key.scopes.clone())
    }

    /// Returns when the key that calls is revoked or over; never where none is required.
    pub(crate) async fn gone(&self, app: &App) {
        match self.key_id() {
            Some(id) => app.keys.gone(id).await,
            None => std::future::pending().await,
        }
    }
}

fn key(app: &App, headers: &HeaderMap) -> Result<Arc<Key>, Problem> {
    let refused = |said: &str| {
        Problem::new(StatusCode::UNAUTHORIZED, said)
            .hint("send the header `authorization: Bearer halma_…`")
    };
    let sent = headers.get(AUTHORIZATION).ok_or_else(|| refused("a key is needed"))?;
    let text = sent.to_str().ok().and_then(|text| {
        let (kind, rest) = text.split_once(' ')?;
        kind.eq_ignore_ascii_case("bearer").then_some(rest.trim())
    });
    // What is unknown, revoked and over looks the same from outside.
    text.and_then(|text| app.keys.of(text)).ok_or_else(|| refused("this key is not valid"))
}

/// A caller with any key.
pub(crate) struct Known(pub(crate) Caller);
/// A caller who may ask, search and read.
pub(crate) struct MayAsk(pub(crate) Caller);
/// A caller who may upload, build and delete.
pub(crate) struct MayWrite(pub(crate) Caller);
/// A caller who may do everything else.
pub(crate) struct MayAdmin(pub(crate) Caller);

impl FromRequestParts<Shared> for Known {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        Caller::of(app, &parts.headers, None).await.map(Self)
    }
}

impl FromRequestParts<Shared> for MayAsk {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        Caller::of(app, &parts.headers, Some(Scope::Ask)).await.map(Self)
    }
}

impl FromRequestParts<Shared> for MayWrite {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        Caller::of(app, &parts.headers, Some(Scope::Write)).await.map(Self)
    }
}

impl FromRequestParts<Shared> for MayAdmin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        Caller::of(app, &parts.headers, Some(Scope::Admin)).await.map(Self)
    }
}
