//! The workspaces of a server: the base it was started with, and those in its folder.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use halma_engine::{Config, Engine};
use tokio::sync::OnceCell;

use super::{Workspace, is_name};
use crate::allowance::Allowance;
use crate::builds::work;
use crate::problem::Problem;

/// The workspace of whoever names none: the base that `halma index` and `halma ask` use as well.
pub(crate) const DEFAULT: &str = "default";

/// The folder of the others, below the base's.
const FOLDER: &str = "workspaces";

/// What a workspace that is being removed is called; no name of one begins so.
const REMOVED: &str = ".removed-";

type Opened = Arc<OnceCell<Arc<Workspace>>>;

pub(crate) struct Workspaces {
    dir: PathBuf,
    root: Arc<Workspace>,
    others: Mutex<HashMap<String, Opened>>,
    allowance: Arc<Allowance>,
}

impl Workspaces {
    pub(crate) fn new(
        dir: &Path,
        engine: Engine,
        allowance: Arc<Allowance>,
    ) -> Result<Self, Problem> {
        let root = Arc::new(Workspace::open(DEFAULT, dir, engine)?);
        begin(&root, &allowance);
        let (dir, others) = (dir.join(FOLDER), Mutex::default());
        for left in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            if left.file_name().to_string_lossy().starts_with(REMOVED) {
                std::fs::remove_dir_all(left.path()).map_err(|e| Problem::internal(&e))?;
            }
        }
        Ok(Self { dir, root, others, allowance })
    }

    pub(crate) fn root(&self) -> &Arc<Workspace> {
        &self.root
    }

    /// The workspace of this name, opened by the first who asks for it.
    pub(crate) async fn get(&self, name: &str) -> Result<Arc<Workspace>, Problem> {
        if name == DEFAULT {
            return Ok(Arc::clone(&self.root));
        }
        let dir = self.dir_of(name).filter(|dir| dir.is_dir());
        let dir = dir.ok_or_else(|| Problem::not_found("such workspace"))?;
        let cell = Arc::clone(self.others().entry(name.to_owned()).or_default());
        let open = || async {
            let (engine, name) = (self.root.engine(), name.to_owned());
            let open = move || Workspace::open(&name, &dir, engine.open_sibling(&dir)?);
            let opened = tokio::task::spawn_blocking(open).await;
            let workspace = Arc::new(opened.map_err(|e| Problem::internal(&e))??);
            begin(&workspace, &self.allowance);
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
            Problem::unfit(format!("`{name}` is no name for a workspace"))
                .hint("use a-z, 0-9, - and _, at most 64 of them")
        })?;
        let there = name == DEFAULT || dir.exists();
        if there {
            let said = format!("the workspace `{name}` is there already");
            return Err(Problem::new(StatusCode::CONFLICT, said));
        }
        std::fs::create_dir_all(&dir).map_err(|e| Problem::internal(&e))?;
        self.get(name).await
    }

    /// Removes a workspace with everything in it.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), Problem> {
        if name == DEFAULT {
            return Err(Problem::unfit("the default workspace cannot be removed")
                .hint("delete its documents, or stop the server and remove its folder"));
        }
        let workspace = self.get(name).await?;
        self.others().remove(name);
        workspace.builds.close().await;
        let failed = |e: std::io::Error| Problem::internal(&e);
        let gone = self.dir.join(format!("{REMOVED}{name}"));
        std::fs::rename(&workspace.dir, &gone).map_err(failed)?;
        drop(workspace);
        let removed = tokio::task::spawn_blocking(move || std::fs::remove_dir_all(gone)).await;
        removed.map_err(|e| Problem::internal(&e))?.map_err(failed)
    }

    /// Those that are open now.
    pub(crate) fn open(&self) -> Vec<Arc<Workspace>> {
        let others = self.others();
        let open = others.values().filter_map(|cell| cell.get().map(Arc::clone));
        std::iter::once(Arc::clone(&self.root)).chain(open).collect()
    }

    /// Opens those with builds that wait, so that they go on.
    pub(crate) async fn resume(&self) {
        for name in self.names() {
            let waits = self.dir_of(&name).is_some_and(|dir| crate::builds::are_waiting(&dir));
            if waits && let Err(problem) = self.get(&name).await {
                tracing::error!("the workspace `{name}` cannot be opened: {}", problem.detail);
            }
        }
    }

    /// Has all prompts read anew, as `config` says.
    pub(crate) fn put_prompts(&self, config: &Config) -> Result<(), Problem> {
        for workspace in self.open() {
            workspace.put_engine(workspace.engine().with_prompts(config)?);
        }
        Ok(())
    }

    fn dir_of(&self, name: &str) -> Option<PathBuf> {
        is_name(name).then(|| self.dir.join(name))
    }

    fn others(&self) -> MutexGuard<'_, HashMap<String, Opened>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins to work off the builds of a workspace.
fn begin(workspace: &Arc<Workspace>, allowance: &Arc<Allowance>) {
    tokio::spawn(work(Arc::clone(workspace), Arc::clone(allowance)));
}
