//! Documents of a file which holds several, as records or as what is attached to a mail: they are there
//! as long as their file is.
use std::path::Path;

use crate::read::file_of;
use crate::store::{DocumentRecord, FileKey, StoreReader};
use crate::{Base, KbError, may_hold_records};

/// A document that is one of several of a file.
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
                let mut all = records_in(reader, reader.linked(*row)?)?;
                all.retain(|record| names.is_empty() || names.contains(&record.name));
                records.append(&mut all);
            }
            Ok(records)
        })
    }

    /// The names of the documents of the file at this path; none where it is one document by itself.
    /// Reads all documents where the file may hold several.
    pub fn records_of(&self, path: &Path) -> Result<Vec<String>, KbError> {
        let origin = path.to_string_lossy();
        let is_mail = MAIL.iter().any(|end| origin.to_lowercase().ends_with(end));
        self.store.read(|reader| {
            let may_hold = may_hold_records(&origin) || is_mail;
            if !may_hold && reader.attached(FileKey::of(&origin))?.is_empty() {
                return Ok(vec![]);
            }
            let mut records = vec![];
            for node in reader.nodes::<DocumentRecord>()? {
                let (_, document) = node?;
                let of_file =
                    records_in(reader, document)?.into_iter().filter(|one| one.is_of(path));
                records.extend(of_file);
            }
            Ok(records.into_iter().map(|record| record.name).collect())
        })
    }
}

/// Names of files of mail, which may have files attached.
const MAIL: [&str; 3] = [".eml", ".msg", ".mbox"];

/// The names of a document under which it is one of several of their file.
fn records_in(reader: &StoreReader<'_>, document: DocumentRecord) -> heed::Result<Vec<FileRecord>> {
    let DocumentRecord { names, origins, source, .. } = document;
    let mut records = vec![];
    for (name, origin) in names.into_iter().zip(origins) {
        let (lies, inside) = origin.split_at(file_of(&origin).len());
        // What is attached lies below its mail, with one more `/` in its origin than in its name.
        let depth = inside.matches("//").count();
        let end = source.len().saturating_sub(inside.len() - depth);
        let file = source.get(..end).unwrap_or(&source).to_owned();
        let is_one = depth > 0
            || is_record(&name, &origin)
            || !reader.attached(FileKey::of(&origin))?.is_empty();
        if is_one {
            records.push(FileRecord { name, file, origin: lies.to_owned() });
        }
    }
    Ok(records)
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
