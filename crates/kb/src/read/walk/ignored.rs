//! Files that a folder itself leaves out: by `.gitignore` and `.halmaignore`, and the folders into which
//! package managers put the files of others.
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::super::{Refusal, refusal};

/// Bytes of a file of rules at most. Some rules take a thousand times their size.
const LONGEST: u64 = 100_000;

/// In the order of their precedence: the rules of the last one hold where they differ.
const FILES: [&str; 2] = [".gitignore", ".halmaignore"];

const DEPENDENCIES: [&str; 3] = ["node_modules", "bower_components", "__pycache__"];

/// The rules of the folders that are open, the outermost first.
#[derive(Default)]
pub(super) struct IgnoreRules(Vec<Gitignore>);

impl IgnoreRules {
    /// Adds the rules of a folder, which hold until [`IgnoreRules::leave`]. A folder whose rules cannot
    /// be used is not read: they may be there to keep something secret.
    pub(super) fn enter(&mut self, folder: &Path) -> Result<(), Refusal> {
        let mut rules = GitignoreBuilder::new(folder);
        for name in FILES {
            let file = folder.join(name);
            let Ok(about) = std::fs::metadata(&file) else { continue };
            let hint = "shorten or correct it, or remove it to read the whole folder";
            if about.len() > LONGEST {
                return Err(refusal(format!("its `{name}` has more than {LONGEST} bytes"), hint));
            }
            if let Some(e) = rules.add(&file) {
                return Err(refusal(format!("a rule of its `{name}` cannot be used: {e}"), hint));
            }
        }
        let rules = rules.build().map_err(|e| {
            let reason = format!("its `.gitignore` and `.halmaignore` cannot be used: {e}");
            refusal(reason, "use fewer and simpler rules")
        })?;
        self.0.push(rules);
        Ok(())
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
