//! Views of processes that were killed. LMDB reuses no page that a view might still read, so the
//! file grows with every write until the slot of such a view is given back.
use std::time::{Duration, Instant};

use heed::{Env, WithoutTls};
use parking_lot::Mutex;

/// How often a process that writes looks for them.
const INTERVAL: Duration = Duration::from_mins(1);

/// When this process last looked.
#[derive(Debug, Default)]
pub(super) struct StaleReaders(Mutex<Option<Instant>>);

impl StaleReaders {
    /// Gives the slots back, unless it was done a short time ago.
    pub(super) fn clear(&self, env: &Env<WithoutTls>) {
        let mut last = self.0.lock();
        if last.is_some_and(|last| last.elapsed() < INTERVAL) {
            return;
        }
        *last = Some(Instant::now());
        match env.clear_stale_readers() {
            Ok(0) => {}
            Ok(cleared) => tracing::debug!("{cleared} views of processes that ended are closed"),
            Err(e) => tracing::warn!("views of processes that ended cannot be closed: {e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::path::Path;
    use std::process::{Command, Stdio};

    use crate::store::Store;

    /// Names the folder of the store to the process that is killed.
    const DIR: &str = "HALMA_TEST_KILLED_READER";

    /// Runs in a process of its own, which the other test kills; does nothing otherwise.
    #[test]
    fn holds_a_view_until_it_is_killed() {
        let Ok(dir) = std::env::var(DIR) else { return };
        let store = Store::open(Path::new(&dir)).unwrap();
        let _view = store.env.read_txn().unwrap();
        std::io::stdout().write_all(b"\nready\n").unwrap();
        loop {
            std::thread::park();
        }
    }

    fn kill_a_reader(dir: &Path) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["store::readers::tests::holds_a_view_until_it_is_killed", "--exact"])
            .arg("--nocapture")
            .env(DIR, dir)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_write_closes_the_views_of_killed_processes() {
        let dir = tempfile::tempdir().unwrap();
        drop(Store::open(dir.path()).unwrap());
        let store = Store::open(dir.path()).unwrap();
        kill_a_reader(dir.path());
        assert_eq!(store.env.clear_stale_readers().unwrap(), 1);
        kill_a_reader(dir.path());
        store.publish().unwrap();
        assert_eq!(store.env.clear_stale_readers().unwrap(), 0);
    }
}
