//! Opening the LMDB environment: the one place with `unsafe`, because LMDB maps a file.
#![expect(unsafe_code, reason = "heed marks opening a memory-mapped environment as unsafe")]
use std::path::Path;

use heed::{Env, EnvFlags, EnvOpenOptions, Error, WithoutTls};

const GIB: usize = 1 << 30;

/// Opens the environment with the largest map the address space gives, 64 GiB at most unless the
/// file is larger already. The file itself only grows with what is written.
pub(super) fn open(dir: &Path) -> heed::Result<Env<WithoutTls>> {
    let held = std::fs::metadata(dir.join("data.mdb")).map_or(0, |file| file.len());
    let held = usize::try_from(held).unwrap_or(usize::MAX / 4);
    let least = GIB.max(held.saturating_mul(2)).next_multiple_of(GIB);
    let mut size = least.max(64 * GIB);
    loop {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(size).max_dbs(48).max_readers(510);
        // SAFETY: the folder is ours, LMDB's own lock file keeps processes apart, and nobody
        // truncates `data.mdb` while it is mapped. `NO_META_SYNC` keeps the file consistent: a
        // power failure may undo the last commit, which `index` then repeats.
        let opened = unsafe { options.flags(EnvFlags::NO_META_SYNC).open(dir) };
        match opened {
            Err(Error::Io(e)) if e.kind() == std::io::ErrorKind::OutOfMemory && size > least => {
                size = (size / 2).max(least);
            }
            other => return other,
        }
    }
}
