//! Which builds are about which files.
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{Build, RefusedFile};

/// The builds of a workspace by the names of files, so that a list of many files looks at each build
/// once.
pub(crate) struct Coverage<'a> {
    /// The newest build that names a file, if it is newer than `everything`.
    named: HashMap<&'a str, &'a Build>,
    /// The newest build of everything.
    everything: Option<&'a Build>,
    /// What the newest build said that refused a file.
    refusals: HashMap<&'a str, &'a RefusedFile>,
}

impl<'a> Coverage<'a> {
    /// Of builds, the newest one first.
    pub(crate) fn new(builds: &'a [Build]) -> Self {
        let mut coverage =
            Self { named: HashMap::new(), everything: None, refusals: HashMap::new() };
        for build in builds.iter().filter(|build| build.samples.is_none()) {
            for file in build.report.iter().flat_map(|report| &report.refused) {
                coverage.refusals.entry(&file.name).or_insert(file);
            }
            if coverage.everything.is_some() {
                continue;
            }
            let Some(uploads) = &build.uploads else {
                coverage.everything = Some(build);
                continue;
            };
            for name in uploads.iter() {
                if let Entry::Vacant(entry) = coverage.named.entry(name) {
                    entry.insert(build);
                }
            }
        }
        coverage
    }

    /// The newest build that includes a file.
    pub(crate) fn newest(&self, name: &str) -> Option<&'a Build> {
        self.named.get(name).copied().or(self.everything)
    }

    /// Why a build refused a file.
    pub(crate) fn refusal(&self, name: &str) -> Option<String> {
        let refused = self.refusals.get(name)?;
        Some(format!("{}: {}", refused.reason, refused.hint))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::BuildReport;
    use super::*;

    fn build(id: &str, uploads: Option<&[&str]>, refused: &[(&str, &str)]) -> Build {
        let uploads = uploads.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let refused = refused.iter().map(|(name, why)| RefusedFile::new(name, *why, "fix it"));
        let report = BuildReport::new(refused.collect(), serde_json::Map::new());
        Build { report: Some(Arc::new(report)), ..Build::queued(id.into(), uploads, None) }
    }

    #[test]
    fn a_file_is_covered_by_the_newest_build_that_includes_it() {
        let learning = Build { samples: Some([].into()), ..build("5", None, &[]) };
        let builds = [
            learning,
            build("4", Some(&["a", "b"]), &[]),
            build("3", Some(&["a"]), &[("b", "new"), ("a", "new")]),
            build("2", None, &[("b", "old"), ("c", "old")]),
            build("1", Some(&["c"]), &[]),
        ];
        let coverage = Coverage::new(&builds);
        let newest = |name| coverage.newest(name).map(|build| build.id.as_str());
        assert_eq!([newest("a"), newest("b"), newest("c")], [Some("4"), Some("4"), Some("2")]);
        assert_eq!(coverage.refusal("b").unwrap(), "new: fix it");
        assert_eq!(coverage.refusal("c").unwrap(), "old: fix it");
        assert_eq!(coverage.refusal("d"), None);
        assert!(Coverage::new(&builds[..2]).newest("c").is_none());
    }
}
