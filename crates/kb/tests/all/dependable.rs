//! What machines do to a base: it is copied while it is written, cut off from space, made
//! read-only, left by a process that died.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "these are tests")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use halma_core::{Budget, Embedder, Layer, Mode};
use halma_kb::{Base, BaseOptions, InputFormat, KbError};

use crate::common::{Bench, Words, again, search};

fn options() -> BaseOptions {
    let embedder: Arc<dyn Embedder> = Words::new();
    BaseOptions { embedder: Some(embedder), ..BaseOptions::default() }
}

fn animals(bench: &Bench, from: usize, to: usize) {
    for i in from..to {
        let text =
            format!("# Animal {i}\n\nAnimal number{i} eats food{i}. It lives in zoo{}.", i % 7);
        bench.write(&format!("a{i:03}.md"), text);
    }
}

/// Adds documents and deletes some again, without end.
#[tokio::test]
async fn write_without_end() {
    let Some(dir) = again::folder() else { return };
    let bench = Bench::new();
    let base = Base::create_or_open(&dir.join("base"), options()).unwrap();
    for round in 0.. {
        animals(&bench, round * 20, round * 20 + 20);
        let input = bench.input();
        bench.index_path(&base, &input, InputFormat::Auto, Budget::default()).await.unwrap();
        println!("written");
        let name = |i| format!("a{:03}.md", round * 20 + i);
        for i in [1, 5, 11] {
            base.delete(&[name(i)]).unwrap();
            println!("written");
            std::fs::remove_file(input.join(name(i))).unwrap();
        }
    }
}

struct Writer {
    child: Child,
    lines: Box<dyn Iterator<Item = String>>,
}

impl Writer {
    /// Starts writing below a folder; returns when the first documents are there.
    fn start(dir: &Path) -> Self {
        let mut command = again::run("dependable::write_without_end", dir);
        let mut child = command.arg("--nocapture").stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut writer = Self { child, lines: Box::new(lines.map_while(Result::ok)) };
        writer.wait(1);
        writer
    }

    /// Waits until it has written so often; it is in the middle of the next time then.
    fn wait(&mut self, times: usize) {
        let written = self.lines.by_ref().filter(|line| line.contains("written"));
        assert_eq!(written.take(times).count(), times);
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), &to).unwrap();
        }
    }
}

/// The state of the disk at one moment is what a power cut or a copy leaves; the writer stands
/// still while it is taken.
fn copies_are_whole(moments: usize) {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::start(dir.path());
    let copies: Vec<PathBuf> = (0..moments).map(|i| dir.path().join(format!("copy{i}"))).collect();
    for (copied, i) in copies.iter().zip(0..) {
        // After additions and deletions in turn.
        writer.wait(1 + i % 4);
        writer.signal("-STOP");
        copy(&dir.path().join("base"), copied);
        writer.signal("-CONT");
    }
    drop(writer);
    for copied in copies.into_iter().chain([dir.path().join("base")]) {
        let base = Base::open(&copied, options()).unwrap();
        let verified = base.inspector().verify().unwrap();
        assert!(verified.is_sound(), "{}: {:?}", copied.display(), verified.problems);
        assert!(verified.nodes > 20);
    }
}

#[test]
fn a_base_copied_while_it_is_written_is_whole() {
    copies_are_whole(again::soaked(4, 60));
}

#[tokio::test]
async fn a_killed_writer_leaves_no_lock() {
    let dir = tempfile::tempdir().unwrap();
    drop(Writer::start(dir.path()));
    let folder = dir.path().join("base");
    assert!(folder.join("index.lock").is_file());
    let base = Base::open(&folder, options()).unwrap();
    let bench = Bench::new();
    animals(&bench, 900, 901);
    bench.index_path(&base, &bench.input(), InputFormat::Auto, Budget::default()).await.unwrap();
    base.delete(&["a900.md".into()]).unwrap();
    assert!(base.inspector().verify().unwrap().is_sound());
}

