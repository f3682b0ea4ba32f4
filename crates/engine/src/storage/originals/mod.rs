//! The files that were uploaded to a base, stored in its folder so that they can be opened again.
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use halma_core::{Metadata, MetadataFilter};
use halma_kb::{is_metadata_file, metadata_file, read_metadata_file};
use parking_lot::Mutex;
use tempfile::NamedTempFile;

/// The folder of originals in the folder of a base.
const FOLDER: &str = "files";

/// The most characters of a name, and the most bytes of one part of it.
const MAX_NAME_CHARS: usize = 1_000;
const MAX_PART_BYTES: usize = 200;

/// The originals of one base.
#[derive(Debug, Clone)]
pub struct Originals {
    dir: PathBuf,
    /// Only files whose fields meet these are there.
    filter: MetadataFilter,
    /// Held while a file and its fields are put in place or removed; counts removals.
    lock: Arc<Mutex<u64>>,
}

/// A file among the originals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Original {
    /// The name its document has.
    pub name: String,
    pub bytes: u64,
    pub modified: Option<SystemTime>,
}

impl Originals {
    /// The originals of the base in `base_dir`; [`Originals::create`] creates the folder.
    pub fn new(base_dir: &Path) -> Self {
        Self { dir: base_dir.join(FOLDER), filter: MetadataFilter::default(), lock: Arc::default() }
    }

    /// The same files for those who see only the ones whose fields meet the conditions.
    pub(crate) fn restricted(&self, filter: MetadataFilter) -> Self {
        Self { dir: self.dir.clone(), filter, lock: Arc::clone(&self.lock) }
    }

    /// The fields of a file, as stored next to it; none where they cannot be read.
    pub fn metadata(&self, name: &str) -> Option<Metadata> {
        read_metadata_file(&self.find(name)?).ok().map(Option::unwrap_or_default)
    }

    /// Stores the fields of a file next to it. Whether there is such a file.
    pub fn set_metadata(&self, name: &str, metadata: &Metadata) -> std::io::Result<bool> {
        let _turn = self.lock.lock();
        let Some(path) = self.find(name) else { return Ok(false) };
        write_metadata(&path, metadata).map(|()| true)
    }

    /// Puts a file into its place, in which there may be another one, and its fields next to it;
    /// `None` leaves the fields that the other one has. At no time has the new file the fields of the
    /// old one, or the reverse; when the file cannot be placed, the old one has its fields as before.
    /// `Ok(false)`: there is a file of this name that is not to be seen here.
    pub fn put(
        &self,
        name: &str,
        metadata: Option<&Metadata>,
        place: impl FnOnce(&Path) -> std::io::Result<()>,
    ) -> std::io::Result<bool> {
        let _turn = self.lock.lock();
        if self.hides(name) {
            return Ok(false);
        }
        let target = self.dir.join(name);
        let Some(metadata) = metadata else {
            if !target.exists() {
                // Fields that a file left here which is gone are not those of this one.
                write_metadata(&target, &Metadata::default())?;
            }
            return place(&target).map(|()| true);
        };
        // On the disk before anything is changed: a disk that is full leaves all as it was.
        let new = prepare_metadata(&target, metadata)?;
        let former = set_aside_metadata(&target)?;
        let before = stamp(&target);
        let placed = place(&target);
        // A file may stand there although its folder could not be brought to the disk.
        let is_placed = placed.is_ok() || stamp(&target) != before;
        let fields = if is_placed { new } else { former };
        if let Some(fields) = fields {
            fields.persist(metadata_file(&target)).map_err(|e| e.error)?;
        }
        placed.map(|()| true)
    }

    /// Whether there is a file of this name that is not to be seen here.
    pub fn hides(&self, name: &str) -> bool {
        let Ok(name) = safe_name(name) else { return false };
        self.dir.join(&name).exists() && self.find(&name).is_none()
    }

