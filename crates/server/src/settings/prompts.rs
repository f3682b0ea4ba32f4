//! The prompts that were changed over HTTP, as files for the engine, which reads them from a folder.
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use halma_engine::{Config, configured_prompts};

use crate::problem::Problem;

/// Writes these prompts to a folder of their dir, with those of the `configured` folder that they
/// do not replace. Returns which folder is to be read.
pub(crate) fn write_prompts(
    dir: &Path,
    configured: Option<&Path>,
    prompts: &BTreeMap<String, String>,
) -> Result<Option<PathBuf>, Problem> {
    let failed = |e: io::Error| Problem::io(&e);
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(e)),
        _ => {}
    }
    if prompts.is_empty() {
        return Ok(configured.map(Path::to_owned));
    }
    if let Some(configured) = configured {
        copy(configured, dir).map_err(failed)?;
    }
    for (name, text) in prompts {
        let path = dir.join(format!("{name}.md"));
        fs::create_dir_all(path.parent().unwrap_or(dir)).map_err(failed)?;
        fs::write(path, text).map_err(failed)?;
    }
    Ok(Some(dir.to_owned()))
}

/// Refuses prompts that are not valid together with those of the configured folder.
pub(crate) fn check_prompts(
    mut config: Config,
    prompts: &BTreeMap<String, String>,
) -> Result<(), Problem> {
    let trial = tempfile::tempdir().map_err(|e| Problem::io(&e))?;
    let configured = config.prompts_dir.filter(|dir| dir.is_dir());
    config.prompts_dir =
        write_prompts(&trial.path().join("prompts"), configured.as_deref(), prompts)?;
    configured_prompts(&config)?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to)?;
        } else {
            fs::copy(&path, &to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_those_of_the_configured_folder_but_for_the_changed_ones() {
        let root = tempfile::tempdir().unwrap();
        let (dir, configured) = (root.path().join("changed"), root.path().join("configured"));
        fs::create_dir_all(configured.join("a")).unwrap();
        fs::write(configured.join("a/x.md"), "x").unwrap();
        fs::write(configured.join("a/y.md"), "y").unwrap();
        let changed = BTreeMap::from([("a/y".to_owned(), "changed".to_owned())]);
        let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
        let used = write_prompts(&dir, Some(&configured), &changed).unwrap();
        assert_eq!(used.as_deref(), Some(dir.as_path()));
        assert_eq!((read("a/x.md"), read("a/y.md")), ("x".to_owned(), "changed".to_owned()));
        let used = write_prompts(&dir, Some(&configured), &BTreeMap::new()).unwrap();
        assert_eq!(used.as_deref(), Some(configured.as_path()));
        assert!(!dir.exists());
        assert_eq!(write_prompts(&dir, None, &BTreeMap::new()).unwrap(), None);
    }
}
