//! The questions of a file, and the passages that they bring as documents, so that a base can be
//! made of them.
use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;

use super::error::DataError;
use super::format::Format;
use super::item::{Item, Passage, RefusedRecord};
use crate::fingerprint;
use crate::metrics::Metric;

/// The questions of one file, and the records of it that could not be used.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// The file's name without its ending.
    pub name: String,
    pub format: Format,
    /// How its answers are compared: as is usual for the format, unless a caller changes it.
    pub metric: Metric,
    pub items: Vec<Item>,
    pub refused: Vec<RefusedRecord>,
}

impl Passage {
    /// The name of its document in a base that was made of [`DataSet::write_pool`]'s folder.
    pub fn document(&self) -> String {
        let id = fingerprint([&self.title, &self.text]);
        if self.html { format!("{id}.html") } else { id }
    }
}

impl DataSet {
    /// Every passage that the file brings for any of its questions, each once, in the file's
    /// order: what one pooled base is made of. Empty where the file brings none.
    pub fn pool(&self) -> Vec<&Passage> {
        let mut seen = HashSet::new();
        let all = self.items.iter().flat_map(|item| item.contexts.iter());
        all.filter(|passage| seen.insert((&passage.title, &passage.text))).collect()
    }

    /// Writes the pool into a folder of documents: `passages.jsonl` with `id`, `title` and `text`,
    /// and a file for each page of HTML. The same passages give the same bytes. Returns how many
    /// there are; without any, nothing is written.
    pub fn write_pool(&self, folder: &Path) -> Result<usize, DataError> {
        let pool = self.pool();
        if pool.is_empty() {
            return Ok(0);
        }
        let fail = |source| DataError::Unwritable { folder: folder.into(), source };
        std::fs::create_dir_all(folder).map_err(fail)?;
        let mut lines = vec![];
        for passage in &pool {
            let id = passage.document();
            if passage.html {
                std::fs::write(folder.join(id), &passage.text).map_err(fail)?;
                continue;
            }
            let Passage { title, text, .. } = passage;
            let line = serde_json::json!({"id": id, "title": title, "text": text});
            writeln!(lines, "{line}").map_err(fail)?;
        }
        if !lines.is_empty() {
            std::fs::write(folder.join("passages.jsonl"), lines).map_err(fail)?;
        }
        Ok(pool.len())
    }
}
