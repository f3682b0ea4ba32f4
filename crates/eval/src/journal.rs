//! A file of JSON lines that a killed run leaves readable: every line is written whole, and a torn
//! last one is dropped when the file is opened again.
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::EvalError;

/// The version of the lines, in every line as `version`.
pub(crate) const LINE_VERSION: u32 = 1;

/// An open journal; locked against a second writer as long as it lives.
pub(crate) struct Journal<T> {
    path: PathBuf,
    file: File,
    lines: PhantomData<fn(T)>,
}

/// What every line must have, whatever its version.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Opens or creates it; returns the lines it holds, oldest first.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<T>), EvalError> {
        let fail = |doing| move |source| EvalError::File { file: path.into(), doing, source };
        let mut options = File::options();
        let mut file = options
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(fail("the results file cannot be opened"))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => EvalError::Busy { file: path.into() },
            TryLockError::Error(source) => fail("the results file cannot be locked")(source),
        })?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes).map_err(fail("the results file cannot be read"))?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(fail("the torn last line cannot be dropped"))?;
        }
        let lines = bytes[..whole].split(|&byte| byte == b'\n').enumerate();
        let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
        let lines = lines.map(|(i, line)| parse(path, i + 1, line)).collect::<Result<_, _>>()?;
        Ok((Self { path: path.into(), file, lines: PhantomData }, lines))
    }

    /// Adds one line in one write.
    pub(crate) fn append(&mut self, line: &T) -> Result<(), EvalError> {
        let fail = |source| EvalError::File {
            file: self.path.clone(),
            doing: "the result cannot be written",
            source,
        };
        let mut bytes = serde_json::to_vec(line).map_err(|error| fail(error.into()))?;
        bytes.push(b'\n');
        self.file.write_all(&bytes).map_err(fail)
    }
}

fn parse<T: DeserializeOwned>(path: &Path, line: usize, bytes: &[u8]) -> Result<T, EvalError> {
    let bad = |error: serde_json::Error| EvalError::BadLine {
        file: path.into(),
        line,
        reason: error.to_string(),
    };
    // The version first: a newer line may have any other shape.
    let Versioned { version: found } = serde_json::from_slice(bytes).map_err(bad)?;
    if found > LINE_VERSION {
        return Err(EvalError::Newer { file: path.into(), line, found, known: LINE_VERSION });
    }
    serde_json::from_slice(bytes).map_err(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Line {
        version: u32,
        name: String,
    }

    fn line(name: &str) -> Line {
        Line { version: LINE_VERSION, name: name.into() }
    }

    #[test]
    fn a_torn_last_line_is_dropped_and_the_next_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let (mut journal, lines) = Journal::open(&path).unwrap();
        assert!(lines.is_empty());
        journal.append(&line("one")).unwrap();
        journal.append(&line("two")).unwrap();
        drop(journal);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 4]).unwrap();
        let (mut journal, lines) = Journal::open(&path).unwrap();
        assert_eq!(lines, [line("one")]);
        journal.append(&line("three")).unwrap();
        drop(journal);
        assert_eq!(Journal::<Line>::open(&path).unwrap().1, [line("one"), line("three")]);
    }

    #[test]
    fn a_broken_line_in_the_middle_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, "{\"version\":1,\"name\":\"x\"}\n{\"version\":1,\n{}\n").unwrap();
        let error = Journal::<Line>::open(&path).err().unwrap().to_string();
        assert!(error.contains("a.jsonl:2: the line cannot be read"), "{error}");
    }

    #[test]
    fn a_newer_line_and_a_second_writer_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, "{\"version\":9,\"names\":[]}\n").unwrap();
        let error = Journal::<Line>::open(&path).err().unwrap().to_string();
        assert!(error.contains("newer Halma (version 9"), "{error}");
        let path = folder.path().join("b.jsonl");
        let _first = Journal::<Line>::open(&path).unwrap();
        assert!(matches!(Journal::<Line>::open(&path), Err(EvalError::Busy { .. })));
    }
}
