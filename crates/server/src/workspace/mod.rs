//! A workspace: one tenant with a base, its originals, builds, traces and usage.
mod closing;
mod freshness;
mod idle;
mod open;
mod overview;
mod shared;
mod takeover;
mod workspaces;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_core::MetadataFilter;
use halma_engine::Engine;
use parking_lot::RwLock;
use tokio::sync::watch;

pub(crate) use freshness::{Freshness, has_changed};
pub(crate) use overview::Overview;
pub use workspaces::has_workspace;
pub(crate) use workspaces::{DEFAULT, Workspaces};

use crate::builds::{Builds, Claim};
use crate::evaluation_runs::EvaluationRuns;
use crate::limits::blocking::JobQueue;
use crate::limits::upload_quota::UploadQuota;
use crate::problem::Problem;
use crate::usage::Usage;

#[derive(Clone)]
pub(crate) struct Workspace {
    pub(crate) name: String,
    pub(crate) dir: PathBuf,
    /// The folder of uploads in progress, on the disk of the originals.
    pub(crate) uploads: PathBuf,
    /// What uploads at the same time share of its quota.
    pub(crate) upload_quota: Arc<UploadQuota>,
    /// The id of its base.
    pub(crate) id: String,
    engine: Arc<RwLock<Arc<Engine>>>,
    /// Set when it is removed.
    closed: Arc<RwLock<bool>>,
    /// Notifies of its removal.
    removed: Arc<watch::Sender<bool>>,
    pub(crate) builds: Arc<Builds>,
    pub(crate) usage: Arc<Usage>,
    pub(crate) evaluation_runs: Arc<EvaluationRuns>,
    /// Work of its requests.
    pub(crate) requests: JobQueue,
    /// Estimates of builds, each of which reads files.
    pub(crate) estimates: JobQueue,
    /// Searches, which may wait for the embedder.
    pub(crate) searches: JobQueue,
    /// What waits for the embedder or a model: one that does not reply holds up nothing else.
    pub(crate) models: JobQueue,
    /// Checks of large uploads, each of which may read a whole file.
    pub(crate) large_files: JobQueue,
    /// Writes of uploads, each of one block: they are as fast as the memory, and many at once would
    /// leave no processor to others.
    pub(crate) writes: JobQueue,
    /// Of a base that is shared.
    pub(crate) freshness: Option<Arc<Freshness>>,
}

/// What a process opens a workspace for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The server of the base, which holds its lock: it also builds, and removes what a former one
    /// has left in part.
    Serve,
    /// A process that answers next to a server, such as `halma mcp`.
    Answer,
}

impl Workspace {
    /// To serve it, removes incomplete uploads that a crash left, and queues builds that were running
    /// again. `claim` is how other servers know of its builds, of a workspace besides the default one
    /// that is shared.
    pub(crate) fn open(
        (name, purpose): (&str, Purpose),
        dir: &Path,
        engine: Engine,
        claim: Option<Claim>,
    ) -> Result<Self, Problem> {
        let failed = |e: std::io::Error| Problem::io(&e);
        let server = server_name(dir);
        let mut uploads = engine.originals().dir().with_file_name(UPLOADS);
        if engine.shared().is_some() {
            // Below the keys, where other servers have theirs.
            std::fs::create_dir_all(&uploads).map_err(failed)?;
            uploads.push(&server);
        }
        let is_server = purpose == Purpose::Serve;
        if is_server && uploads.exists() {
            std::fs::remove_dir_all(&uploads).map_err(failed)?;
        }
        engine.originals().create().map_err(failed)?;
        // Another server of a base that is shared may be placing a file.
        if is_server && engine.shared().is_none() {
            remove_orphaned_fields(name, &engine);
        }
        let builds = if is_server {
            Builds::open(engine.state(), server, claim)?
        } else {
            Builds::unserved()
        };
        let evaluation_runs = Arc::new(EvaluationRuns::open(engine.state(), purpose)?);
        let usage = Usage::new(engine.state());
        let id = engine.base().id().map_err(|e| Problem::internal(&e))?;
        let freshness = engine.shared().map(|space| Arc::new(Freshness::new(space)));
        Ok(Self {
            id,
            freshness,
            evaluation_runs,
            name: name.to_owned(),
            dir: dir.to_owned(),
            uploads,
            upload_quota: Arc::new(UploadQuota::new(engine.shared().is_some())),
            engine: Arc::new(RwLock::new(Arc::new(engine))),
            closed: Arc::default(),
            removed: Arc::new(watch::Sender::new(false)),
            builds: Arc::new(builds),
            usage: Arc::new(usage),
            requests: JobQueue::new(),
            estimates: JobQueue::with(1, 8),
            searches: JobQueue::new(),
            models: JobQueue::new(),
            large_files: JobQueue::with(1, 256),
            writes: JobQueue::with(1, 10_000),
        })
    }

