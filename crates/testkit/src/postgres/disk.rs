//! A disk that is soon full, for tables of a server of the tests.
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::programs::{NOBODY, run};
use super::{Postgres, random};

/// A file system in memory with a tablespace in it. It is there until the value is dropped.
pub struct SmallDisk {
    folder: PathBuf,
    /// The name of the tablespace.
    pub tablespace: String,
}

impl Postgres {
    /// A disk of so many MiB, or `None` with the reason on standard error where the tests may not
    /// mount one.
    ///
    /// # Panics
    ///
    /// If the server does not take it.
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    pub fn small_disk(&self, mebibytes: u32) -> Option<SmallDisk> {
        let name = format!("small_{}", random());
        let folder = std::env::temp_dir().join(format!("halma-{name}"));
        std::fs::create_dir(&folder).unwrap();
        let size = format!("size={mebibytes}m");
        if let Err(reason) = mount(&["-t", "tmpfs", "-o", &size, "none"], &folder) {
            std::fs::remove_dir(&folder).unwrap();
            eprintln!("warning: skipped, because a small disk cannot be mounted: {reason}");
            return None;
        }
        let disk = SmallDisk { folder, tablespace: name };
        chown(&disk.folder, Some(NOBODY), Some(NOBODY)).unwrap();
        let SmallDisk { folder, tablespace } = &disk;
        let place = folder.display();
        self.psql("postgres", &format!("create tablespace {tablespace} location '{place}'"));
        self.psql("postgres", &format!("grant create on tablespace {tablespace} to public"));
        Some(disk)
    }
}

impl SmallDisk {
    /// Leaves no room.
    ///
    /// # Panics
    ///
    /// If it cannot be written to.
    pub fn fill(&self) {
        let mut file = File::create(self.filler()).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
    }

    /// Gives back what [`SmallDisk::fill`] took.
    ///
    /// # Panics
    ///
    /// If it was not called.
    pub fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }

    /// Makes it larger.
    ///
    /// # Panics
    ///
    /// If that is refused.
    pub fn grow(&self, mebibytes: u32) {
        mount(&["-o", &format!("remount,size={mebibytes}m")], &self.folder).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The server may still have files of it open.
        let _ = run(Command::new("umount").arg("-l").arg(&self.folder));
        let _ = std::fs::remove_dir(&self.folder);
    }
}

fn mount(options: &[&str], folder: &Path) -> Result<(), String> {
    run(Command::new("mount").args(options).arg(folder)).map(drop)
}
