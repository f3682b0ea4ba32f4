//! The workspaces of a server: the base it was started with, and those below its folder.
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use halma_engine::{Base, Config, Engine, free_space};
use tokio::time::timeout;

use super::open::{CLOSING_TIMEOUT, ClosedWorkspaces, OpenWorkspaces};
use super::overview::{Overview, Overviews};
use super::shared::RemovalTimes;
use super::takeover::Takeover;
use super::{Purpose, Workspace, is_name, server_name};
use crate::builds::{BuildAccounts, Claim, Claims, follow, run_worker};
use crate::limits::blocking::{busy, run_blocking};
use crate::problem::Problem;
use crate::settings::SharedSettings;

/// The default workspace: the base that `halma index` and `halma ask` use as well.
pub(crate) const DEFAULT: &str = "default";

/// The folder of the other workspaces, below the base's.
const FOLDER: &str = "workspaces";

/// When a workspace with pending builds that could not be opened is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Bytes that are free before another workspace is made.
const MIN_FREE_BYTES: u64 = 32_000_000;

/// Prefix of the folder of a workspace that is being removed; no valid name begins with it.
pub(super) const REMOVED: &str = ".removed-";

/// Whether the base in a folder has this workspace.
pub fn has_workspace(base: &Path, name: &str) -> bool {
    name == DEFAULT || is_name(name) && base.join(FOLDER).join(name).exists()
}

/// Refuses another base on a disk that is nearly full: its files are mapped, and a page of them that
/// the disk has no room for ends the process.
fn check_space(dir: &Path) -> Result<(), Problem> {
    match free_space(dir) {
        Ok(free) if free < MIN_FREE_BYTES => {
            let detail = "there is no space left for another workspace";
            Err(Problem::new(StatusCode::INSUFFICIENT_STORAGE, detail).hint(format!(
                "free at least {} MB on the server's disk",
                MIN_FREE_BYTES / 1_000_000
            )))
        }
        _ => Ok(()),
    }
}

/// Removes the folders of workspaces whose removal was interrupted.
fn remove_leftovers(dir: &Path) -> std::io::Result<()> {
    for leftover in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if leftover.file_name().to_string_lossy().starts_with(REMOVED) {
            std::fs::remove_dir_all(leftover.path())?;
        }
    }
    Ok(())
}

pub(crate) struct Workspaces {
    pub(super) dir: PathBuf,
    pub(crate) root: Arc<Workspace>,
    pub(super) others: OpenWorkspaces,
    pub(super) closed: ClosedWorkspaces,
    pub(super) overviews: Overviews,
    purpose: Purpose,
    /// How many of the others are open before those that nothing uses are closed.
    pub(super) max_open: usize,
    accounts: BuildAccounts,
    /// Which workspaces there are, of a base that is shared. Others are what folders there are.
    pub(super) shared: Option<Arc<SharedSettings>>,
    pub(super) removal_times: RemovalTimes,
    /// Of a base that is shared.
    pub(super) takeover: Option<Arc<Takeover>>,
}

impl Workspaces {
    /// `max_open` is how many are open, besides the default one, before those that nothing uses are
    /// closed.
    pub(crate) fn new(
        dir: &Path,
        engine: Engine,
        (accounts, shared): (BuildAccounts, Option<Arc<SharedSettings>>),
        (purpose, max_open): (Purpose, usize),
    ) -> Result<Self, Problem> {
        let claims = engine.shared().map(|_| Claims::new(engine.state()));
        let claims = claims.filter(|_| purpose == Purpose::Serve);
        let takeover = claims.map(|claims| Arc::new(Takeover::new(claims)));
        let root = Arc::new(Workspace::open((DEFAULT, purpose), dir, engine, None)?);
        let (dir, others) = (dir.join(FOLDER), OpenWorkspaces::default());
        if purpose == Purpose::Serve {
            start_worker(&root, &accounts);
            remove_leftovers(&dir).map_err(|e| Problem::internal(&e))?;
        }
        Ok(Self {
            dir,
            root,
            others,
            closed: ClosedWorkspaces::default(),
            overviews: Overviews::default(),
            purpose,
            max_open,
            accounts,
            shared,
            removal_times: RemovalTimes::default(),
            takeover,
        })
    }