    fn admits(&self, path: &Path) -> bool {
        self.filter.is_empty()
            || read_metadata_file(path)
                .is_ok_and(|metadata| self.filter.admits(&metadata.unwrap_or_default()))
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Creates the folder.
    pub fn create(&self) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.dir)
    }

    /// The path of the file of this name, if there is one. A name never leads out of the folder.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.dir.join(safe_name(name).ok()?);
        let real = path.canonicalize().ok()?;
        let inside = real.starts_with(self.dir.canonicalize().ok()?);
        let fields = is_metadata_file(&real.to_string_lossy());
        (inside && !fields && real.is_file() && self.admits(&real)).then_some(real)
    }

    /// The file of this name with its size.
    pub fn get(&self, name: &str) -> Option<Original> {
        let about = self.find(name)?.metadata().ok()?;
        Some(Original { name: name.into(), bytes: about.len(), modified: about.modified().ok() })
    }

    /// All files, sorted by name.
    pub fn list(&self) -> Vec<Original> {
        let mut found = vec![];
        list(&self.dir, "", &mut found);
        found.retain(|file| self.filter.is_empty() || self.admits(&self.dir.join(&file.name)));
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// The sizes of all files, in bytes, also of those that are not to be seen here.
    pub fn sizes(&self) -> Vec<u64> {
        let mut found = vec![];
        list(&self.dir, "", &mut found);
        found.into_iter().map(|file| file.bytes).collect()
    }

    /// How often files were removed by [`Originals::remove`] of this value, its copies and views. Waits
    /// for a removal that is under way.
    pub fn removals(&self) -> u64 {
        *self.lock.lock()
    }

    /// Removes files, and the folders that they leave empty.
    pub fn remove(&self, names: &[String]) -> std::io::Result<()> {
        let mut removals = self.lock.lock();
        *removals += 1;
        for path in names.iter().filter_map(|name| self.find(name)) {
            std::fs::remove_file(&path)?;
            match std::fs::remove_file(metadata_file(&path)) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
            let mut folder = path.parent();
            // A folder that is not empty stays, which is what ends this.
            while let Some(empty) = folder.filter(|f| f.starts_with(&self.dir) && **f != self.dir) {
                if std::fs::remove_dir(empty).is_err() {
                    break;
                }
                folder = empty.parent();
            }
        }
        Ok(())
    }
}

fn list(dir: &Path, below: &str, found: &mut Vec<Original>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(part) = entry.file_name().into_string() else { continue };
        let Ok(about) = entry.metadata() else { continue };
        let name = if below.is_empty() { part.clone() } else { format!("{below}/{part}") };
        if part.starts_with('.') {
            continue;
        }
        if about.is_dir() {
            list(&entry.path(), &name, found);
        } else if about.is_file() && !is_metadata_file(&name) {
            found.push(Original { name, bytes: about.len(), modified: about.modified().ok() });
        }
    }
}

/// Puts the fields of a file next to it, whole or not at all; no fields are no file.
fn write_metadata(path: &Path, metadata: &Metadata) -> std::io::Result<()> {
    let target = metadata_file(path);
    match prepare_metadata(path, metadata)? {
        Some(file) => file.persist(target).map(drop).map_err(|e| e.error),
        None => match std::fs::remove_file(target) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        },
    }
}

/// Writes the fields of a file to a temporary file next to it; `None` where there are none.
fn prepare_metadata(path: &Path, metadata: &Metadata) -> std::io::Result<Option<NamedTempFile>> {
    if metadata.is_empty() {
        return Ok(None);
    }
    let mut file = temporary_file(path)?;
    serde_json::to_writer_pretty(&mut file, metadata)?;
    file.as_file().sync_all()?;
    Ok(Some(file))
}

/// Moves the fields of a file to a temporary file next to it; `None` where there are none.
fn set_aside_metadata(path: &Path) -> std::io::Result<Option<NamedTempFile>> {
    let fields = metadata_file(path);
    if !fields.exists() {
        return Ok(None);
    }
    let file = temporary_file(path)?;
    std::fs::rename(fields, file.path())?;
    Ok(Some(file))
}

/// A file in the folder of another one that is gone when it is dropped.
fn temporary_file(path: &Path) -> std::io::Result<NamedTempFile> {
    NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))
}

/// What differs between a file and the one that takes its place.
fn stamp(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let about = path.metadata().ok()?;
    Some((about.len(), about.modified().ok()))
}

/// A name as it is used below a folder, with `/`; the error says what is wrong with it.
pub fn safe_name(name: &str) -> Result<String, &'static str> {
    let name = name.replace('\\', "/");
    let parts: Vec<&str> = name.split('/').collect();
    if name.chars().count() > MAX_NAME_CHARS || parts.iter().any(|part| part.len() > MAX_PART_BYTES)
    {
        return Err("the name is too long");
    }
    if name.chars().any(|c| c.is_control() || is_direction_mark(c)) {
        return Err("the name holds invisible characters");
    }
    if parts.iter().any(|part| part.trim().is_empty()) {
        return Err("a part of the name is empty");
    }
    if parts.iter().any(|part| part.starts_with('.')) {
        return Err("a part of the name begins with a dot");
    }
    if is_metadata_file(&name) {
        return Err("files that end with `.meta.json` hold the fields of others");
    }
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !Path::new(&name).components().all(plain) || name.contains(':') {
        return Err("the name is not a path below a folder");
    }
    Ok(name)
}

