//! How much the uploaded files of a workspace may take.
use axum::http::StatusCode;

use crate::problem::Problem;

/// What the uploaded files of a workspace may still take. Requests at the same time do not know of
/// each other, so each may fill what is left.
pub(super) struct Quota {
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// Files and bytes.
    pub(super) limits: (u64, u64),
}

impl Quota {
    /// Counts a file, whose former version, if it had one, was of `replaced` bytes.
    pub(super) fn take(&mut self, bytes: u64, replaced: Option<u64>) -> Result<(), Problem> {
        let files = self.files + u64::from(replaced.is_none());
        let bytes = self.bytes.saturating_sub(replaced.unwrap_or_default()) + bytes;
        let (most_files, most_bytes) = self.limits;
        let (what, key) = if files > most_files {
            (format!("{most_files} files"), "serve.max_workspace_files")
        } else if bytes > most_bytes {
            (format!("{most_bytes} bytes of files"), "serve.max_workspace_bytes")
        } else {
            (self.files, self.bytes) = (files, bytes);
            return Ok(());
        };
        let detail = format!("the workspace may hold {what}, and there would be more");
        Err(Problem::new(StatusCode::INSUFFICIENT_STORAGE, detail).hint(format!(
            "delete documents, or raise `{key}`; files sent before this one are kept"
        )))
    }
}