/// Indexes until the files may grow no more.
#[tokio::test]
async fn fill_the_disk() {
    let Some(dir) = again::folder() else { return };
    let base = Base::open(&dir.join("base"), options()).unwrap();
    let bench = Bench::new();
    for i in 0..40 {
        bench.write(&format!("b{i:02}.txt"), "Words that fill pages. ".repeat(20_000));
    }
    let indexed =
        bench.index_path(&base, &bench.input(), InputFormat::Auto, Budget::default()).await;
    let error = indexed.unwrap_err();
    assert!(matches!(error, KbError::NoSpace { .. }), "{error:?}");
    assert!(error.to_string().contains("free some"), "{error}");
    // What was there is still found, in the same process.
    assert_eq!(search(&base, "number7", Layer::Chunk, Mode::Bm25).await[0].title, "Animal 7");
}

#[tokio::test]
async fn a_full_disk_is_told_and_the_base_stays_whole() {
    let bench = Bench::new();
    animals(&bench, 0, 20);
    let base = Base::create_or_open(&bench.base_dir(), options()).unwrap();
    bench.index(&base).await;
    let before = base.inspector().stats().unwrap();
    drop(base);
    // The system refuses to let a file grow beyond this, as it does on a full disk or quota.
    let test = again::run("dependable::fill_the_disk", bench.dir.path());
    let mut limited = Command::new("bash");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 3000; exec \"$0\" \"$@\""]);
    limited.arg(test.get_program()).args(test.get_args());
    for (name, value) in test.get_envs() {
        limited.env(name, value.unwrap());
    }
    assert!(limited.status().unwrap().success());
    let base = Base::open(&bench.base_dir(), options()).unwrap();
    let verified = base.inspector().verify().unwrap();
    assert!(verified.is_sound(), "{:?}", verified.problems);
    assert!(base.inspector().stats().unwrap().documents >= before.documents);
    let report = bench.index(&base).await;
    assert_eq!(report.documents_unchanged, 20);
    assert!(base.inspector().verify().unwrap().is_sound());
}

/// Takes the right to write from everything below a folder, or gives it back.
fn set_writable(dir: &Path, writable: bool) {
    let set = |path: &Path| {
        let mut rights = std::fs::metadata(path).unwrap().permissions();
        rights.set_readonly(!writable);
        std::fs::set_permissions(path, rights).unwrap();
    };
    if writable {
        set(dir);
    }
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { set_writable(&path, writable) } else { set(&path) }
    }
    if !writable {
        set(dir);
    }
}

#[tokio::test]
async fn a_base_that_cannot_be_written_is_searched() {
    let bench = Bench::new();
    animals(&bench, 0, 20);
    let base = Base::create_or_open(&bench.base_dir(), options()).unwrap();
    bench.index(&base).await;
    drop(base);
    set_writable(&bench.base_dir(), false);
    if std::fs::write(bench.base_dir().join("probe"), "").is_ok() {
        std::fs::remove_file(bench.base_dir().join("probe")).unwrap();
        set_writable(&bench.base_dir(), true);
        println!("not tested: this user may write everywhere");
        return;
    }
    let base = Base::open(&bench.base_dir(), options()).unwrap();
    assert_eq!(search(&base, "number7", Layer::Chunk, Mode::Bm25).await[0].title, "Animal 7");
    assert_eq!(search(&base, "number7", Layer::Chunk, Mode::Dense).await.len(), 10);
    assert!(base.inspector().verify().unwrap().is_sound());
    for error in [
        base.delete(&["a001.md".into()]).err().unwrap(),
        bench.try_index(&base, Budget::default()).await.err().unwrap(),
    ] {
        assert!(error.to_string().contains("cannot be written to"), "{error}");
    }
    drop(base);
    set_writable(&bench.base_dir(), true);
    Base::open(&bench.base_dir(), options()).unwrap().delete(&["a001.md".into()]).unwrap();
}
