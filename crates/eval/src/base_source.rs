//! Which question file a pooled base was built from, recorded in its folder: questions measured on
//! the passages of another file would score low for no reason that a report shows.
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use halma_core::UsageTotal;
use serde::{Deserialize, Serialize};

use crate::components::Atomizing;
use crate::error::EvalError;
use crate::journal::write_json;

/// A file of questions, by name and content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file's name without its folder.
    pub file: String,
    /// blake3 of its bytes, in hexadecimal.
    pub hash: String,
    pub bytes: u64,
}

/// What is known of the base that is about to be measured with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// There was none yet; it is this file's from now on.
    New,
    /// It was built from this very file.
    Same,
    /// It was built from something else, named here, and that was forced. It stays as it is.
    Forced { built_from: String },
    /// It was made by hand (`halma index`) or by an older Halma: its origin is unknown.
    Unmarked,
}

/// `questions.json` in the folder of the base.
#[derive(Serialize, Deserialize)]
struct Marker {
    version: u32,
    source: Source,
    /// What all runs of `index` for it took together.
    indexing: Atomizing,
}

const MARKER_VERSION: u32 = 1;

impl Source {
    pub fn read(file: &Path) -> Result<Self, EvalError> {
        let fail = EvalError::file(file, "the questions cannot be read");
        let open = File::open(file).map_err(&fail)?;
        let bytes = open.metadata().map_err(&fail)?.len();
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(BufReader::new(open)).map_err(fail)?;
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        Ok(Self { file: name, hash: hasher.finalize().to_hex().to_string(), bytes })
    }

    /// A part of the file's questions, or the passages of the file made into another base.
    #[must_use]
    pub fn part(&self, name: &str) -> Self {
        Self { hash: crate::fingerprint([&self.hash, name]), ..self.clone() }
    }

    /// Claims the base in `kb` for this file, before it is opened or built. A base of another file
    /// is [`EvalError::OtherBase`] unless forced.
    pub fn claim(&self, kb: &Path, force: bool) -> Result<Claim, EvalError> {
        if let Some(marker) = read(kb)? {
            let built_from = marker.source.file.clone();
            return match marker.source.hash == self.hash {
                true => Ok(Claim::Same),
                false if force => Ok(Claim::Forced { built_from }),
                false => {
                    let questions = self.file.clone();
                    Err(EvalError::OtherBase { base: kb.into(), built_from, questions })
                }
            };
        }
        let holds_something =
            std::fs::read_dir(kb).is_ok_and(|mut entries| entries.next().is_some());
        if holds_something {
            return Ok(Claim::Unmarked);
        }
        std::fs::create_dir_all(kb)
            .map_err(EvalError::file(kb, "the folder of the base cannot be made"))?;
        let (source, indexing) = (self.clone(), Atomizing::default());
        write(kb, &Marker { version: MARKER_VERSION, source, indexing })?;
        Ok(Claim::New)
    }
}

/// Adds what one run of `index` did to what is known of the base; returns the sum of all runs.
/// `None` for a base that no evaluation claimed, whose earlier costs are unknown.
pub fn record_indexing(
    kb: &Path,
    chunks: usize,
    usage: UsageTotal,
) -> Result<Option<Atomizing>, EvalError> {
    let Some(mut marker) = read(kb)? else { return Ok(None) };
    marker.indexing.add(chunks, usage);
    write(kb, &marker)?;
    Ok(Some(marker.indexing))
}

fn path(kb: &Path) -> PathBuf {
    kb.join("questions.json")
}

fn read(kb: &Path) -> Result<Option<Marker>, EvalError> {
    const DOING: &str = "what the base was built from cannot be read";
    let file = path(kb);
    match std::fs::read(&file) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map(Some).map_err(EvalError::file(&file, DOING))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(EvalError::file(&file, DOING)(error)),
    }
}

fn write(kb: &Path, marker: &Marker) -> Result<(), EvalError> {
    const DOING: &str = "what the base was built from cannot be written";
    write_json(&path(kb), DOING, serde_json::to_vec_pretty(marker))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_of_another_file_is_named_and_refused_unless_forced() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one.json"), folder.path().join("two.json"));
        std::fs::write(&one, "[1]").unwrap();
        std::fs::write(&two, "[2]").unwrap();
        let (one, two) = (Source::read(&one).unwrap(), Source::read(&two).unwrap());
        let kb = folder.path().join("base");
        assert_eq!(one.claim(&kb, false).unwrap(), Claim::New);
        assert_eq!(one.claim(&kb, false).unwrap(), Claim::Same);
        let error = two.claim(&kb, false).unwrap_err().to_string();
        assert!(error.contains("built from `one.json`, not from `two.json`"), "{error}");
        let built_from = "one.json".to_owned();
        assert_eq!(two.claim(&kb, true).unwrap(), Claim::Forced { built_from });
        // Forcing does not make it the other file's.
        assert_eq!(one.claim(&kb, false).unwrap(), Claim::Same);
    }

    #[test]
    fn a_base_made_by_hand_is_told() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("q.json"), "[]").unwrap();
        let source = Source::read(&folder.path().join("q.json")).unwrap();
        std::fs::create_dir(folder.path().join("store")).unwrap();
        assert_eq!(source.claim(folder.path(), false).unwrap(), Claim::Unmarked);
        assert_eq!(record_indexing(folder.path(), 3, UsageTotal::default()).unwrap(), None);
    }

    #[test]
    fn the_cost_of_a_base_is_that_of_all_its_runs() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("q.json"), "[]").unwrap();
        let kb = folder.path().join("base");
        Source::read(&folder.path().join("q.json")).unwrap().claim(&kb, false).unwrap();
        let usage = UsageTotal { llm_calls: 4, prompt_tokens: 800, ..UsageTotal::default() };
        record_indexing(&kb, 4, usage).unwrap();
        let sum = record_indexing(&kb, 4, UsageTotal::default()).unwrap().unwrap();
        assert_eq!(sum.per_chunk(), Some((0.5, 100.0, 0.0)));
    }
}