    /// The workspace for those who see only the documents whose fields meet these conditions.
    pub(crate) fn restricted(&self, documents: &MetadataFilter) -> Result<Self, Problem> {
        let engine = self.engine().restricted(documents)?;
        Ok(Self { engine: Arc::new(RwLock::new(engine)), ..self.clone() })
    }

    /// Ends what is done in it, and refuses everything that would still be written, also by uploads
    /// under way.
    pub(crate) fn close(&self) {
        *self.closed.write() = true;
        self.removed.send_replace(true);
        self.evaluation_runs.stop();
        self.engine().base().end_builds();
        self.engine().traces().close();
        self.usage.close();
    }

    /// Whether anything uses it or is to be done in it, apart from the list of open workspaces and the
    /// worker of its builds. Counted are what requests and streams hold, also those of views.
    pub(super) fn is_used(self: &Arc<Self>) -> bool {
        const INTERNAL_REFERENCES: usize = 2;
        let engine = self.engine.read();
        let parts = [
            Arc::strong_count(&engine),
            Arc::strong_count(&self.closed),
            Arc::strong_count(&self.upload_quota),
            Arc::strong_count(&self.builds),
            Arc::strong_count(&self.usage),
            Arc::strong_count(&self.evaluation_runs),
        ];
        Arc::strong_count(self) > INTERNAL_REFERENCES
            || parts.iter().any(|holders| *holders > 1)
            || self.builds.is_pending()
    }

    /// Requests that wait in a queue.
    pub(crate) fn waiting(&self) -> usize {
        [&self.requests, &self.searches, &self.models].into_iter().map(JobQueue::waiting).sum()
    }

    /// Returns when it is removed.
    pub(crate) async fn removed(&self) {
        // Cannot fail: the sender is in `self`.
        let _ = self.removed.subscribe().wait_for(|removed| *removed).await;
    }

    /// Runs what writes files, unless the workspace has been removed; it is not removed meanwhile.
    pub(crate) fn while_open<T>(
        &self,
        write: impl FnOnce() -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let closed = self.closed.read();
        if *closed {
            return Err(Problem::not_found("such workspace"));
        }
        write()
    }

    pub(crate) fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engine.read())
    }

    /// The folder of evaluations that were started over HTTP, next to that of uploaded files: of a
    /// base that is shared, all its servers read it.
    pub(crate) fn evaluations(&self) -> PathBuf {
        self.engine().originals().dir().with_file_name(EVALUATIONS)
    }

    pub(crate) fn set_engine(&self, engine: Engine) {
        *self.engine.write() = Arc::new(engine);
    }
}

/// Fields of uploads that a crash has prevented. Those that stay are removed when it is opened again.
fn remove_orphaned_fields(workspace: &str, engine: &Engine) {
    match engine.originals().remove_orphaned_fields() {
        Ok(0) => {}
        Ok(count) => {
            tracing::info!("workspace `{workspace}`: fields of {count} missing files were removed");
        }
        Err(e) => {
            tracing::warn!("workspace `{workspace}`: fields of missing files are not removed: {e}");
        }
    }
}

const UPLOADS: &str = "uploads";

const EVALUATIONS: &str = "evaluations";

/// The name of this server among those that share a base: that of its machine and of the folder of
/// its replica, of which there is one server at a time.
fn server_name(dir: &Path) -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let both = format!("{}\n{}", machine.trim(), dir.display());
    blake3::hash(both.as_bytes()).to_hex()[..16].to_owned()
}

/// Whether this is a valid name of a workspace, which is also the name of its folder.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    (1..=64).contains(&name.len())
        && name.chars().all(plain)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_a_path() {
        for valid in ["default", "a", "law-2026", "a_b"] {
            assert!(is_name(valid), "{valid}");
        }
        let long = "a".repeat(65);
        for invalid in ["", ".", "..", "a/b", "A", "ü", "-a", "_a", "a b", "a\0", &long] {
            assert!(!is_name(invalid), "{invalid}");
        }
    }
}
