//! Why a build failed, in words for clients: what a disk refused is named, with its place below the
//! folder of the base; all else as in any other response.
use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;

use halma_engine::{EngineError, KbError};

use crate::problem::Problem;

/// What an operator can do about a file.
enum FileFailure {
    Full,
    Denied,
}

/// `base` is the folder of the base. Paths outside of it are not shown.
pub(super) fn describe_failure(error: EngineError, base: &Path) -> String {
    let Some(failure) = causes(&error).find_map(file_failure) else {
        return Problem::from(error).detail;
    };
    tracing::error!("a build failed: {error}");
    let place = causes(&error).find_map(place_of).map(|path| name_below(base, path));
    let place = place.unwrap_or_else(|| "a file of the base".to_owned());
    match failure {
        FileFailure::Full => format!(
            "the disk is full: {place} cannot be written; free some space on the server and resume \
             the build: what was finished is kept"
        ),
        FileFailure::Denied => format!(
            "the server may not use {place}: check its permissions and those of its folder, and \
             resume the build: what was finished is kept"
        ),
    }
}

/// An error, and what has caused it.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let next = |error: &&'a (dyn Error + 'static)| {
        let error: &'a (dyn Error + 'static) = *error;
        match error.downcast_ref::<io::Error>() {
            // Its own `source` passes over the error that it holds.
            Some(holder) => holder.get_ref().map(|inner| inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    };
    std::iter::successors(Some(error), next)
}

fn file_failure(error: &(dyn Error + 'static)) -> Option<FileFailure> {
    use io::ErrorKind::{
        FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    let shared = || error.downcast_ref::<Arc<io::Error>>().map(|error| &**error);
    match error.downcast_ref::<io::Error>().or_else(shared)?.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => Some(FileFailure::Full),
        PermissionDenied | ReadOnlyFilesystem => Some(FileFailure::Denied),
        _ => None,
    }
}

fn place_of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Path> {
    let of_base = |error: &'a KbError| match error {
        KbError::Io { path, .. } => Some(path.as_path()),
        KbError::NoSpace { dir, .. }
        | KbError::Lexical { dir, .. }
        | KbError::Store { dir, .. } => Some(dir.as_path()),
        _ => None,
    };
    match error.downcast_ref::<EngineError>() {
        Some(EngineError::File { path, .. }) => Some(path),
        // Transparent: what it holds is not among its causes.
        Some(EngineError::Kb(error)) => of_base(error),
        _ => of_base(error.downcast_ref::<KbError>()?),
    }
}

fn name_below(base: &Path, path: &Path) -> String {
    match path.strip_prefix(base) {
        Ok(below) if below.as_os_str().is_empty() => "the folder of the base".to_owned(),
        Ok(below) => format!("`{}`", super::worker::slashed(below)),
        Err(_) => "a file outside of the base".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    fn describe(error: impl Into<EngineError>) -> String {
        describe_failure(error.into(), Path::new("/srv/base"))
    }

    #[test]
    fn a_full_disk_is_reported_with_its_place_and_what_to_do() {
        let full = || io::Error::from(ErrorKind::StorageFull);
        let file = |path: &str| EngineError::File { path: path.into(), source: full() };
        let said = describe(file("/srv/base/files/a.md"));
        assert_eq!(
            said,
            "the disk is full: `files/a.md` cannot be written; free some space on the server and \
             resume the build: what was finished is kept"
        );
        let dir = "/srv/base".into();
        let said = describe(KbError::NoSpace { dir, source: full() });
        assert!(said.starts_with("the disk is full: the folder of the base "), "{said}");
        let said = describe(file("/tmp/secret/x"));
        assert!(said.contains("full") && !said.contains("secret"), "{said}");
    }

    #[test]
    fn a_full_disk_is_found_below_other_errors() {
        let full = || io::Error::from(ErrorKind::QuotaExceeded);
        let (path, doing) = ("/srv/base/store/data.mdb".into(), "write");
        let inner = KbError::Io { path, doing, source: io::Error::other(full()) };
        let run = halma_core::Error::Knowledge(Box::new(inner));
        let said = describe(EngineError::Run(run));
        assert!(said.starts_with("the disk is full: `store/data.mdb` "), "{said}");
        let said = describe(EngineError::Cache(Box::new(full())));
        assert!(said.starts_with("the disk is full: a file of the base "), "{said}");
    }

    #[test]
    fn a_file_that_may_not_be_written_is_named_and_other_errors_stay_internal() {
        let file = |kind: ErrorKind| EngineError::File {
            path: "/srv/base/files/a.md".into(),
            source: io::Error::from(kind),
        };
        let said = describe(file(ErrorKind::PermissionDenied));
        assert!(said.starts_with("the server may not use `files/a.md`: check "), "{said}");
        assert_eq!(describe(file(ErrorKind::InvalidData)), "an internal error occurred");
    }
}
