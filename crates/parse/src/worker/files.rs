//! Which files a worker may use, where the system has rules for that: Landlock, since Linux 5.13.
//! Whatever takes a parser over finds no key, no base and no other process.
use std::path::PathBuf;

/// The files that a worker may use. All others are refused, those below `/proc` included.
#[derive(Debug, Clone, Default)]
pub struct FileRules {
    /// Files, and folders with everything in them, that may be read and run. What does not exist is
    /// left out.
    pub read: Vec<PathBuf>,
    /// Files and folders that may be written to as well.
    pub write: Vec<PathBuf>,
}

/// How far this system keeps workers from files and processes that are not theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// Files are refused, and signals to other processes.
    Full,
    /// Files are refused, but not everything that newer kernels refuse.
    Partial,
    None,
}

/// What this system does for workers. It is tried on a thread that ends with that.
pub fn confinement() -> Confinement {
    let tried = std::thread::Builder::new().spawn(|| FileRules::default().apply());
    tried.ok().and_then(|thread| thread.join().ok()).unwrap_or(Confinement::None)
}

impl FileRules {
    /// Applies the rules to this thread and those that it starts, as far as the system knows them.
    #[cfg(target_os = "linux")]
    pub(crate) fn apply(&self) -> Confinement {
        use landlock::RulesetStatus;

        match self.restrict().map(|status| status.ruleset) {
            Ok(RulesetStatus::FullyEnforced) => Confinement::Full,
            Ok(RulesetStatus::PartiallyEnforced) => Confinement::Partial,
            Ok(_) | Err(_) => Confinement::None,
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn apply(&self) -> Confinement {
        Confinement::None
    }

    #[cfg(target_os = "linux")]
    fn restrict(&self) -> Result<landlock::RestrictionStatus, landlock::RulesetError> {
        use landlock::{
            ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
            path_beneath_rules,
        };

        // What Linux 6.12 knows; an older kernel takes what it knows of it.
        let newest = ABI::V6;
        Ruleset::default()
            .handle_access(AccessFs::from_all(newest))?
            .scope(Scope::from_all(newest))?
            .create()?
            .add_rules(path_beneath_rules(&self.read, AccessFs::from_read(newest)))?
            .add_rules(path_beneath_rules(&self.write, AccessFs::from_all(newest)))?
            .restrict_self()
    }
}
