//! The files of one system: its journal of finished questions and its traces.
use std::path::{Path, PathBuf};

use halma_core::{TRACE_VERSION, Trace};

use crate::data::Item;
use crate::error::EvalError;
use crate::journal::{Journal, write_json};
use crate::record::{Record, file_name};

/// The question of a trace.
#[derive(Clone, Copy)]
struct TracedQuestion<'a> {
    question: &'a str,
    text: &'a str,
    /// The system's.
    fingerprint: &'a str,
}

impl<'a> From<&'a Record> for TracedQuestion<'a> {
    fn from(record: &'a Record) -> Self {
        let Record { question, text, fingerprint, .. } = record;
        Self { question, text, fingerprint }
    }
}

/// Nothing is stored where there is no folder.
pub(crate) struct RunFiles {
    files: Option<(Journal<Record>, PathBuf)>,
}

impl RunFiles {
    /// Opens or makes the files; `each` receives what earlier runs left, oldest first.
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
    pub(crate) fn store(&mut self, record: &Record, trace: &Trace) -> Result<(), EvalError> {
        self.store_trace(TracedQuestion::from(record), trace, "")?;
        match &mut self.files {
            Some((journal, _)) => journal.append(record),
            None => Ok(()),
        }
    }

    /// Writes a trace next to the question's own: `<question>.judge.json`.
    pub(crate) fn store_judging(&self, record: &Record, trace: &Trace) -> Result<(), EvalError> {
        self.store_trace(TracedQuestion::from(record), trace, ".judge")
    }

    /// Writes the trace of an assessment next to the question's own: `<question>.<of>.json`.
    pub(crate) fn store_assessment(
        &self,
        item: &Item,
        fingerprint: &str,
        trace: &Trace,
        of: &str,
    ) -> Result<(), EvalError> {
        let (question, text) = (&item.question.id, &item.question.text);
        self.store_trace(TracedQuestion { question, text, fingerprint }, trace, &format!(".{of}"))
    }

    fn store_trace(
        &self,
        question: TracedQuestion<'_>,
        trace: &Trace,
        of: &str,
    ) -> Result<(), EvalError> {
        let Some((_, traces)) = &self.files else { return Ok(()) };
        let name = file_name(question.question);
        let file = traces.join(format!("{name}{of}.json"));
        let content = serde_json::json!({
            "version": TRACE_VERSION,
            "question": question.text,
            "fingerprint": question.fingerprint,
            "trace": trace,
        });
        write_json(&file, "the trace cannot be written", serde_json::to_vec(&content))
    }
}

pub(crate) fn journal(out: &Path, label: &str) -> PathBuf {
    out.join(format!("{}.jsonl", file_name(label)))
}

pub(crate) fn traces(out: &Path, label: &str) -> PathBuf {
    out.join("traces").join(file_name(label))
}

pub(crate) fn make_folder(folder: &Path) -> Result<(), EvalError> {
    std::fs::create_dir_all(folder).map_err(EvalError::file(folder, "the folder cannot be made"))
}
