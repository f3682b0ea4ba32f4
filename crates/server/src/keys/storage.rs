//! Where the keys of a base are: in a file of its folder, or, of a base that is shared, in its
//! database, where all servers find them.
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use halma_engine::{SharedSpace, replace_prepared_file};

use super::KeysError;

/// The kind of the entry in the database, and its id.
pub(crate) const KEY_ENTRIES: &str = "keys";
const ID: &str = "all";

#[derive(Clone)]
pub(super) enum Storage {
    File(PathBuf),
    Database(SharedSpace),
}

/// Which contents these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamp {
    /// Time of the last change, and size.
    File(SystemTime, u64),
    Version(u64),
}

/// Contents with their stamp.
pub(super) struct Stamped {
    pub(super) stamp: Stamp,
    pub(super) text: Vec<u8>,
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl Storage {
    /// As it is called in messages.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Database(space) => space.name().to_owned(),
        }
    }

    pub(super) fn exists(&self) -> Result<bool, KeysError> {
        match self {
            Self::File(path) => Ok(path.exists()),
            Self::Database(_) => Ok(self.read()?.is_some()),
        }
    }

    /// The contents; `None` where there never was a key.
    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, KeysError> {
        match self {
            Self::File(path) => match std::fs::read(path) {
                Ok(text) => Ok(Some(text)),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(source) => Err(KeysError::File { path: path.clone(), source }),
            },
            Self::Database(space) => Ok(read_entry(space)?.map(|stamped| stamped.text)),
        }
    }

    /// The stamp of the file; `None` where there is none.
    pub(super) fn file_stamp(path: &Path) -> Option<Stamp> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Stamp::File(metadata.modified().ok()?, metadata.len()))
    }

    /// Puts other contents in the place of those that `change` is given; one change happens at a
    /// time. It may be asked again where others change them as well.
    pub(super) fn change(
        &self,
        change: impl Fn(Option<Vec<u8>>) -> Result<Vec<u8>, KeysError>,
    ) -> Result<(), KeysError> {
        match self {
            Self::File(path) => change_file(path, || change(self.read()?)),
            Self::Database(space) => loop {
                let (version, former) = match read_entry(space)? {
                    Some(Stamped { stamp: Stamp::Version(version), text }) => (version, Some(text)),
                    _ => (0, None),
                };
                let text = change(former)?;
                let states = space.home().states();
                let put = async move { states.put(KEY_ENTRIES, ID, version, &text).await };
                if space.wait(put)?.is_some() {
                    return Ok(());
                }
            },
        }
    }
}

/// What has changed in the database since these contents: one short question.
pub(super) fn newer(
    space: &SharedSpace,
    known: Option<Stamp>,
) -> Result<Option<Stamped>, KeysError> {
    let version = match known {
        Some(Stamp::Version(version)) => version,
        _ => 0,
    };
    let states = space.home().states();
    let changed = space.wait(async move { states.changed_since(KEY_ENTRIES, version).await })?;
    let last = changed.into_iter().next_back();
    Ok(last.map(|entry| Stamped {
        stamp: Stamp::Version(entry.version),
        text: entry.bytes.unwrap_or_default(),
    }))
}

fn read_entry(space: &SharedSpace) -> Result<Option<Stamped>, KeysError> {
    let states = space.home().states();
    let entry = space.wait(async move { states.get(KEY_ENTRIES, ID).await })?;
    Ok(entry.map(|entry| Stamped {
        stamp: Stamp::Version(entry.version),
        text: entry.bytes.unwrap_or_default(),
    }))
}

fn change_file(
    path: &Path,
    change: impl FnOnce() -> Result<Vec<u8>, KeysError>,
) -> Result<(), KeysError> {
    let failed = |source| KeysError::File { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    // The server and a command may change the file at the same time.
    let lock_file = path.with_extension("lock");
    let lock = std::fs::File::create(&lock_file).map_err(failed)?;
    // One of another user who may write to it is used as it is.
    #[cfg(unix)]
    let _ = give_to_server(&lock_file, path, folder);
    lock.lock().map_err(failed)?;
    let text = change()?;
    #[cfg(unix)]
    let prepare = |new: &Path| give_to_server(new, path, folder);
    #[cfg(not(unix))]
    let prepare = |_: &Path| Ok(());
    replace_prepared_file(path, &text, prepare).map_err(failed)
}

/// Gives a file the owner of the one whose place it takes, or of the folder, and the permissions of
/// the former: a command that root runs must not lock out the server, which may run as another user.
#[cfg(unix)]
fn give_to_server(file: &Path, former: &Path, folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let former = former.metadata();
    if let Ok(former) = &former {
        std::fs::set_permissions(file, former.permissions())?;
    }
    let wanted = former.or_else(|_| folder.metadata())?;
    let own = file.metadata()?;
    if own.uid() == wanted.uid() {
        return Ok(());
    }
    chown(file, Some(wanted.uid()), Some(wanted.gid()))
}
