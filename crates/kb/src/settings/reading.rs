//! How files are read.
use std::path::Path;

use halma_parse::ParseOptions;
use serde::{Deserialize, Serialize};

/// Files from this size on are refused: they are read into memory whole.
pub(crate) const LARGEST: u64 = 200_000_000;

/// The `[kb.reading]` table of the configuration. It may change from run to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReadingSettings {
    /// Seconds for one file, scans included.
    pub seconds: usize,
    /// Whether pictures and scanned pages are read by tesseract, if it is installed.
    pub ocr: bool,
    /// The languages that tesseract expects, as in `eng+deu`.
    pub ocr_languages: String,
}

impl Default for ReadingSettings {
    fn default() -> Self {
        let ParseOptions { ocr, ocr_languages, .. } = ParseOptions::default();
        Self { seconds: 10, ocr, ocr_languages }
    }
}

impl ReadingSettings {
    pub(crate) fn options(&self) -> ParseOptions {
        ParseOptions {
            ocr: self.ocr,
            ocr_languages: self.ocr_languages.clone(),
            seconds: self.seconds as u64,
            max_bytes: LARGEST,
        }
    }

    /// Names what decides how scans are read.
    pub(crate) fn ocr_fingerprint(&self) -> String {
        format!("{} {}", self.ocr, self.ocr_languages)
    }

    /// Names what decides how much of a file is read that was not read whole.
    pub(crate) fn effort(&self) -> String {
        let programs = halma_parse::ocr_programs();
        let names = programs.iter().filter_map(|path| Path::file_name(path));
        let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
        format!("{} {}", self.seconds, names.join(" "))
    }
}