/// Marks that change the direction of writing, which make a name look like a different one.
fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use halma_core::FieldValue;

    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let long = "x".repeat(300);
        for wrong in [
            "",
            ".",
            "..",
            "../a",
            "a/../b",
            "/etc/passwd",
            "\\\\host\\a",
            "a//b",
            "a/",
            ".ssh/a",
            "C:\\a",
            "a\0b",
            "a\nb",
            "a\u{202e}fdp.exe",
            " ",
            &long,
        ] {
            assert!(safe_name(wrong).is_err(), "{wrong:?}");
        }
        for right in ["a.md", "a b/ü.pdf", "x/y/z.txt", "<script>.md", "a..b"] {
            assert_eq!(safe_name(right).unwrap(), right);
        }
        assert_eq!(safe_name("x\\y.md").unwrap(), "x/y.md");
    }

    #[test]
    fn a_file_is_found_listed_and_removed_with_its_empty_folder() {
        let dir = tempfile::tempdir().unwrap();
        let originals = Originals::new(dir.path());
        originals.create().unwrap();
        std::fs::create_dir(originals.dir().join("law")).unwrap();
        std::fs::write(originals.dir().join("law/a.md"), "x").unwrap();
        std::fs::write(originals.dir().join("b.md"), "xy").unwrap();
        std::fs::write(dir.path().join("secret"), "s").unwrap();
        let names: Vec<_> = originals.list().into_iter().map(|file| file.name).collect();
        assert_eq!(names, ["b.md", "law/a.md"]);
        assert_eq!(originals.get("b.md").unwrap().bytes, 2);
        assert_eq!(originals.find("../secret"), None);
        originals.remove(&["law/a.md".into(), "nothing".into()]).unwrap();
        assert!(!originals.dir().join("law").exists() && originals.dir().join("b.md").exists());
    }

    fn team(name: &str) -> Metadata {
        Metadata([("team".to_owned(), FieldValue::parse(name))].into())
    }

    fn write(text: &str) -> impl FnOnce(&Path) -> std::io::Result<()> {
        move |path| std::fs::write(path, text)
    }

    #[test]
    fn a_file_that_cannot_be_placed_leaves_the_former_one_its_fields() {
        let dir = tempfile::tempdir().unwrap();
        let originals = Originals::new(dir.path());
        originals.create().unwrap();
        let (red, blue) = (team("red"), team("blue"));
        originals.put("a.md", Some(&red), write("x")).unwrap();
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        let seen = |path: &Path| {
            // The new fields are on the disk when the file is placed.
            assert!(std::fs::read_dir(path.parent().unwrap()).unwrap().count() > 2);
            Err(full())
        };
        originals.put("a.md", Some(&blue), seen).unwrap_err();
        assert_eq!(originals.metadata("a.md"), Some(red));
        let unsynced = |path: &Path| {
            std::fs::write(path, "xy")?;
            Err(full())
        };
        originals.put("a.md", Some(&blue), unsynced).unwrap_err();
        assert_eq!(originals.metadata("a.md"), Some(blue));
        originals.put("a.md", Some(&Metadata::default()), write("xyz")).unwrap();
        assert_eq!(originals.metadata("a.md"), Some(Metadata::default()));
        assert_eq!(std::fs::read_dir(originals.dir()).unwrap().count(), 1);
    }

    #[test]
    fn a_new_file_without_fields_does_not_get_those_of_one_that_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let originals = Originals::new(dir.path());
        originals.create().unwrap();
        originals.put("a.md", Some(&team("red")), write("x")).unwrap();
        originals.put("a.md", None, write("y")).unwrap();
        assert_eq!(originals.metadata("a.md"), Some(team("red")));
        std::fs::remove_file(originals.dir().join("a.md")).unwrap();
        originals.put("a.md", None, write("z")).unwrap();
        assert_eq!(originals.metadata("a.md"), Some(Metadata::default()));
    }

    #[test]
    fn a_file_is_not_removed_while_its_fields_are_put_in_place() {
        let dir = tempfile::tempdir().unwrap();
        let originals = Originals::new(dir.path());
        originals.create().unwrap();
        originals.put("a.md", None, write("x")).unwrap();
        let turn = originals.lock.lock();
        std::thread::scope(|scope| {
            let (sent, began) = std::sync::mpsc::channel();
            let removing = &originals;
            let removed = scope.spawn(move || {
                sent.send(()).unwrap();
                removing.remove(&["a.md".into()])
            });
            began.recv().unwrap();
            // As `set_metadata` does it.
            let path = originals.find("a.md").unwrap();
            write_metadata(&path, &team("red")).unwrap();
            drop(turn);
            removed.join().unwrap().unwrap();
        });
        assert_eq!(std::fs::read_dir(originals.dir()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let originals = Originals::new(dir.path());
        originals.create().unwrap();
        std::fs::write(dir.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), originals.dir().join("a.md"))
            .unwrap();
        assert_eq!(originals.find("a.md"), None);
    }
}
