//! Finding the input files and loading them: folders in order, every folder once; hidden files, the
//! configuration and what a folder leaves out are not read; a file that changes while it is read is
//! distinguished from one that does not.
mod ignored;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use halma_core::text::composed;

use self::ignored::IgnoreRules;
use super::fields::is_metadata_file;
use super::selection::Selection;
use super::{Refusal, Refused, refusal};
use crate::KbError;
use crate::settings::LARGEST;
use crate::store::FileStamp;

/// A file that was written more recently than this may be written once more without a change of
/// its stamp: the coarsest clock of a file system counts two seconds.
const SETTLED_AFTER: Duration = Duration::from_secs(3);

/// Between a file and what is attached to it, in the origin of a document: no path has it.
const ATTACHED: &str = "//";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputFile {
    pub(crate) path: PathBuf,
    /// Its path below the folder that was given, with `/`, composed.
    pub(crate) name: String,
    /// Where it lies, from the root of the file system on.
    pub(crate) origin: String,
    pub(crate) bytes: u64,
}

impl InputFile {
    /// A file that is attached to this one.
    pub(crate) fn attached(&self, name: &str, bytes: usize) -> Self {
        Self {
            path: self.path.clone(),
            name: format!("{}/{name}", self.name),
            origin: [&self.origin, ATTACHED, name].concat(),
            bytes: bytes as u64,
        }
    }

    /// How many files this one is inside of.
    pub(crate) fn depth(&self) -> usize {
        self.origin.get(2..).unwrap_or_default().matches(ATTACHED).count()
    }
}

/// Where the file itself lies that a document comes from: the mail, of what is attached to one.
pub(crate) fn file_of(origin: &str) -> &str {
    // Some systems begin the path of a disk with it.
    let at = origin.get(2..).and_then(|rest| rest.find(ATTACHED));
    at.map_or(origin, |at| &origin[..at + 2])
}

/// What the inputs hold.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) files: Vec<InputFile>,
    pub(crate) refused: Vec<Refused>,
    /// The folders among the inputs.
    pub(crate) roots: Vec<Root>,
    /// Folders that could not be looked into, as in [`InputFile::origin`].
    pub(crate) closed: Vec<String>,
}

/// A folder that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    pub(crate) path: PathBuf,
    /// As in [`InputFile::origin`], with a `/` at its end.
    pub(crate) origin: String,
    /// Whether there is any file in it, read or not.
    pub(crate) exists: bool,
}

/// The files of the inputs in order. `base_dir` is the base's folder, which is never read.
pub(crate) fn walk(
    inputs: &[PathBuf],
    base_dir: &Path,
    selection: &Selection,
) -> Result<Walked, KbError> {
    let mut walk = FolderWalk {
        seen: HashSet::new(),
        selection,
        rules: IgnoreRules::default(),
        exists: false,
        walked: Walked::default(),
    };
    // A folder that was seen is not entered: that goes for the base itself and for loops.
    walk.seen.extend(base_dir.canonicalize());
    for input in inputs {
        if std::fs::symlink_metadata(input).is_err() {
            return Err(KbError::NoInput { path: input.clone() });
        }
        let real = input.canonicalize().unwrap_or_else(|_| input.clone());
        if input.is_dir() {
            let origin = origin_of(&real);
            let again = walk.seen.contains(&real);
            walk.exists = again;
            walk.folder(input, "", &origin);
            let (path, exists) = (input.clone(), walk.exists);
            walk.walked.roots.push(Root { path, origin, exists });
        } else if selection.is_configuration(input) {
            walk.walked.refused.push(Refused::new(input, None, configuration_refusal()));
        } else {
            let name = display(input.file_name().unwrap_or(input.as_os_str()));
            walk.file(input, composed(&name), display(real.as_os_str()));
        }
    }
    Ok(walk.walked)
}

struct FolderWalk<'a> {
    seen: HashSet<PathBuf>,
    selection: &'a Selection,
    rules: IgnoreRules,
    exists: bool,
    walked: Walked,
}

