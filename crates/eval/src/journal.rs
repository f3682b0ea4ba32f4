//! A file of JSON lines that a killed run leaves readable: every line is written whole, and a torn
//! last one is dropped when the file is opened again. Other files are written whole or not at all.
use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::EvalError;

/// The version of the lines, in every line as `version`.
pub(crate) const LINE_VERSION: u32 = 2;

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
        let mut lines = vec![];
        let journal = Self::open_each(path, |line| lines.push(line))?;
        Ok((journal, lines))
    }

    /// Opens or creates it; `each` receives the lines it holds, oldest first and one at a time, so that
    /// a long one need not fit in memory.
    pub(crate) fn open_each(path: &Path, each: impl FnMut(T)) -> Result<Self, EvalError> {
        let fail = |doing| EvalError::file::<std::io::Error>(path, doing);
        let file = File::options()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(fail("the results file cannot be opened"))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => EvalError::Busy { file: path.into() },
            TryLockError::Error(source) => fail("the results file cannot be locked")(source),
        })?;
        let reader = file.try_clone().map_err(fail("the results file cannot be read"))?;
        let whole = read_lines(path, reader, each)?;
        let length = file.metadata().map_err(fail("the results file cannot be read"))?.len();
        if whole < length {
            file.set_len(whole).map_err(fail("the torn last line cannot be dropped"))?;
        }
        Ok(Self { path: path.into(), file, lines: PhantomData })
    }

    /// The lines of a journal that another process may be writing; a torn last one is left out.
    pub(crate) fn read(path: &Path, each: impl FnMut(T)) -> Result<(), EvalError> {
        let open =
            File::open(path).map_err(EvalError::file(path, "the results file cannot be opened"))?;
        read_lines(path, open, each).map(|_| ())
    }

    /// Adds one line in one write.
    pub(crate) fn append(&mut self, line: &T) -> Result<(), EvalError> {
        const DOING: &str = "the result cannot be written";
        let mut bytes = serde_json::to_vec(line).map_err(EvalError::file(&self.path, DOING))?;
        bytes.push(b'\n');
        self.file.write_all(&bytes).map_err(EvalError::file(&self.path, DOING))
    }
}

/// Hands out the whole lines; returns how many bytes they take.
fn read_lines<T: DeserializeOwned>(
    path: &Path,
    file: File,
    mut each: impl FnMut(T),
) -> Result<u64, EvalError> {
    let mut reader = BufReader::new(file);
    let (mut whole, mut number, mut line) = (0, 0, vec![]);
    loop {
        line.clear();
        let read = reader
            .read_until(b'\n', &mut line)
            .map_err(EvalError::file(path, "the results file cannot be read"))?;
        if read == 0 || line.last() != Some(&b'\n') {
            return Ok(whole);
        }
        whole += read as u64;
        number += 1;
        if !line.trim_ascii().is_empty() {
            each(parse(path, number, &line)?);
        }
    }
}

fn parse<T: DeserializeOwned>(path: &Path, line: usize, bytes: &[u8]) -> Result<T, EvalError> {
    let bad = |error: serde_json::Error| EvalError::BadLine {
        file: path.into(),
        line,
        reason: error.to_string(),
    };
    // The version first: a newer line may have any other shape.
    let Versioned { version: given } = serde_json::from_slice(bytes).map_err(bad)?;
    if given > LINE_VERSION {
        return Err(EvalError::Newer { file: path.into(), line, given, supported: LINE_VERSION });
    }
    serde_json::from_slice(bytes).map_err(bad)
}

/// Writes a file: a temporary one first, so that a killed run leaves the previous file whole.
pub(crate) fn write(file: &Path, doing: &'static str, bytes: &[u8]) -> Result<(), EvalError> {
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    std::fs::write(&new, bytes)
        .and_then(|()| std::fs::rename(&new, file))
        .map_err(EvalError::file(file, doing))
}

/// The same for JSON.
pub(crate) fn write_json(
    file: &Path,
    doing: &'static str,
    json: serde_json::Result<Vec<u8>>,
) -> Result<(), EvalError> {
    write(file, doing, &json.map_err(EvalError::file(file, doing))?)
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