    /// Whether this process is the server of the base.
    pub(crate) fn are_served(&self) -> bool {
        self.purpose == Purpose::Serve
    }

    /// The workspace with this name, opened on first use.
    pub(crate) async fn get(&self, name: &str) -> Result<Arc<Workspace>, Problem> {
        if name == DEFAULT {
            return Ok(Arc::clone(&self.root));
        }
        let missing = || Problem::not_found("such workspace");
        let dir = self.existing(name).ok_or_else(missing)?;
        let cell = timeout(CLOSING_TIMEOUT, self.others.cell(&dir)).await;
        let is_closing = |_| busy(&format!("the workspace `{name}` is being closed"));
        let cell = cell.map_err(is_closing)?.ok_or_else(missing)?;
        if cell.initialized() {
            // More than may be open can be left of a time when all of them were used.
            self.close_idle();
        }
        let open = || async {
            self.make_room().await;
            if self.others.is_removing(&dir) {
                return Err(missing());
            }
            let (engine, name, dir) = (self.root.engine(), name.to_owned(), dir.clone());
            let claim = self.claim_of(&dir);
            let (is_shared, purpose) = (self.shared.is_some(), self.purpose);
            let keys = self.accounts.allowance.keys.stored.clone();
            let closed = self.closed.clone();
            let open = move || {
                if is_shared {
                    std::fs::create_dir_all(&dir).map_err(|e| Problem::io(&e))?;
                }
                let sibling = engine.open_sibling(&dir)?;
                let workspace = Workspace::open((&name, purpose), &dir, sibling, claim)?;
                keys.bind(&name, &workspace.id)?;
                closed.forget(&workspace.dir);
                Ok(workspace)
            };
            let workspace = Arc::new(run_blocking(open).await?);
            if purpose == Purpose::Serve {
                start_worker(&workspace, &self.accounts);
            }
            Ok::<_, Problem>(workspace)
        };
        let workspace = cell.get_or_try_init(open).await.map(Arc::clone)?;
        if self.shared.is_some() && self.existing(name).as_ref() != Some(&dir) {
            // Removed by another server while it was opened.
            drop((workspace, cell));
            self.close(&dir).await?;
            return Err(missing());
        }
        Ok(workspace)
    }

    /// The folder of the base of a workspace that there is.
    pub(super) fn folder(&self, name: &str) -> Option<PathBuf> {
        if name == DEFAULT { Some(self.root.dir.clone()) } else { self.existing(name) }
    }

    /// The folder of a workspace that there is, besides the default one.
    fn existing(&self, name: &str) -> Option<PathBuf> {
        let dir = match &self.shared {
            Some(shared) => {
                let settings = shared.current().settings;
                settings.workspaces.get(name).map(|folder| self.dir.join(folder))
            }
            None => self.dir_of(name).filter(|dir| dir.is_dir()),
        };
        dir.filter(|dir| !self.others.is_removing(dir))
    }

