//! The workspaces of a server: the base it was started with, and those below its folder.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use halma_engine::{Config, Engine};
use tokio::sync::OnceCell;

use super::{Workspace, is_name};
use crate::builds::{BuildAccounts, run_worker};
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;

/// The default workspace: the base that `halma index` and `halma ask` use as well.
pub(crate) const DEFAULT: &str = "default";

/// The folder of the other workspaces, below the base's.
const FOLDER: &str = "workspaces";

/// Prefix of the folder of a workspace that is being removed; no valid name begins with it.
const REMOVED: &str = ".removed-";

type WorkspaceCell = Arc<OnceCell<Arc<Workspace>>>;

pub(crate) struct Workspaces {
    dir: PathBuf,
    root: Arc<Workspace>,
    others: Mutex<HashMap<String, WorkspaceCell>>,
    accounts: BuildAccounts,
}

impl Workspaces {
    pub(crate) fn new(
        dir: &Path,
        engine: Engine,
        accounts: BuildAccounts,
    ) -> Result<Self, Problem> {
        let root = Arc::new(Workspace::open(DEFAULT, dir, engine)?);
        start_worker(&root, &accounts);
        let (dir, others) = (dir.join(FOLDER), Mutex::default());
        for leftover in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            if leftover.file_name().to_string_lossy().starts_with(REMOVED) {
                std::fs::remove_dir_all(leftover.path()).map_err(|e| Problem::internal(&e))?;
            }
        }
        Ok(Self { dir, root, others, accounts })
    }

    pub(crate) fn root(&self) -> &Arc<Workspace> {
        &self.root
    }

    /// The workspace with this name, opened on first use.
    pub(crate) async fn get(&self, name: &str) -> Result<Arc<Workspace>, Problem> {
        if name == DEFAULT {
            return Ok(Arc::clone(&self.root));
        }
        let dir = self.dir_of(name).filter(|dir| dir.is_dir());
        let dir = dir.ok_or_else(|| Problem::not_found("such workspace"))?;
        let cell = Arc::clone(self.others().entry(name.to_owned()).or_default());
        let open = || async {
            let (engine, name) = (self.root.engine(), name.to_owned());
            let keys = self.accounts.allowance.keys().file().clone();
            let open = move || {
                let workspace = Workspace::open(&name, &dir, engine.open_sibling(&dir)?)?;
                keys.bind(&name, &workspace.id)?;
                Ok(workspace)
            };
            let workspace = Arc::new(run_blocking(open).await?);
            start_worker(&workspace, &self.accounts);
            Ok::<_, Problem>(workspace)
        };
        cell.get_or_try_init(open).await.map(Arc::clone)
    }

    /// Names, in order, the default one first.
    pub(crate) fn names(&self) -> Vec<String> {
        let folders = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let names = folders.filter(|entry| entry.path().is_dir());
        let mut names: Vec<String> =
            names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| is_name(name));
        names.sort();
        names.insert(0, DEFAULT.to_owned());
        names
    }

    pub(crate) async fn create(&self, name: &str) -> Result<Arc<Workspace>, Problem> {
        let dir = self.dir_of(name).ok_or_else(|| {
            Problem::unfit(format!("`{name}` is not a valid name for a workspace"))
                .hint("use at most 64 characters: a-z, 0-9, - and _")
        })?;
        if name == DEFAULT || dir.exists() {
            let detail = format!("the workspace `{name}` already exists");
            return Err(Problem::new(StatusCode::CONFLICT, detail));
        }
        std::fs::create_dir_all(&dir).map_err(|e| Problem::internal(&e))?;
        self.get(name).await
    }

    /// Removes a workspace and everything in it.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), Problem> {
        if name == DEFAULT {
            return Err(Problem::unfit("the default workspace cannot be removed")
                .hint("delete its documents, or stop the server and delete its folder"));
        }
        let workspace = self.get(name).await?;
        self.others().remove(name);
        workspace.builds.close().await;
        // Whatever still runs for it must not write into a folder of this name, which may be
        // another workspace's soon.
        let closed = Arc::clone(&workspace);
        run_blocking(move || {
            closed.close();
            Ok(())
        })
        .await?;
        let failed = |e: std::io::Error| Problem::internal(&e);
        let id = halma_engine::TraceStore::next_id().map_err(failed)?;
        let removed = self.dir.join(format!("{REMOVED}{name}-{id}"));
        std::fs::rename(&workspace.dir, &removed).map_err(failed)?;
        drop(workspace);
        let file = self.accounts.allowance.keys().file().clone();
        let revoked = name.to_owned();
        run_blocking(move || Ok(file.revoke_all_of(&revoked)?)).await?;
        run_blocking(move || std::fs::remove_dir_all(removed).map_err(failed)).await
    }

    /// The workspaces that are open.
    pub(crate) fn open(&self) -> Vec<Arc<Workspace>> {
        let others = self.others();
        let open = others.values().filter_map(|cell| cell.get().map(Arc::clone));
        std::iter::once(Arc::clone(&self.root)).chain(open).collect()
    }

    /// Opens the workspaces with pending builds, so that these continue.
    pub(crate) async fn resume(&self) {
        for name in self.names() {
            let pending = self.dir_of(&name).is_some_and(|dir| crate::builds::any_pending(&dir));
            if pending && let Err(problem) = self.get(&name).await {
                tracing::error!("cannot open the workspace `{name}`: {}", problem.detail);
            }
        }
    }

    /// Makes all open workspaces read their prompts again and use the models of this configuration.
    pub(crate) fn reconfigure(&self, config: &Config) -> Result<(), Problem> {
        for workspace in self.open() {
            workspace.set_engine(workspace.engine().with_prompts(config)?);
        }
        Ok(())
    }

    fn dir_of(&self, name: &str) -> Option<PathBuf> {
        is_name(name).then(|| self.dir.join(name))
    }

    fn others(&self) -> MutexGuard<'_, HashMap<String, WorkspaceCell>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the worker that runs the builds of a workspace.
fn start_worker(workspace: &Arc<Workspace>, accounts: &BuildAccounts) {
    tokio::spawn(run_worker(Arc::clone(workspace), accounts.clone()));
    tokio::spawn(Arc::clone(&workspace.builds).follow());
}
