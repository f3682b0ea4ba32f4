//! Deleting documents with everything that quotes them, and with the uploaded files that they came from.
use std::path::Path;

use halma_kb::{Deleted, FileRecord, KbError};

use crate::Engine;
use crate::error::EngineError;

impl Engine {
    /// Deletes documents (by name, id or glob) with everything that quotes them: cached replies,
    /// traces of questions and uploaded originals included. The name of an uploaded file of records
    /// stands for all of these. One that was cut off is completed by repeating it: the documents
    /// themselves, by which all the rest is found, go last.
    pub fn delete(&self, documents: &[String]) -> Result<Deleted, EngineError> {
        let (mut targets, mut files) = (vec![], vec![]);
        for document in documents {
            let records = self.records_of(document)?;
            if records.is_empty() {
                targets.push(document.clone());
            } else {
                targets.extend(records);
                files.push(document.clone());
            }
        }
        let names = self.base.names_to_delete(&targets)?;
        files.extend(self.files_without_records(&targets, &names)?);
        files.extend(names.iter().cloned());
        self.delete_quoted(&names, &files, || self.base.delete(&targets))
    }

    /// Deletes an uploaded file, and its document or its records with everything that quotes them, if
    /// a build has stored them or is about to. Of a document with several names only this one goes.
    pub fn delete_named(&self, name: &str) -> Result<Deleted, EngineError> {
        let file = [name.to_owned()];
        let records = self.records_of(name)?;
        if !records.is_empty() {
            return self.delete_quoted(&records, &file, || self.base.delete(&records));
        }
        let is_stored = self.base.inspector().find_document(name)?.is_some();
        let mut files = file.to_vec();
        if is_stored {
            files.extend(self.files_without_records(&file, &file)?);
        }
        let quoted = if is_stored { &file[..] } else { &[] };
        self.delete_quoted(quoted, &files, || self.base.delete_named(name))
    }

    /// Whether there is anything that [`Engine::delete_named`] would delete.
    pub fn has_named(&self, name: &str) -> Result<bool, EngineError> {
        Ok(self.base.inspector().find_document(name)?.is_some()
            || self.originals.get(name).is_some()
            || !self.records_of(name)?.is_empty())
    }

    /// The records of an uploaded file, which may be gone already.
    fn records_of(&self, file: &str) -> Result<Vec<String>, EngineError> {
        let Ok(folder) = self.originals.dir().canonicalize() else { return Ok(vec![]) };
        Ok(self.base.records_of(&folder.join(file))?)
    }

    /// The uploaded files all of whose records are among `names`. Records of one that stays are
    /// refused: the next build would add them again.
    fn files_without_records(
        &self,
        targets: &[String],
        names: &[String],
    ) -> Result<Vec<String>, EngineError> {
        let mut files: Vec<String> = vec![];
        for record in self.base.records_among(targets)? {
            let Some(file) = self.upload_of(&record).filter(|file| !files.contains(file)) else {
                continue;
            };
            if self.records_of(&file)?.iter().any(|other| !names.contains(other)) {
                return Err(EngineError::RecordOfUpload { record: record.name, file });
            }
            files.push(file);
        }
        Ok(files)
    }

    /// The name of the uploaded file that holds a record, if it is there.
    fn upload_of(&self, record: &FileRecord) -> Option<String> {
        let folder = self.originals.dir().canonicalize().ok()?;
        let lies = Path::new(&record.origin);
        let name = lies.strip_prefix(&folder).map(|name| name.to_string_lossy().replace('\\', "/"));
        // Of a base that has moved, the files are known by their names.
        let name = name.unwrap_or_else(|_| record.file.clone());
        self.originals.find(&name).filter(|path| record.is_of(path)).map(|_| name)
    }

    /// Deletes what quotes documents, then files, then by `delete` the documents.
    fn delete_quoted(
        &self,
        quoted: &[String],
        files: &[String],
        delete: impl FnOnce() -> Result<Deleted, KbError>,
    ) -> Result<Deleted, EngineError> {
        if let Some(space) = self.shared() {
            // Nothing is deleted, and soon refused, while the database is away.
            let home = space.home().clone();
            space.wait(async move { home.versions().await })?;
        }
        self.forget(quoted)?;
        // Before the documents, so that no build finds a file that is to go and adds it again.
        let dir = self.originals.dir();
        self.originals.remove(files).map_err(|e| EngineError::file(dir, e))?;
        let deleted = delete()?;
        if let Some(cache) = &self.cache {
            cache.refuse(&deleted.names);
        }
        // Once more, for what was asked and answered meanwhile.
        self.forget(&deleted.names)?;
        Ok(deleted)
    }
}

#[cfg(test)]
mod tests {
    use halma_kb::IndexOptions;

    use super::*;
    use crate::config::{Config, EmbedderKind};

    /// An engine whose uploads are these files, all of them indexed.
    async fn engine(dir: &Path, files: &[(&str, &str)]) -> Engine {
        let mut config = Config::default();
        config.embedder.kind = EmbedderKind::None;
        config.kb.atoms = halma_kb::Atoms::None;
        let engine = Engine::create_or_open(config, &dir.join("base")).unwrap();
        engine.originals().create().unwrap();
        for (name, text) in files {
            std::fs::write(engine.originals().dir().join(name), text).unwrap();
        }
        let uploads = engine.originals().dir().to_owned();
        index(&engine, &uploads).await;
        engine
    }

