//! The one place where a request is resolved to its key, scopes and workspace.
mod failures;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use halma_core::MetadataFilter;
use halma_engine::TraceHead;

pub(crate) use self::failures::without_reason;
use crate::app::{App, Shared};
use crate::builds::Build;
use crate::keys::{Key, Scope};
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;
use crate::workspace::{DEFAULT, Workspace};

/// Header that selects another workspace than the key's; requires the scope `admin`.
const WORKSPACE: &str = "x-halma-workspace";

const TRACE_PARENT: &str = "traceparent";

/// What a route is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Everything in a workspace: keys for some of its documents are refused.
    Workspace,
    /// Documents and what is made of them, as far as the key sees them.
    Documents,
}

/// The key of a request and the workspace it acts on; for a key that sees some documents only, a view
/// of the workspace in which there are no others.
#[derive(Clone)]
pub(crate) struct Caller {
    /// `None` while no keys are required.
    pub(crate) key: Option<Arc<Key>>,
    pub(crate) workspace: Arc<Workspace>,
    /// Whether it sees the questions of other keys (`serve.shared_runs`).
    pub(crate) shares_runs: bool,
    /// The header `traceparent` (W3C Trace Context), for the collector of traces.
    pub(crate) trace_parent: Option<String>,
}

impl Caller {
    /// Resolves the headers of a request. With `None` any key will do, whatever its scopes.
    pub(crate) async fn resolve(
        app: &Shared,
        headers: &HeaderMap,
        scope: Option<Scope>,
        reach: Reach,
    ) -> Result<Self, Problem> {
        let key = current_key(app, headers).await?;
        if let Some(key) = &key {
            app.rate_limit.check(&key.id)?;
            if let Some(scope) = scope.filter(|scope| !key.may(*scope)) {
                return Err(Problem::missing_scope(scope));
            }
        }
        let documents = key.as_ref().and_then(|key| key.documents.clone());
        if documents.is_some() && reach == Reach::Workspace {
            return Err(Problem::restricted_key("this"));
        }
        let requested = headers.get(WORKSPACE).map(|name| name.to_str().unwrap_or_default());
        let key_workspace = key.as_ref().map_or(DEFAULT, |key| &key.workspace);
        let is_admin = key.as_ref().is_none_or(|key| key.may(Scope::Admin));
        let name = match requested {
            Some(name) if name == key_workspace || is_admin => name,
            // The reply must not reveal whether there is such a workspace.
            Some(_) => {
                return Err(Problem::new(
                    StatusCode::FORBIDDEN,
                    "this key is for another workspace",
                ));
            }
            None => key_workspace,
        };
        let mut workspace = app.workspaces.get(name).await?;
        if name != DEFAULT {
            app.catch_up(&workspace).await;
        }
        if let Some(key) = &key {
            check_binding(app, key, &workspace).await?;
        }
        if let Some(documents) = documents {
            workspace =
                run_blocking(move || Ok(Arc::new(workspace.restricted(&documents)?))).await?;
        }
        let span = tracing::Span::current();
        span.record("workspace", &workspace.name);
        if let Some(key) = &key {
            span.record("key", &key.id);
        }
        let trace_parent = headers.get(TRACE_PARENT).and_then(|header| header.to_str().ok());
        let trace_parent = trace_parent.map(str::to_owned);
        Ok(Self { key, workspace, shares_runs: app.config.shared_runs, trace_parent })
    }

