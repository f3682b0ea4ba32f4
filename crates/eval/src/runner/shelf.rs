//! The files of one contestant: its journal of finished questions and its traces.
use std::path::{Path, PathBuf};

use halma_core::{TRACE_VERSION, Trace};

use crate::EvalError;
use crate::journal::Journal;
use crate::record::{Record, file_name};

/// Nothing is kept where there is no folder.
pub(crate) struct Shelf {
    files: Option<(Journal<Record>, PathBuf)>,
}

impl Shelf {
    /// Opens or makes the files; `each` sees what earlier runs left, oldest first.
    pub(crate) fn open(
        out: Option<&Path>,
        label: &str,
        each: impl FnMut(Record),
    ) -> Result<Self, EvalError> {
        let Some(out) = out else { return Ok(Self { files: None }) };
        let traces = traces(out, label);
        make_folder(&traces)?;
        let journal = Journal::<Record>::open_each(&journal(out, label), each)?;
        Ok(Self { files: Some((journal, traces)) })
    }

    /// Writes the trace, then the line: what has a line has its trace too.
    pub(crate) fn keep(&mut self, record: &Record, trace: &Trace) -> Result<(), EvalError> {
        self.keep_trace(record, trace, "")?;
        match &mut self.files {
            Some((journal, _)) => journal.append(record),
            None => Ok(()),
        }
    }

    /// Writes a trace beside the question's own: `<question>.judge.json`.
    pub(crate) fn keep_judging(&self, record: &Record, trace: &Trace) -> Result<(), EvalError> {
        self.keep_trace(record, trace, ".judge")
    }

    fn keep_trace(&self, record: &Record, trace: &Trace, of: &str) -> Result<(), EvalError> {
        let Some((_, traces)) = &self.files else { return Ok(()) };
        let name = file_name(&record.question);
        let file = traces.join(format!("{name}{of}.json"));
        let whole = serde_json::json!({
            "version": TRACE_VERSION,
            "question": record.text,
            "fingerprint": record.fingerprint,
            "trace": trace,
        });
        let fail = |source| EvalError::File {
            file: file.clone(),
            doing: "the trace cannot be written",
            source,
        };
        let beside = traces.join(format!("{name}{of}.json.new"));
        let bytes = serde_json::to_vec(&whole).map_err(|error| fail(error.into()))?;
        std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, &file)).map_err(fail)
    }
}

pub(crate) fn journal(out: &Path, label: &str) -> PathBuf {
    out.join(format!("{}.jsonl", file_name(label)))
}

pub(crate) fn traces(out: &Path, label: &str) -> PathBuf {
    out.join("traces").join(file_name(label))
}

pub(crate) fn make_folder(folder: &Path) -> Result<(), EvalError> {
    std::fs::create_dir_all(folder).map_err(|source| EvalError::File {
        file: folder.into(),
        doing: "the folder cannot be made",
        source,
    })
}
