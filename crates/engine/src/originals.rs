//! The files that were uploaded to a base, kept beside it so that they can be opened again.
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// The folder of originals below a base's own.
const FOLDER: &str = "files";

/// Characters of a name, and of one part of it, at most.
const LONGEST: usize = 1_000;
const LONGEST_PART: usize = 200;

/// The originals of one base.
#[derive(Debug, Clone)]
pub struct Originals {
    dir: PathBuf,
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
    /// Those of the base in `dir`; the folder is made by [`Originals::make`].
    pub fn of(dir: &Path) -> Self {
        Self { dir: dir.join(FOLDER) }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes the folder.
    pub fn make(&self) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.dir)
    }

    /// Where the file of this name lies, if there is one. A name never leads out of the folder.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.dir.join(safe_name(name).ok()?);
        let real = path.canonicalize().ok()?;
        let inside = real.starts_with(self.dir.canonicalize().ok()?);
        (inside && real.is_file()).then_some(real)
    }

    /// One file with its size.
    pub fn get(&self, name: &str) -> Option<Original> {
        let about = self.find(name)?.metadata().ok()?;
        Some(Original { name: name.into(), bytes: about.len(), modified: about.modified().ok() })
    }

    /// All files by name.
    pub fn list(&self) -> Vec<Original> {
        let mut found = vec![];
        list(&self.dir, "", &mut found);
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// Removes files; folders that they leave empty go too.
    pub fn remove(&self, names: &[String]) -> std::io::Result<()> {
        for path in names.iter().filter_map(|name| self.find(name)) {
            std::fs::remove_file(&path)?;
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
        } else if about.is_file() {
            found.push(Original { name, bytes: about.len(), modified: about.modified().ok() });
        }
    }
}

/// A name as it is used below a folder, with `/`; the error says what is wrong with it.
pub fn safe_name(name: &str) -> Result<String, &'static str> {
    let name = name.replace('\\', "/");
    let parts: Vec<&str> = name.split('/').collect();
    if name.chars().count() > LONGEST || parts.iter().any(|part| part.len() > LONGEST_PART) {
        return Err("the name is too long");
    }
    if name.chars().any(|c| c.is_control() || bends(c)) {
        return Err("the name holds characters that cannot be seen");
    }
    if parts.iter().any(|part| part.trim().is_empty()) {
        return Err("a part of the name is empty");
    }
    if parts.iter().any(|part| part.starts_with('.')) {
        return Err("a part of the name begins with a dot");
    }
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !Path::new(&name).components().all(plain) || name.contains(':') {
        return Err("the name is no path below a folder");
    }
    Ok(name)
}

/// Marks that turn the direction of writing, so that a name does not look like what it is.
fn bends(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
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
        let originals = Originals::of(dir.path());
        originals.make().unwrap();
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

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let originals = Originals::of(dir.path());
        originals.make().unwrap();
        std::fs::write(dir.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), originals.dir().join("a.md"))
            .unwrap();
        assert_eq!(originals.find("a.md"), None);
    }
}
