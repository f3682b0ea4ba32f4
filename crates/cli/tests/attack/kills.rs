//! SIGKILL over builds, deletions, backups and restores: whatever a run leaves, the next one
//! finishes, and the base is the one of runs that were never killed.
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::tempdir;

const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/library");

fn halma(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halma"));
    command.current_dir(dir).args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs to the end and returns what was printed.
fn run(dir: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = halma(dir, arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    output.stdout
}

/// Kills a run after a while; returns whether it was still running.
fn kill(dir: &Path, arguments: &[&str], after: Duration) -> bool {
    let mut child =
        halma(dir, arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    let killed = child.try_wait().unwrap().is_none();
    // It may have ended meanwhile.
    let _ = child.kill();
    child.wait().unwrap();
    killed
}

/// All nodes and edges of a base in which `verify` finds no problem, in the order of their lines:
/// rows depend on which runs were killed, names and texts do not.
fn exported(dir: &Path, base: &str) -> Vec<String> {
    run(dir, &["kb", "verify", "--kb", base]);
    let lines = String::from_utf8(run(dir, &["kb", "export", "--kb", base])).unwrap();
    let mut lines: Vec<String> = lines.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// How many runs are killed: `HALMA_KILLS`, or a few.
fn kills() -> u64 {
    std::env::var("HALMA_KILLS").map_or(25, |count| count.parse().unwrap())
}

#[test]
#[ignore = "takes minutes; `make attack` runs it"]
#[expect(clippy::print_stderr, reason = "its result")]
fn a_base_survives_every_kill() {
    let folder = tempdir().unwrap();
    let dir = folder.path();
    let index = ["index", LIBRARY, "--kb", "base"];
    run(dir, &["index", LIBRARY, "--kb", "never-killed"]);
    let expected = exported(dir, "never-killed");
    let delete = ["kb", "delete", "*", "--kb", "base"];
    let backup = ["backup", "kept", "--kb", "base"];
    let restore = ["restore", "kept", "--kb", "again", "--replace"];
    let (mut killed, mut moment) = (0, 0x9e37_79b9_7f4a_7c15_u64);
    run(dir, &index);
    run(dir, &backup);
    for round in 0..kills() {
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let after = Duration::from_millis((moment >> 33) % 1_500);
        let arguments: &[&str] = match round % 5 {
            0 | 3 => &index,
            1 => &delete,
            2 => &backup,
            _ => &restore,
        };
        killed += u64::from(kill(dir, arguments, after));
        assert!(dir.join("base/store/data.mdb").exists());
    }
    run(dir, &index);
    assert!(exported(dir, "base") == expected, "the base is another after {killed} kills");
    run(dir, &backup);
    run(dir, &restore);
    assert!(exported(dir, "again") == expected, "what was restored is another");
    assert!(leftovers(dir).is_empty(), "{:?}", leftovers(dir));
    eprintln!("{killed} runs were killed; the bases are equal ({} lines)", expected.len());
}

/// What a run that was killed left and no later one removed.
fn leftovers(dir: &Path) -> Vec<PathBuf> {
    let ended = [".part", ".replaced", ".unpacked", ".new", ".old"];
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| ended.iter().any(|end| path.to_string_lossy().ends_with(end))).collect()
}
