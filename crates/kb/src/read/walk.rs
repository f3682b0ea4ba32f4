//! Finding the input files: folders in order, hidden files left out, every folder once.
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::Refusal;
use crate::KbError;
use crate::report::Refused;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputFile {
    pub(crate) path: PathBuf,
    /// Its path below the folder that was given, with `/`.
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// The files of the inputs in order. `own` is the base's folder, which is never read.
pub(crate) fn walk(
    inputs: &[PathBuf],
    own: &Path,
) -> Result<(Vec<InputFile>, Vec<Refused>), KbError> {
    let mut walk = Walk { seen: HashSet::new(), files: vec![], refused: vec![] };
    // A folder that was seen is not entered: that goes for the base itself and for loops.
    walk.seen.extend(own.canonicalize());
    for input in inputs {
        if std::fs::symlink_metadata(input).is_err() {
            return Err(KbError::NoInput { path: input.clone() });
        }
        if input.is_dir() {
            walk.folder(input, "");
        } else {
            let name = input.file_name().unwrap_or(input.as_os_str());
            walk.file(input, name.to_string_lossy().into_owned());
        }
    }
    Ok((walk.files, walk.refused))
}

struct Walk {
    seen: HashSet<PathBuf>,
    files: Vec<InputFile>,
    refused: Vec<Refused>,
}

impl Walk {
    fn folder(&mut self, folder: &Path, prefix: &str) {
        let entered = folder.canonicalize().and_then(|real| {
            let fresh = self.seen.insert(real);
            Ok((fresh, std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?))
        });
        let entries = match entered {
            Ok((true, entries)) => entries,
            Ok((false, _)) => return,
            Err(e) => {
                let refusal = Refusal::new(
                    format!("the folder cannot be read: {e}"),
                    "check that it may be read",
                );
                return self.refused.push(refusal.of(folder));
            }
        };
        let mut names: Vec<_> = entries.into_iter().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            let shown = name.to_string_lossy();
            if shown.starts_with('.') {
                continue;
            }
            let path = folder.join(&name);
            let below = format!("{prefix}{shown}");
            if path.is_dir() {
                self.folder(&path, &format!("{below}/"));
            } else {
                self.file(&path, below);
            }
        }
    }

    /// Whether it can be read is found out when it is.
    fn file(&mut self, path: &Path, name: String) {
        let bytes = std::fs::metadata(path).map_or(0, |about| about.len());
        self.files.push(InputFile { path: path.to_owned(), name, bytes });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn folders_are_walked_in_order_without_hidden_files_and_loops() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("sub/.git")).unwrap();
        fs::create_dir_all(at("base/truth")).unwrap();
        for name in ["b.txt", "a.txt", ".hidden", "sub/c.md", "sub/.git/x", "base/y.txt"] {
            fs::write(at(name), "text").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path(), at("sub/loop")).unwrap();
        let (files, refused) = walk(&[dir.path().to_owned()], &at("base")).unwrap();
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a.txt", "b.txt", "sub/c.md"]);
        assert_eq!(refused, []);
    }

    #[test]
    fn an_input_that_is_not_there_is_an_error() {
        let found = walk(&[PathBuf::from("no such folder")], Path::new("."));
        assert!(found.unwrap_err().to_string().contains("no such folder"));
    }
}