    async fn index(engine: &Engine, folder: &Path) {
        let progress: halma_kb::Progress = std::sync::Arc::new(|_| {});
        engine.index(&[folder.to_owned()], &IndexOptions::default(), progress).await.unwrap();
    }

    fn names(engine: &Engine) -> Vec<String> {
        let mut names = engine.base.names_to_delete(&["*".into()]).unwrap_or_default();
        names.sort();
        names
    }

    const LIGHTS: (&str, &str) = (
        "lights.jsonl",
        "{\"text\": \"Skell was lit in 1902.\"}\n{\"id\": \"varn\", \"text\": \"Varn was lit in 1911.\"}\n",
    );

    #[tokio::test]
    async fn a_document_of_the_same_name_from_elsewhere_stays() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path(), &[("readme.md", "All about otters.")]).await;
        let elsewhere = dir.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::write(elsewhere.join("readme.md"), "All about beavers.").unwrap();
        index(&engine, &elsewhere).await;
        assert_eq!(names(&engine), ["readme.md", "readme.md (2)"]);
        assert_eq!(engine.delete_named("readme.md").unwrap().names, ["readme.md"]);
        assert_eq!(names(&engine), ["readme.md (2)"]);
        assert_eq!(engine.delete(&["readme.md (2)".into()]).unwrap().names, ["readme.md (2)"]);
    }

    #[tokio::test]
    async fn of_two_names_of_one_text_the_one_that_is_named_goes() {
        let dir = tempfile::tempdir().unwrap();
        // Without a heading the title is the name of the file, and the documents differ.
        let text = "# Otters\n\nAll about otters.";
        for (name, other) in [("a.md", "b.md"), ("b.md", "a.md")] {
            let base = dir.path().join(name);
            let engine = engine(&base, &[("a.md", text), ("b.md", text)]).await;
            let deleted = engine.delete_named(name).unwrap();
            assert_eq!((deleted.names, deleted.kept), (vec![name.into()], vec![other.to_owned()]));
            assert_eq!(names(&engine), [other]);
            assert!(
                engine.originals().get(name).is_none() && engine.originals().get(other).is_some()
            );
        }
    }

    #[tokio::test]
    async fn records_go_with_their_file_by_name_or_all_together() {
        let dir = tempfile::tempdir().unwrap();
        for (at, pattern) in ["lights.jsonl", "*"].into_iter().enumerate() {
            let base = dir.path().join(at.to_string());
            let engine = engine(&base, &[LIGHTS, ("a.txt", "All about otters.")]).await;
            for record in ["varn", "lights.jsonl#1"] {
                let refused = engine.delete(&[record.into()]).unwrap_err();
                assert!(refused.is_wrong_use() && refused.to_string().contains("`lights.jsonl`"));
                assert!(matches!(
                    engine.delete_named(record),
                    Err(EngineError::RecordOfUpload { .. })
                ));
            }
            engine.delete(&[pattern.into()]).unwrap();
            assert!(engine.originals().get("lights.jsonl").is_none());
            let left = if pattern == "*" { vec![] } else { vec!["a.txt"] };
            assert_eq!(names(&engine), left, "{pattern}");
        }
    }

    #[tokio::test]
    async fn what_is_attached_goes_with_its_mail() {
        let mail = "Message-ID: <1>\nSubject: Otters\nContent-Type: multipart/mixed; boundary=b\n\n\
                    --b\nContent-Type: text/plain\n\nAll about otters.\n--b\n\
                    Content-Type: text/plain; name=plan.txt\n\
                    Content-Disposition: attachment\n\nAll about beavers.\n--b--\n";
        for (at, pattern) in ["a.eml", "*"].into_iter().enumerate() {
            let dir = tempfile::tempdir().unwrap();
            let engine = engine(dir.path(), &[("a.eml", mail)]).await;
            assert_eq!(names(&engine), ["a.eml", "a.eml/plan.txt"]);
            let refused = engine.delete_named("a.eml/plan.txt").unwrap_err().to_string();
            assert!(refused.contains("`a.eml`"), "{refused}");
            if at == 0 {
                engine.delete_named(pattern).unwrap();
            } else {
                engine.delete(&[pattern.into()]).unwrap();
            }
            assert!(engine.originals().get("a.eml").is_none());
            assert_eq!(names(&engine), [""; 0]);
        }
    }

    #[tokio::test]
    async fn a_deletion_of_records_that_was_cut_off_is_completed_by_repeating_it() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path(), &[LIGHTS]).await;
        std::fs::remove_file(engine.originals().dir().join("lights.jsonl")).unwrap();
        assert!(engine.has_named("lights.jsonl").unwrap());
        assert_eq!(engine.delete_named("lights.jsonl").unwrap().names.len(), 2);
        assert!(!engine.has_named("lights.jsonl").unwrap());
    }
}
