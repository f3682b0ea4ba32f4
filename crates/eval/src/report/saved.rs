//! A report as files: `report.json`, `report.md` and `report.html` in the output folder.
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{REPORT_VERSION, Report};
use crate::EvalError;
use crate::html::Details;

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
            let (found, known) = (format_version, REPORT_VERSION);
            return Err(EvalError::ReportVersion { file, found, known });
        }
        serde_json::from_slice(&bytes).map_err(bad)
    }

    /// Writes `report.json`, `report.md` and, with the answers and traces that lie in the folder,
    /// `report.html`; returns the page's path.
    pub fn save(&self, out: &Path) -> Result<PathBuf, EvalError> {
        self.save_json(out)?;
        write(&out.join("report.md"), self.markdown().as_bytes())?;
        let page = out.join("report.html");
        write(&page, self.html(&Details::read(out, self)?).as_bytes())?;
        Ok(page)
    }

    pub(crate) fn save_json(&self, out: &Path) -> Result<(), EvalError> {
        let file = out.join("report.json");
        let bytes = serde_json::to_vec_pretty(self).map_err(|error| EvalError::File {
            file: file.clone(),
            doing: "the report cannot be written",
            source: error.into(),
        })?;
        write(&file, &bytes)
    }
}

/// Beside first, so that a killed run leaves the file before it whole.
fn write(file: &Path, bytes: &[u8]) -> Result<(), EvalError> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(".new");
    std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, file)).map_err(|source| {
        EvalError::File { file: file.into(), doing: "the report cannot be written", source }
    })
}
