//! Documents that are records of a file which holds several: they are there as long as their file is.
use std::path::Path;

use crate::store::DocumentRecord;
use crate::{Base, KbError, may_hold_records};

/// A document that is a record of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRecord {
    pub name: String,
    /// The name of the file, below the folder that was indexed.
    pub file: String,
    /// Where the file lay when it was indexed.
    pub origin: String,
}

impl FileRecord {
    /// Whether its file is the one at this path, or was, where its folder has moved.
    pub fn is_of(&self, path: &Path) -> bool {
        let origin = Path::new(&self.origin);
        origin == path || !origin.is_file() && path.ends_with(&self.file)
    }
}

impl Base {
    /// The records among the documents that [`Base::delete`] would delete.
    pub fn records_among(&self, documents: &[String]) -> Result<Vec<FileRecord>, KbError> {
        let chosen = self.choose(documents)?;
        self.store.read(|reader| {
            let mut records = vec![];
            for (row, names) in &chosen.0 {
                let mut all = records_in(reader.linked(*row)?);
                all.retain(|record| names.is_empty() || names.contains(&record.name));
                records.append(&mut all);
            }
            Ok(records)
        })
    }

    /// The names of the records that the file at this path holds; none where it is a document itself.
    /// Reads all documents where the file may hold records.
    pub fn records_of(&self, path: &Path) -> Result<Vec<String>, KbError> {
        if !may_hold_records(&path.to_string_lossy()) {
            return Ok(vec![]);
        }
        self.store.read(|reader| {
            let mut records = vec![];
            for node in reader.nodes::<DocumentRecord>()? {
                let (_, document) = node?;
                records.extend(records_in(document).into_iter().filter(|one| one.is_of(path)));
            }
            Ok(records.into_iter().map(|record| record.name).collect())
        })
    }
}

/// The names of a document under which it is a record: those that are not the name of their file.
fn records_in(document: DocumentRecord) -> Vec<FileRecord> {
    let DocumentRecord { names, origins, source, .. } = document;
    let record = |(name, origin): (String, String)| {
        is_record(&name, &origin).then(|| FileRecord { name, file: source.clone(), origin })
    };
    names.into_iter().zip(origins).filter_map(record).collect()
}

/// Whether the document of a name is one of those that a file holds. A file that is one document gives
/// it its own name, with a number where another document has that.
fn is_record(name: &str, origin: &str) -> bool {
    let numbered = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("));
    let base_name = numbered.filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    let base_name = base_name.map_or(name, |(base_name, _)| base_name);
    let path = Path::new(origin);
    may_hold_records(origin) && !path.ends_with(name) && !path.ends_with(base_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_file_of_records_holds_is_a_record() {
        for (name, origin, record) in [
            ("lights.jsonl#1", "/base/files/lights.jsonl", true),
            ("varn", "/base/files/lights.jsonl", true),
            ("varn (2)", "/base/files/lights.jsonl", true),
            ("data.json", "/base/files/data.json", false),
            ("sub/data.json (2)", "/base/files/sub/data.json", false),
            ("readme.md (2)", "/base/files/readme.md", false),
            ("other.md", "/base/files/readme.md", false),
        ] {
            assert_eq!(is_record(name, origin), record, "{name} of {origin}");
        }
    }
}
