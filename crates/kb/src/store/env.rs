//! Opening and resizing the LMDB environment: the one place with `unsafe`, because LMDB maps a file.
#![expect(unsafe_code, reason = "heed marks opening a memory-mapped environment as unsafe")]
use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

use heed::{Env, EnvFlags, EnvOpenOptions, Error, WithoutTls};

const GIB: usize = 1 << 30;

/// Views of the store at a time, in all processes: more than the threads that a server and several
/// commands have. Each takes 64 bytes of the lock file.
const MAX_READERS: u32 = 4096;

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    /// For folders that cannot be written to.
    Read,
    /// With a map of this many bytes, which is all that the file may grow to.
    #[cfg(test)]
    Small(usize),
    /// With a map of this many bytes, which grows.
    #[cfg(test)]
    Growing(usize),
}

impl Access {
    /// Whether the map may grow.
    pub(super) fn grows(self) -> bool {
        match self {
            Self::Write => true,
            Self::Read => false,
            #[cfg(test)]
            Self::Small(_) => false,
            #[cfg(test)]
            Self::Growing(_) => true,
        }
    }
}

/// Opens the environment with the largest map the address space gives, 64 GiB at most unless the
/// file is larger already. The file itself only grows with what is written.
pub(super) fn open(dir: &Path, access: Access) -> heed::Result<Env<WithoutTls>> {
    let file_size = std::fs::metadata(dir.join("data.mdb")).map_or(0, |file| file.len());
    let file_size = usize::try_from(file_size).unwrap_or(usize::MAX / 4);
    let least = GIB.max(file_size.saturating_mul(2)).next_multiple_of(GIB);
    let mut size = least.max(64 * GIB);
    #[cfg(test)]
    if let Access::Small(bytes) | Access::Growing(bytes) = access {
        return open_with(dir, bytes, EnvFlags::NO_META_SYNC);
    }
    let mut flags =
        if access == Access::Read { EnvFlags::READ_ONLY } else { EnvFlags::NO_META_SYNC };
    loop {
        match open_with(dir, size, flags) {
            Err(Error::Io(e)) if e.kind() == ErrorKind::OutOfMemory && size > least => {
                size = (size / 2).max(least);
            }
            // The lock file cannot be opened either. A process that may not write to the folder
            // cannot detect a writer, so a base that is being written to must not be read like this.
            Err(Error::Io(e))
                if e.kind() == ErrorKind::PermissionDenied && flags == EnvFlags::READ_ONLY =>
            {
                flags |= EnvFlags::NO_LOCK;
            }
            other => return other,
        }
    }
}

fn open_with(dir: &Path, size: usize, flags: EnvFlags) -> heed::Result<Env<WithoutTls>> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(size).max_dbs(64).max_readers(MAX_READERS);
    // SAFETY: the folder is ours, LMDB's own lock file keeps processes apart, and no one
    // truncates `data.mdb` while it is mapped. `NO_META_SYNC` keeps the file consistent: a
    // power failure may undo the last commit, which `index` then repeats. `NO_LOCK` goes with
    // `READ_ONLY` and only where the lock file cannot be opened.
    unsafe { options.flags(flags).open(dir) }
}

/// Whether three quarters of the map are used.
pub(super) fn is_nearly_full(env: &Env<WithoutTls>) -> bool {
    let page = env.unnamed_database_stat().page_size as usize;
    let info = env.info();
    info.last_page_number.saturating_mul(page) > info.map_size / 4 * 3
}

/// Doubles the map. The caller makes sure that no transaction of this process is open.
pub(super) fn double(env: &Env<WithoutTls>) -> heed::Result<()> {
    let size = env.info().map_size.saturating_mul(2);
    // SAFETY: `growth` keeps transactions out meanwhile.
    unsafe { env.resize(size) }
}

/// Maps the file in the size that another process has given it. The caller makes sure that no
/// transaction of this process is open.
pub(super) fn follow(env: &Env<WithoutTls>) -> heed::Result<()> {
    // SAFETY: `growth` keeps transactions out meanwhile.
    unsafe { env.resize(0) }
}

/// Writes as far out as the store would, to a file that is removed again: a disk that is full says
/// so.
pub(super) fn probe(dir: &Path) -> io::Result<()> {
    let end = std::fs::metadata(dir.join("data.mdb"))?.len();
    let path = dir.join("probe");
    let mut file = File::create(&path)?;
    let written = file
        .seek(SeekFrom::Start(end))
        .and_then(|_| file.write_all(&vec![1; 1 << 20]))
        .and_then(|()| file.sync_data());
    std::fs::remove_file(&path)?;
    written
}
