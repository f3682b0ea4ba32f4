//! Runs one test of the running test program in a process of its own; tests that can be long.
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the folder to the other process.
const FOLDER: &str = "HALMA_TEST_FOLDER";

/// A process that runs only this test, which finds the folder by [`folder`].
pub(crate) fn run(test: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--include-ignored"]).env(FOLDER, folder);
    command
}

/// The folder of the process that started this one; `None` when it runs on its own.
pub(crate) fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// How much of something is tried: little in `make test`, much in `make soak`, which sets
/// `HALMA_SOAK`.
pub(crate) fn soaked(little: usize, much: usize) -> usize {
    if std::env::var_os("HALMA_SOAK").is_some() { much } else { little }
}
