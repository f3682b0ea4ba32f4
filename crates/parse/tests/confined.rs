//! What a worker may do with files and other processes, tried by one: this program, started again.
#![cfg(target_os = "linux")]
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use halma_parse::worker::{Confinement, FileRules, Limits, Requests, confinement};

/// The folder in which the other process tries what it may do.
const FOLDER: &str = "HALMA_TEST_FOLDER";

/// What the shell needs.
const SYSTEM: [&str; 5] = ["/bin", "/lib", "/lib64", "/usr/bin", "/usr/lib"];

#[test]
#[expect(clippy::print_stdout, reason = "read by the test that started it")]
fn a_confined_process() {
    // Only in a process of its own, which the test below starts.
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let mut read: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    read.extend([folder.join("readable"), folder.join("missing")]);
    let files = FileRules { read, write: vec![folder.join("writable"), "/dev/null".into()] };
    let _requests = Requests::open(&Limits {
        memory: 4 << 30,
        cpu_seconds: 60,
        file_bytes: 1_000,
        open_files: 64,
        may_start_programs: true,
        files,
    })
    .unwrap();
    let parent = std::os::unix::process::parent_id();
    let read = |path: &Path| std::fs::read(path).is_ok();
    let shell = |line: &str| {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", line]).stdin(Stdio::null()).stderr(Stdio::null());
        shell.status().is_ok_and(|status| status.success())
    };
    for (what, worked) in [
        ("reads what it may", read(&folder.join("readable/file"))),
        ("reads what it may write", read(&folder.join("writable/file"))),
        ("writes what it may", std::fs::write(folder.join("writable/new"), "new").is_ok()),
        ("runs a program", shell("exit 0")),
        ("reads another file", read(&folder.join("secret"))),
        ("lists a folder", std::fs::read_dir(&folder).is_ok()),
        ("writes what it may read", std::fs::write(folder.join("readable/new"), "new").is_ok()),
        ("writes another file", std::fs::write(folder.join("new"), "new").is_ok()),
        ("removes another file", std::fs::remove_file(folder.join("secret")).is_ok()),
        ("reads the keys of its parent", read(Path::new(&format!("/proc/{parent}/environ")))),
        ("has a program read", shell(&format!("read x < {}/secret", folder.display()))),
        ("signals its parent", shell(&format!("kill -0 {parent}"))),
    ] {
        println!("{what}: {worked}");
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn a_worker_uses_no_file_that_is_not_its_own() {
    let confinement = confinement();
    if confinement == Confinement::None {
        println!("skipped: this system has no rules for files of workers");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["readable", "writable"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("file"), "own").unwrap();
    }
    std::fs::write(folder.path().join("secret"), "key\n").unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_confined_process", "--nocapture"])
        .env(FOLDER, folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Its input stays open until it has ended: at the end of it, a worker ends.
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    let output = String::from_utf8(output.stdout).unwrap();
    let worked = |what: &str| match output.lines().find_map(|line| line.strip_prefix(what)) {
        Some(result) => result == ": true",
        None => panic!("it did not come to `{what}`: {output}"),
    };
    for allowed in
        ["reads what it may", "reads what it may write", "writes what it may", "runs a program"]
    {
        assert!(worked(allowed), "{allowed}: {output}");
    }
    for refused in [
        "reads another file",
        "lists a folder",
        "writes what it may read",
        "writes another file",
        "removes another file",
        "reads the keys of its parent",
        "has a program read",
    ] {
        assert!(!worked(refused), "{refused}: {output}");
    }
    assert!(confinement == Confinement::Partial || !worked("signals its parent"), "{output}");
}
