//! Which files of a folder are read.
use std::path::Path;
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use halma_core::text::composed;

use crate::{IndexOptions, KbError};

/// The patterns of [`IndexOptions`], ready to be matched. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    include: Option<Arc<GlobSet>>,
    exclude: Option<Arc<GlobSet>>,
    /// The real path of the configuration file.
    configuration: Option<Arc<Path>>,
}

impl Selection {
    pub(crate) fn new(options: &IndexOptions) -> Result<Self, KbError> {
        // With the defaults only there is no such file.
        let configuration =
            options.configuration.as_ref().and_then(|path| path.canonicalize().ok());
        Ok(Self {
            include: set(&options.include)?,
            exclude: set(&options.exclude)?,
            configuration: configuration.map(Into::into),
        })
    }

    /// Whether a file is the configuration, by its own name or by a link.
    pub(crate) fn is_configuration(&self, path: &Path) -> bool {
        let Some(file) = &self.configuration else { return false };
        // Links are resolved of these only: there may be millions of files.
        let mut names = path.file_name().into_iter().zip(file.file_name());
        let is_named_so = names.any(|(name, configured)| name.eq_ignore_ascii_case(configured));
        (is_named_so || path.is_symlink()) && path.canonicalize().is_ok_and(|real| real == **file)
    }

    /// Whether a file is read; the path is the one below the folder that was given.
    pub(crate) fn takes(&self, below: &str) -> bool {
        self.include.as_ref().is_none_or(|include| include.is_match(below)) && !self.leaves(below)
    }

    /// Whether a file or a folder, or a folder above it, is left out.
    pub(crate) fn leaves(&self, below: &str) -> bool {
        let Some(exclude) = &self.exclude else { return false };
        let ends = below.match_indices('/').map(|(at, _)| at).chain([below.len()]);
        ends.map(|end| &below[..end]).any(|part| exclude.is_match(part))
    }
}

/// `None` for no patterns at all.
fn set(globs: &[String]) -> Result<Option<Arc<GlobSet>>, KbError> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let wrong = |source| KbError::InvalidPattern { pattern: glob.clone(), source };
        if glob.trim().is_empty() {
            return Err(KbError::EmptyPattern);
        }
        let bare = glob.trim_start_matches("./").trim_end_matches('/');
        let anywhere = !bare.contains('/');
        let whole =
            if anywhere { format!("**/{bare}") } else { bare.trim_start_matches('/').into() };
        set.add(
            GlobBuilder::new(&composed(&whole)).literal_separator(true).build().map_err(wrong)?,
        );
    }
    let wrong = |source| KbError::InvalidPattern { pattern: globs.join(" "), source };
    Ok(Some(Arc::new(set.build().map_err(wrong)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(include: &[&str], exclude: &[&str]) -> Result<Selection, KbError> {
        let strings = |globs: &[&str]| globs.iter().map(|&glob| glob.to_owned()).collect();
        Selection::new(&IndexOptions {
            include: strings(include),
            exclude: strings(exclude),
            ..IndexOptions::default()
        })
    }

    #[test]
    fn a_pattern_without_a_slash_is_one_for_names() {
        let some = selection(&["*.md", "law/*.txt"], &["drafts/", "old/**/*.md"]).unwrap();
        for taken in ["a.md", "x/y/b.md", "law/c.txt", "old.md"] {
            assert!(some.takes(taken), "{taken}");
        }
        for left in ["a.txt", "x/law/c.txt", "law/x/c.txt", "drafts/a.md", "x/drafts/y/a.md"] {
            assert!(!some.takes(left), "{left}");
        }
        assert!(!some.takes("old/x/a.md") && !some.takes("old/a.md"));
        assert!(some.leaves("drafts") && !some.leaves("draft"));
    }

    #[test]
    fn without_patterns_everything_is_taken() {
        assert!(selection(&[], &[]).unwrap().takes("a\nb/\u{fffd}.x"));
    }

    #[test]
    fn a_malformed_pattern_is_named() {
        for wrong in ["[a", "{a,b", "a{"] {
            let said = selection(&["*.md", wrong], &[]).unwrap_err().to_string();
            assert!(said.contains(&format!("`{wrong}`")), "{said}");
        }
        assert!(selection(&[""], &[]).unwrap_err().to_string().contains("empty"));
    }
}
