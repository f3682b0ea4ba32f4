//! The report as a file: `report.json` in the output folder.
use std::path::Path;

use serde::Deserialize;

use super::model::{REPORT_VERSION, Report};
use crate::error::EvalError;
use crate::journal::write_json;

/// The file of a report in its folder.
const REPORT: &str = "report.json";

#[derive(Deserialize)]
struct Versioned {
    format_version: u32,
}

/// What of a report says whether another one may replace it.
#[derive(Deserialize)]
struct OfDataSet {
    dataset: String,
}

impl Report {
    /// Refuses a folder that has the report of another data set, which a run would replace. One that
    /// cannot be read, or of another version, is rewritten by a run.
    pub fn check_folder(out: &Path, questions: &str) -> Result<(), EvalError> {
        let Ok(bytes) = std::fs::read(out.join(REPORT)) else { return Ok(()) };
        match serde_json::from_slice::<OfDataSet>(&bytes) {
            Ok(OfDataSet { dataset: existing }) if existing != questions => {
                let questions = questions.to_owned();
                Err(EvalError::OtherReport { out: out.to_owned(), existing, questions })
            }
            _ => Ok(()),
        }
    }

    /// Reads `report.json`, or the one in a folder.
    pub fn open(path: &Path) -> Result<Self, EvalError> {
        let file = if path.is_dir() { path.join(REPORT) } else { path.to_owned() };
        let bytes = std::fs::read(&file)
            .map_err(|source| EvalError::NoReport { file: file.clone(), source })?;
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
        let file = out.join(REPORT);
        write_json(&file, "the report cannot be written", serde_json::to_vec_pretty(self))
    }
}
