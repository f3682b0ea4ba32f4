//! SIGKILL over builds, deletions, backups and restores, and over a server that takes uploads and
//! feedback: whatever is left, the next run finishes, and the base is the one of runs that were never
//! killed.
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir};

use crate::feedback::{KnownFeedback, STEADY};
use crate::server::{Victim, halma};

const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/library");

/// Runs to the end and returns what was printed.
fn run(dir: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = halma(dir, arguments).stderr(Stdio::piped()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    output.stdout
}

/// Microseconds that a run takes.
fn length_of(dir: &Path, arguments: &[&str]) -> u64 {
    let begun = Instant::now();
    run(dir, arguments);
    begun.elapsed().as_micros().try_into().unwrap()
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
    run(dir, &index);
    run(dir, &backup);
    let runs: [&[&str]; 5] = [&index, &delete, &backup, &index, &restore];
    let lengths = runs.map(|arguments| length_of(dir, arguments));
    let (mut killed, mut moment) = (0, 0x9e37_79b9_7f4a_7c15_u64);
    for at in (0..runs.len()).cycle() {
        if killed == kills() {
            break;
        }
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let after = Duration::from_micros((moment >> 33) % lengths[at]);
        killed += u64::from(kill(dir, runs[at], after));
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

/// A folder with a configuration for a server.
fn served() -> TempDir {
    let dir = tempdir().unwrap();
    let config = "[embedder]\nkind = \"none\"\n[kb]\natoms = \"sentences\"\n";
    std::fs::write(dir.path().join("halma.toml"), config).unwrap();
    dir
}

/// The `n`th of the documents that are uploaded, as it is in the end or before.
fn document(n: u64, last: bool) -> String {
    let state = if last { "today" } else { "before" };
    format!("# Light {n}\n\nLight {n} was lit in {}. It is white {state}.\n", 1800 + n)
}

/// Uploads, builds and deletes until the server is gone.
fn disturb(victim: &Victim, round: u64) {
    for n in 0.. {
        let name = format!("light-{}.md", (round * 7 + n) % 20);
        let answer = match n % 5 {
            3 => victim.post("/api/v1/builds", &serde_json::json!({})),
            4 => victim.delete(&format!("/api/v1/documents/{name}")),
            _ => victim.replace(&name, document(n % 20, false).as_bytes()),
        };
        assert_ne!(answer.status, 500, "{}", answer.text);
        if answer.status == 0 {
            return;
        }
    }
}

/// Uploads the documents as they are in the end and builds them.
fn finish(victim: &Victim) {
    let lights = (0..20).map(|n| (format!("light-{n}.md"), document(n, true)));
    for (name, text) in lights.chain([(STEADY.0.to_owned(), STEADY.1.to_owned())]) {
        let answer = victim.replace(&name, text.as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    let build = victim.build("default");
    assert_eq!(build["state"], "done", "{build}");
}

#[test]
#[ignore = "takes minutes; `make attack` runs it"]
#[expect(clippy::print_stderr, reason = "its result")]
fn a_server_survives_every_kill() {
    let never_killed = Victim::over(served());
    finish(&never_killed);
    let never_killed = never_killed.stop();
    let first = Victim::over(served());
    finish(&first);
    let (mut dir, mut feedback) = (first.stop(), KnownFeedback::default());
    let mut moment = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..kills() {
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let victim = Victim::over(dir);
        std::thread::scope(|scope| {
            scope.spawn(|| disturb(&victim, round));
            scope.spawn(|| feedback.give(&victim));
            std::thread::sleep(Duration::from_millis((moment >> 33) % 800));
            victim.kill();
        });
        dir = victim.into_dir();
    }
    let victim = Victim::over(dir);
    victim.wait_for_builds();
    eprintln!("feedback that was answered: {}", feedback.check(&victim));
    KnownFeedback::delete_all(&victim);
    finish(&victim);
    let dir = victim.stop();
    let (base, expected) =
        (exported(dir.path(), ".halma"), exported(never_killed.path(), ".halma"));
    let other: Vec<_> = base.iter().filter(|line| !expected.contains(line)).collect();
    assert!(base == expected, "{} and {} lines; {other:#?}", base.len(), expected.len());
    let uploads = std::fs::read_dir(dir.path().join(".halma/uploads"));
    assert_eq!(uploads.map_or(0, Iterator::count), 0, "uploads that were cut off are left");
}
