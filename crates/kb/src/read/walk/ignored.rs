//! Files that a folder itself leaves out: by `.gitignore` and `.halmaignore`, and the folders into which
//! package managers put the files of others.
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::super::{Refusal, refusal};

/// In the order of their precedence: the rules of the last one hold where they differ.
const FILES: [&str; 2] = [".gitignore", ".halmaignore"];

const DEPENDENCIES: [&str; 3] = ["node_modules", "bower_components", "__pycache__"];

/// The rules of the folders that are open, the outermost first.
#[derive(Default)]
pub(super) struct IgnoreRules(Vec<Gitignore>);

impl IgnoreRules {
    /// Adds the rules of a folder, which hold until [`IgnoreRules::leave`].
    pub(super) fn enter(&mut self, folder: &Path) {
        let mut rules = GitignoreBuilder::new(folder);
        for file in FILES.map(|name| folder.join(name)).iter().filter(|file| file.is_file()) {
            if let Some(e) = rules.add(file) {
                tracing::warn!("`{}`: a rule cannot be used: {e}", file.display());
            }
        }
        self.0.push(rules.build().unwrap_or_else(|e| {
            tracing::warn!("`{}`: its rules cannot be used: {e}", folder.display());
            Gitignore::empty()
        }));
    }

    pub(super) fn leave(&mut self) {
        self.0.pop();
    }

    /// Why something in the innermost folder is left out; `None` where it is read.
    pub(super) fn refusal(&self, path: &Path, is_folder: bool) -> Option<Refusal> {
        for rules in self.0.iter().rev() {
            match rules.matched(path, is_folder) {
                Match::Ignore(rule) => {
                    let file = rule.from().and_then(Path::file_name).unwrap_or_default();
                    let reason = format!("`{}` leaves it out", file.display());
                    let hint = "a rule `!NAME` in a file `.halmaignore` of its folder lets it in";
                    return Some(refusal(reason, hint));
                }
                Match::Whitelist(_) => return None,
                Match::None => {}
            }
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        (is_folder && DEPENDENCIES.contains(&name)).then(|| {
            let reason = format!("folders `{name}` hold files of other programs");
            refusal(reason, "name the folder itself to index it")
        })
    }
}
