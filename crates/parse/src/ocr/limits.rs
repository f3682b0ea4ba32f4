//! What a worker that reads files may use: memory and time, and of the system what the programs for
//! OCR need.
use std::env::{split_paths, var_os};
use std::path::{Path, PathBuf};

use halma_worker::{FileRules, Limits};

use super::PROGRAMS;

/// Bytes of address space of a worker, the stack of its reader and the program itself included.
const MEMORY: u64 = 5 << 29;

/// Programs, libraries, fonts and the models of tesseract, as systems install them.
const SYSTEM: &[&str] = &[
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/usr/local/share",
    "/nix/store",
    "/gnu/store",
    "/var/cache/fontconfig",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/dev/urandom",
];

/// What belongs to a program in `PREFIX/bin`, below its prefix; what else is there is not for it.
const BELOW_PREFIX: &[&str] =
    &["lib", "lib64", "share/tessdata", "share/tesseract-ocr", "share/poppler", "share/fonts"];

pub(crate) fn limits() -> Limits {
    Limits {
        memory: MEMORY,
        cpu_seconds: 900,
        // Of what tesseract writes for itself, where the system has no rules for files.
        file_bytes: 100_000_000,
        open_files: 64,
        may_start_programs: true,
        files: FileRules { read: readable(), write: vec!["/dev/null".into()] },
    }
}

fn readable() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    files.extend(var_os("TESSDATA_PREFIX").map(PathBuf::from));
    let folders: Vec<PathBuf> = var_os("PATH").iter().flat_map(split_paths).collect();
    for program in PROGRAMS {
        let there = folders.iter().map(|folder| folder.join(program)).find(|path| path.is_file());
        files.extend(there.iter().flat_map(|path| of_program(path)));
    }
    files
}

/// A program with what belongs to it, also where it is a link to.
fn of_program(path: &Path) -> Vec<PathBuf> {
    let mut files = vec![];
    for path in [Some(path.to_owned()), path.canonicalize().ok()].into_iter().flatten() {
        let prefix = path.parent().and_then(Path::parent).map(Path::to_owned);
        files.extend(prefix.iter().flat_map(|own| BELOW_PREFIX.iter().map(|part| own.join(part))));
        files.push(path);
    }
    files
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Command, Stdio};

    use halma_worker::{Confinement, Requests, confinement};

    use super::*;

    /// The folder in which the other process tries what it may do.
    const FOLDER: &str = "HALMA_TEST_FOLDER";

    #[test]
    #[expect(clippy::print_stdout, reason = "read by the test that started it")]
    fn a_confined_reader() {
        // Only in a process of its own, which the test below starts.
        let Some(folder) = var_os(FOLDER).map(PathBuf::from) else { return };
        let _requests = Requests::open(&limits()).unwrap();
        let read = |path: &Path| std::fs::read(path).is_ok();
        let run = |line: &str| {
            let shell = Command::new("sh").args(["-c", line]).output();
            shell.is_ok_and(|output| output.status.success())
        };
        let environment = format!("/proc/{}/environ", std::os::unix::process::parent_id());
        for (what, worked) in [
            ("runs tesseract", run("tesseract && echo > /dev/null")),
            ("reads a model", read(&folder.join("share/tessdata/eng.traineddata"))),
            ("reads another file", read(&folder.join("secret"))),
            ("reads the accounts", read(Path::new("/etc/passwd"))),
            ("reads the keys of its parent", read(Path::new(&environment))),
            ("writes a file", std::fs::write(folder.join("new"), "new").is_ok()),
        ] {
            println!("{what}: {worked}");
        }
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "a skipped test says so")]
    fn a_reader_uses_what_ocr_needs_and_nothing_else() {
        if confinement() == Confinement::None {
            println!("skipped: this system has no rules for files of workers");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (program, models) =
            (folder.path().join("bin/tesseract"), folder.path().join("share/tessdata"));
        std::fs::create_dir_all(folder.path().join("bin")).unwrap();
        std::fs::create_dir_all(&models).unwrap();
        std::fs::write(&program, "#!/bin/sh\nexit 0\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::write(models.join("eng.traineddata"), "a model").unwrap();
        std::fs::write(folder.path().join("secret"), "a key").unwrap();
        let paths = var_os("PATH").unwrap();
        let paths = std::iter::once(folder.path().join("bin")).chain(split_paths(&paths));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "ocr::limits::tests::a_confined_reader", "--nocapture"])
            .env(FOLDER, folder.path())
            .env("PATH", std::env::join_paths(paths).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // At the end of its input it would end.
        let input = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(input);
        let output = String::from_utf8(output.stdout).unwrap();
        for (what, expected) in [
            ("runs tesseract", true),
            ("reads a model", true),
            ("reads another file", false),
            ("reads the accounts", false),
            ("reads the keys of its parent", false),
            ("writes a file", false),
        ] {
            assert!(output.contains(&format!("{what}: {expected}\n")), "{what}: {output}");
        }
    }
}