    pub(crate) fn key_id(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.id.as_str())
    }

    /// The conditions that the documents of the caller meet; `None` for those who see all.
    pub(crate) fn documents(&self) -> Option<&MetadataFilter> {
        self.key.as_ref().and_then(|key| key.documents.as_ref())
    }

    /// Whether a trace is listed for the caller: its own, and those of others where runs are shared.
    /// Keys for some documents have their own, as long as they see every document that these quote.
    pub(crate) fn lists_trace(&self, head: &TraceHead) -> bool {
        if self.documents().is_none() {
            return self.key.is_none() || self.shares_runs || self.is_own(head);
        }
        self.is_own(head) && self.sees_documents(head)
    }

    /// Whether the caller may read a trace: one that is listed for it, or one of a conversation that was
    /// shared and quotes only documents that it sees.
    pub(crate) fn sees_trace(&self, head: &TraceHead) -> bool {
        let is_shared = |conversation: &String| {
            self.workspace.engine().traces().is_shared(head.key.as_deref(), conversation)
        };
        self.lists_trace(head)
            || head.conversation.as_ref().is_some_and(is_shared) && self.sees_documents(head)
    }

    /// Whether the caller sees feedback of others: those who decide about it do, and all where runs are
    /// shared.
    pub(crate) fn sees_all_feedback(&self) -> bool {
        let decides = self.key.as_ref().is_none_or(|key| key.may(Scope::Write));
        self.documents().is_none() && (decides || self.shares_runs)
    }

    fn sees_documents(&self, head: &TraceHead) -> bool {
        let engine = self.workspace.engine();
        let inspector = engine.base().inspector();
        let sees = |name: &String| {
            name.is_empty()
                || inspector.find_document(name).is_ok_and(|document| document.is_some())
        };
        head.documents.iter().all(sees)
    }

    /// Whether the caller asked the question.
    pub(crate) fn is_own(&self, head: &TraceHead) -> bool {
        head.key.as_deref() == self.key_id()
    }

    /// Whether the caller may know of a build: those who see some documents know of their own.
    pub(crate) fn sees_build(&self, build: &Build) -> bool {
        self.documents().is_none() || build.key.as_deref() == self.key_id()
    }

    pub(crate) fn scopes(&self) -> Vec<Scope> {
        self.key.as_ref().map_or_else(|| Scope::ALL.to_vec(), |key| key.scopes.clone())
    }

    /// Returns why nothing more is done for the caller, as soon as its key is revoked or has expired,
    /// or its workspace is removed.
    pub(crate) async fn ended(&self, app: &App) -> Problem {
        let revoked = async {
            match self.key_id() {
                Some(id) => app.keys.revoked(id).await,
                None => std::future::pending().await,
            }
        };
        let is_bound = self.key.as_ref().is_some_and(|key| key.workspace == self.workspace.name);
        tokio::select! {
            () = revoked => refused("this key is no longer valid"),
            // Its keys are revoked with it.
            () = self.workspace.removed(), if is_bound => refused("this key is no longer valid"),
            () = self.workspace.removed(), if !is_bound => Problem::not_found("such workspace"),
        }
    }
}

/// Runs `work` on the blocking thread pool, in the queue of the caller's workspace.
pub(crate) async fn run_queued<T: Send + 'static>(
    caller: Caller,
    work: impl FnOnce(Caller) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let queue = caller.workspace.requests.clone();
    queue.run(move || work(caller)).await
}

/// Refuses a key whose workspace was removed and whose name another one has got.
async fn check_binding(app: &App, key: &Key, workspace: &Arc<Workspace>) -> Result<(), Problem> {
    let Some(id) = &key.workspace_id else { return Ok(()) };
    let is_bound = if workspace.name == key.workspace {
        workspace.id == *id
    } else {
        // Without its own workspace a key opens no other one either.
        app.workspaces.get(&key.workspace).await.is_ok_and(|bound| bound.id == *id)
    };
    if is_bound { Ok(()) } else { Err(refused("this key is not valid")) }
}

fn refused(detail: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, detail)
        .hint("send the header `authorization: Bearer halma_…`")
}

/// The key of a request, also one that another server has just created, and not one that another
/// server has just revoked; `None` while no keys are required.
async fn current_key(app: &Shared, headers: &HeaderMap) -> Result<Option<Arc<Key>>, Problem> {
    let find = || app.keys.are_required().then(|| key(app, headers)).transpose();
    match find() {
        Ok(_) => app.catch_up(&app.workspaces.root).await,
        // Requests without a valid key must not keep the database busy.
        Err(_) => app.keys.look_again().await,
    }
    find()
}

fn key(app: &App, headers: &HeaderMap) -> Result<Arc<Key>, Problem> {
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
/// A caller with the scope `ask` for the whole workspace.
pub(crate) struct MayAsk(pub(crate) Caller);
/// A caller with the scope `write` for the whole workspace.
pub(crate) struct MayWrite(pub(crate) Caller);
/// A caller with the scope `ask`: ask, search, read, as far as the key sees documents. What the
/// handler returns comes from the caller's workspace alone.
pub(crate) struct MayAskDocuments(pub(crate) Caller);
/// A caller with the scope `write`: upload, build, delete, as far as the key sees documents.
pub(crate) struct MayWriteDocuments(pub(crate) Caller);
/// A caller with the scope `admin`: everything else.
pub(crate) struct MayAdmin(pub(crate) Caller);
/// A caller with the scope `metrics`: the metrics of the whole server.
pub(crate) struct MayReadMetrics(pub(crate) Caller);

macro_rules! extractor {
    ($name:ident, $scope:expr, $reach:expr) => {
        impl FromRequestParts<Shared> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
                Caller::resolve(app, &parts.headers, $scope, $reach).await.map(Self)
            }
        }
    };
}

extractor!(AnyKey, None, Reach::Documents);
extractor!(MayAsk, Some(Scope::Ask), Reach::Workspace);
extractor!(MayWrite, Some(Scope::Write), Reach::Workspace);
extractor!(MayAskDocuments, Some(Scope::Ask), Reach::Documents);
extractor!(MayWriteDocuments, Some(Scope::Write), Reach::Documents);
extractor!(MayAdmin, Some(Scope::Admin), Reach::Workspace);
extractor!(MayReadMetrics, Some(Scope::Metrics), Reach::Workspace);
