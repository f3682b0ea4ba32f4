//! Reading and writing at a place of a file, and which file is at a path, on every system.
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Which file is at a path: another one has another identity. Where the system does not say it, it
/// is when the file was made.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileIdentity(u64, u64);
#[cfg(not(unix))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileIdentity(std::time::SystemTime);

impl FileIdentity {
    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "other systems may fail to say it")]
    pub(super) fn of(about: &Metadata) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;

        Ok(Self(about.dev(), about.ino()))
    }

    #[cfg(not(unix))]
    pub(super) fn of(about: &Metadata) -> io::Result<Self> {
        about.created().map(Self)
    }

    /// `None` where there is no file.
    pub(super) fn at(path: &Path) -> io::Result<Option<Self>> {
        match std::fs::metadata(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            about => Self::of(&about?).map(Some),
        }
    }
}

#[cfg(unix)]
pub(super) fn read_exact(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
pub(super) fn write_all(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
pub(super) fn read_exact(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}

#[cfg(windows)]
pub(super) fn write_all(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, at)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => {
                bytes = &bytes[written..];
                at += written as u64;
            }
        }
    }
    Ok(())
}
