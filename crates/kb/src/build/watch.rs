//! Waiting for changes below the inputs, so that a base can be kept in step with a folder.
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::KbError;

/// A change is told when nothing else has changed for so long …
const QUIET: Duration = Duration::from_millis(500);
/// … or when it is so old: a file that is written all the time must not hold up the others.
const LONGEST: Duration = Duration::from_secs(5);

/// Sees changes of files below the inputs. Changes that happen between two calls of
/// [`Watch::changed`] are not lost.
pub struct Watch {
    events: mpsc::UnboundedReceiver<notify::Result<Event>>,
    inputs: Vec<PathBuf>,
    base_dir: PathBuf,
    /// The configuration file in use.
    configuration: Option<PathBuf>,
    /// Dropping it ends the watching.
    _watcher: RecommendedWatcher,
}

/// What changed since the last time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// Files and folders that changed, came or went. Empty when all that is known is that
    /// something did.
    pub paths: Vec<PathBuf>,
    /// What could not be watched; the other inputs still are.
    pub failures: Vec<String>,
}

impl Watch {
    /// Watches the inputs: folders with all below them, files by themselves. `base_dir` is the base's
    /// folder, whose changes are its own business.
    pub fn new(inputs: &[PathBuf], base_dir: &Path) -> Result<Self, KbError> {
        let (tell, events) = mpsc::unbounded_channel();
        let mut watcher = notify::recommended_watcher(move |event| {
            // Nobody listens any more: the watch is being dropped.
            let _ = tell.send(event);
        })
        .map_err(|e| KbError::watch(Path::new("."), e))?;
        let mut real_inputs = vec![];
        for input in inputs {
            let real = input.canonicalize().map_err(|e| KbError::io(input, "watch", e))?;
            // A file is often replaced as a whole, which only its folder tells.
            let (path, mode) = match real.parent().filter(|_| !real.is_dir()) {
                Some(folder) => (folder, RecursiveMode::NonRecursive),
                None => (real.as_path(), RecursiveMode::Recursive),
            };
            watcher.watch(path, mode).map_err(|e| KbError::watch(input, e))?;
            real_inputs.push(real);
        }
        let base_dir = base_dir.canonicalize().unwrap_or_else(|_| base_dir.to_owned());
        Ok(Self { events, inputs: real_inputs, base_dir, configuration: None, _watcher: watcher })
    }

    /// Leaves out changes of the configuration file in use, which is not indexed.
    #[must_use]
    pub fn without_configuration(mut self, file: &Path) -> Self {
        self.configuration = file.canonicalize().ok();
        self
    }

    /// Waits until something below the inputs has changed and it has been quiet for half a second.
    pub async fn changed(&mut self) -> Changed {
        let (mut paths, mut failures) = (BTreeSet::new(), vec![]);
        // When the first change is too old to be kept back, and until when it must be quiet.
        let mut until: Option<(Instant, Instant)> = None;
        loop {
            let event = match until {
                None => self.events.recv().await,
                Some((_, quiet)) => {
                    match tokio::time::timeout_at(quiet, self.events.recv()).await {
                        Ok(event) => event,
                        Err(_) => break,
                    }
                }
            };
            // The watcher lives as long as this does, so there is always another event to come.
            let Some(event) = event else { break };
            let told = match event {
                Ok(event) => {
                    // The system lost count: anything may have changed.
                    let rescan = event.need_rescan();
                    let seen: Vec<PathBuf> = self.seen(event).collect();
                    let told = rescan || !seen.is_empty();
                    paths.extend(seen);
                    told
                }
                Err(e) => {
                    let path = e.paths.first().cloned().unwrap_or_default();
                    failures.push(KbError::watch(&path, e).to_string());
                    true
                }
            };
            if told {
                let now = Instant::now();
                let longest = until.map_or(now + LONGEST, |(longest, _)| longest);
                until = Some((longest, (now + QUIET).min(longest)));
            }
        }
        Changed { paths: paths.into_iter().collect(), failures }
    }

    /// The paths of an event that have anything to do with what is indexed.
    fn seen(&self, event: Event) -> impl Iterator<Item = PathBuf> + '_ {
        let of_content = !matches!(event.kind, EventKind::Access(_));
        event.paths.into_iter().filter(move |path| of_content && self.is_input(path))
    }

    fn is_input(&self, path: &Path) -> bool {
        let below = self.inputs.iter().find_map(|input| path.strip_prefix(input).ok());
        let hidden = |below: &Path| {
            below.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
        };
        below.is_some_and(|below| !hidden(below))
            && !path.starts_with(&self.base_dir)
            && self.configuration.as_deref() != Some(path)
    }
}
