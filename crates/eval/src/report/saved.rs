//! The report as a file: `report.json` in the output folder.
use std::path::Path;

use serde::Deserialize;

use super::model::{REPORT_VERSION, Report};
use crate::error::EvalError;
use crate::files::write;

#[derive(Deserialize)]
struct Versioned {
    format_version: u32,
}

impl Report {
    /// Reads `report.json`, or the one in a folder.
    pub fn open(path: &Path) -> Result<Self, EvalError> {
        let file = if path.is_dir() { path.join("report.json") } else { path.to_owned() };
        let bytes = std::fs::read(&file).map_err(|source| EvalError::File {
            file: file.clone(),
            doing: "the report cannot be read",
            source,
        })?;
        let bad = |error: serde_json::Error| EvalError::BadReport {
            file: file.clone(),
            reason: error.to_string(),
        };
        let Versioned { format_version } = serde_json::from_slice(&bytes).map_err(bad)?;
        if format_version != REPORT_VERSION {
            let (given, supported) = (format_version, REPORT_VERSION);
            return Err(EvalError::ReportVersion { file, given, supported });
        }
        serde_json::from_slice(&bytes).map_err(bad)
    }

    pub(crate) fn save_json(&self, out: &Path) -> Result<(), EvalError> {
        let file = out.join("report.json");
        let bytes = serde_json::to_vec_pretty(self).map_err(|error| EvalError::File {
            file: file.clone(),
            doing: "the report cannot be written",
            source: error.into(),
        })?;
        write(&file, "the report cannot be written", &bytes)
    }
}