impl FolderWalk<'_> {
    /// `prefix` and `origin` are the name and the origin of the folder, with a `/`.
    fn folder(&mut self, folder: &Path, prefix: &str, origin: &str) {
        let entered = folder.canonicalize().and_then(|real| {
            let fresh = self.seen.insert(real);
            Ok((fresh, std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?))
        });
        let entries = match entered {
            Ok((true, entries)) => entries,
            Ok((false, _)) => return,
            Err(e) => {
                let refusal =
                    refusal(format!("the folder cannot be read: {e}"), "check that it may be read");
                self.walked.closed.push(origin.to_owned());
                return self.walked.refused.push(Refused::new(folder, None, refusal));
            }
        };
        let with_name = |entry: DirEntry| {
            let name = entry.file_name();
            (composed(&display(&name)), name)
        };
        let mut names: Vec<_> = entries.into_iter().map(with_name).collect();
        names.sort_unstable();
        if let Err(refusal) = self.rules.enter(folder) {
            self.walked.closed.push(origin.to_owned());
            return self.walked.refused.push(Refused::new(folder, None, refusal));
        }
        for (at, (name, written)) in names.iter().enumerate() {
            if name.starts_with('.') {
                continue;
            }
            let (path, written) = (folder.join(written), display(written));
            let is_twin = |at: usize| names.get(at).is_some_and(|(other, _)| other == name);
            let follows_twin = at > 0 && is_twin(at - 1);
            if follows_twin {
                let file = path.display();
                tracing::warn!(
                    "`{file}`: the folder has this name twice, with accents encoded in two ways; both \
                     are read: rename one to tell them apart"
                );
            }
            let name = if follows_twin || is_twin(at + 1) { &written } else { name };
            let (below, origin) = (format!("{prefix}{name}"), format!("{origin}{written}"));
            let is_folder = path.is_dir();
            self.exists |= !is_folder;
            if self.selection.leaves(&below) {
                continue;
            }
            if let Some(refusal) = self.rules.refusal(&path, is_folder) {
                self.walked.refused.push(Refused::new(&path, None, refusal));
                continue;
            }
            if is_folder {
                self.folder(&path, &format!("{below}/"), &format!("{origin}/"));
                continue;
            }
            // The fields of a file are read with it.
            let is_read = self.selection.takes(&below) && !is_metadata_file(&below);
            if is_read && !self.selection.is_configuration(&path) {
                self.file(&path, below, origin);
            }
        }
        self.rules.leave();
    }

    /// Whether it can be read is found out when it is.
    fn file(&mut self, path: &Path, name: String, origin: String) {
        let bytes = std::fs::metadata(path).map_or(0, |about| about.len());
        self.walked.files.push(InputFile { path: path.to_owned(), name, origin, bytes });
    }
}

fn configuration_refusal() -> Refusal {
    refusal(
        "it is the configuration file in use, which may hold passwords and keys, and answers quote \
         what is indexed",
        "leave it out, or index a copy without what is secret",
    )
}

/// A path as it is shown: bytes that are no UTF-8 and control characters are written as escapes,
/// so that different names stay different and a name stays on one line.
/// A folder as in [`InputFile::origin`], with a `/` at its end.
pub(crate) fn origin_of(folder: &Path) -> String {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    format!("{}/", display(real.as_os_str()).trim_end_matches('/'))
}

fn display(path: &OsStr) -> String {
    let mut shown = String::new();
    for chunk in path.as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() {
                shown.extend(c.escape_default());
            } else {
                shown.push(c);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

impl InputFile {
    /// The file's bytes. One that changes meanwhile is read a second time and then refused.
    pub(crate) fn load(&self) -> Result<Vec<u8>, Refusal> {
        self.load_with(|| ())
    }

    /// [`InputFile::load`]; `between` is called when the bytes are there and before it is checked
    /// whether they still are what the file holds.
    fn load_with(&self, mut between: impl FnMut()) -> Result<Vec<u8>, Refusal> {
        for _ in 0..2 {
            let before = self.state()?;
            if before.bytes >= LARGEST {
                let (megabytes, limit) = (before.bytes / 1_000_000, LARGEST / 1_000_000);
                return Err(refusal(
                    format!("it has {megabytes} MB; at most {limit} MB are read"),
                    "split it into smaller files",
                ));
            }
            let bytes = std::fs::read(&self.path).map_err(|e| unreadable(&e))?;
            between();
            if self.state()? == before && bytes.len() as u64 == before.bytes {
                return Ok(bytes);
            }
        }
        Err(refusal("it changes while it is read", "index again when it is finished"))
    }

    fn state(&self) -> Result<FileState, Refusal> {
        let about = std::fs::metadata(&self.path).map_err(|e| unreadable(&e))?;
        if !about.is_file() {
            return Err(refusal("it is not a regular file", "give files and folders only"));
        }
        Ok(FileState { bytes: about.len(), changed: about.modified().ok() })
    }
}

/// What the file system says of a file; `None` where that does not tell whether its bytes change
/// from now on, and on systems that do not say when anything about a file has changed.
pub(crate) fn stamp_of(path: &Path) -> Option<FileStamp> {
    let about = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    stamp_at(&about, SystemTime::now())
}

#[cfg(unix)]
fn stamp_at(about: &std::fs::Metadata, now: SystemTime) -> Option<FileStamp> {
    use std::os::unix::fs::MetadataExt as _;
    let nanoseconds =
        |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    let modified = nanoseconds(about.mtime(), about.mtime_nsec());
    let changed = nanoseconds(about.ctime(), about.ctime_nsec());
    let settled = now.duration_since(SystemTime::UNIX_EPOCH).ok()?.checked_sub(SETTLED_AFTER)?;
    let settled = i128::try_from(settled.as_nanos()).ok()?;
    let stamp = FileStamp {
        bytes: about.len(),
        modified,
        changed,
        inode: about.ino(),
        device: about.dev(),
    };
    (modified.max(changed) < settled).then_some(stamp)
}

#[cfg(not(unix))]
fn stamp_at(_: &std::fs::Metadata, _: SystemTime) -> Option<FileStamp> {
    None
}

fn unreadable(e: &std::io::Error) -> Refusal {
    refusal(format!("it cannot be read: {e}"), "check that it exists and may be read")
}

/// What is different when a file has changed.
#[derive(PartialEq, Eq)]
struct FileState {
    bytes: u64,
    changed: Option<SystemTime>,
}

#[cfg(test)]
mod tests;
