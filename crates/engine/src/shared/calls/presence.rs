//! Who is there: workers that do calls, and builds that ask.
use halma_store::pg::{Calls, PgError};

/// Names of programs that only ask begin with this.
const ASKS: &str = "index, ";

/// The name of this machine.
pub(in crate::shared) fn machine() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// A name that no other program has, and no other part of this one.
fn named(what: &str) -> String {
    let mut digits = [0; 4];
    // Without random digits, process and machine are enough nearly everywhere.
    let _ = getrandom::fill(&mut digits);
    format!("{what}process {} on {} {}", std::process::id(), machine(), hex::encode(digits))
}

/// The name of a worker of this program.
pub(super) fn worker_name() -> String {
    named("")
}

/// The name of a build of this program.
pub(super) fn asker_name() -> String {
    named(ASKS)
}

/// How many are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Present {
    pub(super) workers: usize,
    /// Builds other than the one of this name.
    pub(super) other_askers: usize,
}

pub(super) async fn present(calls: &Calls, name: &str) -> Result<Present, PgError> {
    let all = calls.workers().await?;
    let (askers, workers): (Vec<_>, Vec<_>) =
        all.iter().partition(|worker| worker.name.starts_with(ASKS));
    let other_askers = askers.iter().filter(|asker| asker.name != name).count();
    Ok(Present { workers: workers.len(), other_askers })
}
