//! The files of the system that the programs for OCR need: all that a worker for reading may open.
use std::env::{split_paths, var_os};
use std::path::{Path, PathBuf};

use crate::worker::FileRules;

use super::PROGRAMS;

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

pub(crate) fn files() -> FileRules {
    FileRules { read: readable(), write: vec!["/dev/null".into()] }
}

fn readable() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    files.extend(var_os("TESSDATA_PREFIX").map(PathBuf::from));
    files.extend(programs().iter().flat_map(|path| of_program(path)));
    files
}

/// The programs for OCR that are installed.
pub(crate) fn programs() -> Vec<PathBuf> {
    let folders: Vec<PathBuf> = var_os("PATH").iter().flat_map(split_paths).collect();
    let installed = |program: &str| {
        folders.iter().map(|folder| folder.join(program)).find(|path| path.is_file())
    };
    PROGRAMS.into_iter().filter_map(installed).collect()
}

/// A program with what belongs to it, also where it is a link to.
fn of_program(path: &Path) -> Vec<PathBuf> {
    let mut files = vec![];
    for path in [Some(path.to_owned()), path.canonicalize().ok()].into_iter().flatten() {
        let prefix = path.parent().and_then(Path::parent).map(Path::to_owned);
        files.extend(prefix.iter().flat_map(|dir| BELOW_PREFIX.iter().map(|part| dir.join(part))));
        files.push(path);
    }
    files
}
