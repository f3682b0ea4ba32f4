//! What a build reports at its end.
use halma_core::{Limit, UsageTotal};
use serde::Serialize;

use crate::{Extracted, KeptPart, ReadWarning, Refused};

/// What one run of `index` did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct IndexReport {
    pub documents_new: usize,
    pub documents_unchanged: usize,
    /// Documents whose content changed under the same name, or that are cut differently now.
    pub documents_replaced: usize,
    /// Documents that stay as they were and have other fields now.
    pub fields_changed: usize,
    /// Names of documents that were removed because what they came from is gone.
    pub documents_removed: Vec<String>,
    /// Documents of this run that had the text and title of another one.
    pub duplicates: usize,
    /// Names of the first twenty of them.
    pub duplicate_names: Vec<String>,
    /// Sections, chunks and atoms made by this run.
    pub sections: usize,
    pub chunks: usize,
    /// Those of the chunks that are as they were in the document that was replaced: what was made
    /// of them is kept.
    pub chunks_kept: usize,
    pub atoms: usize,
    /// Atoms that a model gave beyond the most that are kept of one chunk.
    pub atoms_cut: usize,
    /// Ends of chunks that the cutting model did not give, so that the structure gave them.
    pub cut_by_structure: usize,
    /// Figures that a model described in this run, and those it could not.
    pub figures_described: usize,
    pub figures_failed: usize,
    /// Texts embedded by this run.
    pub embedded: usize,
    /// Units of work in the base that failed and are tried again by the next run.
    pub failed_units: usize,
    /// Units that were not tried: the budget was spent, or too many failed in a row.
    pub pending_units: usize,
    /// The last reason for which a unit failed.
    pub failure: Option<String>,
    /// Files and lines that were not indexed.
    pub refused: Vec<Refused>,
    /// What was not read of files that were indexed.
    pub warnings: Vec<ReadWarning>,
    /// The limit that ended the run early.
    pub spent: Option<Limit>,
    pub usage: UsageTotal,
    /// Parts that stay as they were made although the configuration says otherwise.
    pub kept: Vec<KeptPart>,
    /// Entities, facts, tags, summaries, communities.
    pub extracted: Extracted,
    pub elapsed_ms: f64,
}

impl IndexReport {
    /// Whether the base was already what this run would have made of the input.
    pub fn nothing_new(&self) -> bool {
        self.only_fields_new() && self.fields_changed == 0
    }

    /// Whether this run has changed nothing but fields of documents.
    pub fn only_fields_new(&self) -> bool {
        let made = self.documents_new + self.documents_replaced + self.atoms + self.embedded;
        made + self.extracted.units == 0 && self.documents_removed.is_empty()
    }
}