    /// Names, in order, the default one first.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = if let Some(shared) = &self.shared {
            shared.current().settings.workspaces.keys().cloned().collect()
        } else {
            let folders = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
            let names = folders.filter(|entry| entry.path().is_dir());
            names.filter_map(|entry| entry.file_name().into_string().ok()).collect()
        };
        names.retain(|name| is_name(name));
        names.sort();
        names.insert(0, DEFAULT.to_owned());
        names
    }

    /// What a list says of a workspace. One whose base has changed since is opened.
    pub(crate) async fn overview(&self, name: &str) -> Result<Overview, Problem> {
        // Of a shared base the files here do not tell what other servers have changed.
        let dir = self.folder(name).filter(|_| self.shared.is_none());
        if let Some(overview) = dir.as_ref().and_then(|dir| self.overviews.get(dir)) {
            return Ok(overview);
        }
        let workspace = self.get(name).await?;
        let before = dir.as_ref().and_then(|dir| Base::changed(dir));
        let overview = run_blocking(move || Overview::read(&workspace)).await?;
        if let Some((dir, before)) = dir.zip(before) {
            self.overviews.keep(&dir, before, overview);
        }
        Ok(overview)
    }

    pub(crate) async fn create(&self, name: &str) -> Result<Arc<Workspace>, Problem> {
        let dir = self.dir_of(name).ok_or_else(|| {
            Problem::unfit(format!("`{name}` is not a valid name for a workspace"))
                .hint("use at most 64 characters: a-z, 0-9, - and _")
        })?;
        if self.others.is_removing(&dir) {
            let detail = format!("another workspace `{name}` is being removed");
            return Err(busy(&detail));
        }
        let is_there = name == DEFAULT || (self.shared.is_none() && dir.exists());
        if is_there {
            let detail = format!("the workspace `{name}` already exists");
            return Err(Problem::new(StatusCode::CONFLICT, detail));
        }
        if let Some(shared) = self.shared.clone() {
            let added = name.to_owned();
            run_blocking(move || shared.change(|settings| settings.add(&added))).await?;
            return self.get(name).await;
        }
        check_space(self.dir.parent().unwrap_or(&self.dir))?;
        std::fs::create_dir_all(&dir).map_err(|e| Problem::io(&e))?;
        let made = self.get(name).await;
        if made.is_err() {
            // Half made, it would be taken for one that exists.
            let _ = std::fs::remove_dir_all(&dir);
        }
        made
    }

    /// Removes a workspace and everything in it.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), Problem> {
        if name == DEFAULT {
            return Err(Problem::unfit("the default workspace cannot be removed")
                .hint("delete its documents, or stop the server and delete its folder"));
        }
        let dir = self.existing(name).ok_or_else(|| Problem::not_found("such workspace"))?;
        // Before, so that no key opens what is half removed, and after, for those made meanwhile.
        self.revoke_keys(name).await?;
        if let Some(shared) = self.shared.clone() {
            let removed = name.to_owned();
            run_blocking(move || shared.change(|settings| settings.remove(&removed))).await?;
        }
        self.close(&dir).await?;
        self.revoke_keys(name).await?;
        if self.shared.is_some() { self.erase(&dir).await } else { Ok(()) }
    }

    async fn revoke_keys(&self, name: &str) -> Result<(), Problem> {
        let (keys, name) = (Arc::clone(&self.accounts.allowance.keys), name.to_owned());
        run_blocking(move || {
            keys.stored.revoke_all_of(&name)?;
            keys.reload();
            Ok(())
        })
        .await
    }

    /// The workspaces that are open.
    pub(crate) fn open(&self) -> Vec<Arc<Workspace>> {
        std::iter::once(Arc::clone(&self.root)).chain(self.others.open()).collect()
    }

    /// The claim of the builds of a workspace of a shared base.
    fn claim_of(&self, dir: &Path) -> Option<Claim> {
        let folder = dir.file_name()?.to_string_lossy();
        Some(self.takeover.as_ref()?.claims.for_folder(&folder, &server_name(dir)))
    }

    /// Opens the workspaces with pending builds in their folders, so that these continue. Those of a
    /// shared base have theirs in the database: [`Workspaces::continue_builds`].
    pub(crate) async fn resume(&self) {
        let pending =
            |name: &String| self.dir_of(name).is_some_and(|dir| crate::builds::any_pending(&dir));
        let mut waiting: Vec<String> = self.names().into_iter().filter(pending).collect();
        for attempt in 1.. {
            let mut failed = vec![];
            for name in waiting {
                let opened = self.get(&name).await.map(drop);
                let Err(problem) = opened else { continue };
                if attempt == 1 {
                    let detail = problem.detail;
                    tracing::error!("builds of `{name}` wait until it can be opened: {detail}");
                }
                // One that was removed meanwhile is not waited for.
                failed.extend(self.existing(&name).map(|_| name));
            }
            if failed.is_empty() {
                return;
            }
            waiting = failed;
            tokio::time::sleep(RETRY_INTERVAL).await;
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
}

/// Starts the worker that runs the builds of a workspace.
fn start_worker(workspace: &Arc<Workspace>, accounts: &BuildAccounts) {
    tokio::spawn(run_worker(Arc::clone(workspace), accounts.clone()));
    tokio::spawn(follow(Arc::downgrade(&workspace.builds)));
}
