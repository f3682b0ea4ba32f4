//! Files attached to mail: which of them are given on, and under which names.
use std::collections::{HashMap, HashSet};

use halma_text::composed;

use crate::parsed::Attachment;
use crate::writer::Writer;

/// Attached files of one mail or mailbox that are given on.
const MAX_FILES: usize = 10_000;

/// Attached files that the text and the warnings name.
const NAMED: usize = 100;

/// Characters of a name.
const MAX_NAME: usize = 120;

/// What is attached to a mail, or to the mails of a mailbox.
#[derive(Debug, Default)]
pub(super) struct Attached {
    files: Vec<(String, Vec<u8>)>,
    /// Names of those that cannot be given on.
    lost: Vec<String>,
}

impl Attached {
    /// Adds a file; without bytes, it is in a form that is not read.
    pub(super) fn add(&mut self, name: Option<&str>, bytes: Option<Vec<u8>>) {
        let name = clean(name.unwrap_or_default());
        match bytes {
            Some(bytes) if self.files.len() < MAX_FILES => self.files.push((name, bytes)),
            _ => self.lost.push(name),
        }
    }

    /// The names of the first files.
    pub(super) fn names(&self) -> Vec<&str> {
        let files = self.files.iter().map(|(name, _)| name);
        files.chain(&self.lost).map(String::as_str).take(NAMED).collect()
    }

    pub(super) fn append(&mut self, other: Self) {
        self.lost.extend(other.lost);
        other.files.into_iter().for_each(|(name, bytes)| self.add(Some(&name), Some(bytes)));
    }

    /// The files, each with a name of its own; warns of those that are lost.
    pub(super) fn finish(self, writer: &mut Writer) -> Vec<Attachment> {
        for name in self.lost.iter().take(NAMED) {
            let hint = if name.eq_ignore_ascii_case("winmail.dat") {
                "save the mail in Outlook as .msg, or ask for it as HTML"
            } else {
                "give it by itself"
            };
            writer.warn(format!("the attached file `{name}` is not read; {hint}"));
        }
        if self.lost.len() > NAMED {
            writer.warn(format!("{} more attached files are not read", self.lost.len() - NAMED));
        }
        let (mut names, mut counts) = (HashSet::new(), HashMap::<String, usize>::new());
        let distinct = |(name, bytes): (String, Vec<u8>)| {
            let count = counts.entry(name.to_lowercase()).or_insert(0);
            loop {
                *count += 1;
                let name = numbered(&name, *count);
                if names.insert(name.to_lowercase()) {
                    return Attachment { name, bytes };
                }
            }
        };
        self.files.into_iter().map(distinct).collect()
    }
}

/// A name as one of several equal ones, its extension kept.
fn numbered(name: &str, number: usize) -> String {
    if number == 1 {
        return name.to_owned();
    }
    match name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
        Some((stem, extension)) => format!("{stem} ({number}).{extension}"),
        None => format!("{name} ({number})"),
    }
}

/// The name of a file without folders and what no name has.
fn clean(name: &str) -> String {
    let name = composed(name.rsplit(['/', '\\']).next().unwrap_or_default());
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    let name = name.trim().trim_start_matches('.');
    let skipped = name.chars().count().saturating_sub(MAX_NAME);
    // The end of a long name: its extension may say what it is.
    let name: String = name.chars().skip(skipped).collect();
    if name.is_empty() { "attached file".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attached_files_have_plain_names_of_their_own() {
        let mut attached = Attached::default();
        let long = format!("{}.pdf", "x".repeat(300));
        for name in ["a.pdf", "A.pdf", "../../etc/a.pdf", "c:\\b.txt", "\u{7}c\n.txt", "..", &long]
        {
            attached.add(Some(name), Some(vec![]));
        }
        attached.add(None, Some(vec![]));
        let files = attached.finish(&mut Writer::new("eml"));
        let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
        let long = format!("{}.pdf", "x".repeat(MAX_NAME - 4));
        let unnamed = ["attached file", &long, "attached file (2)"];
        assert_eq!(names[..5], ["a.pdf", "A (2).pdf", "a (3).pdf", "b.txt", "c.txt"]);
        assert_eq!(names[5..], unnamed);
    }

    #[test]
    fn files_beyond_the_limit_are_named() {
        let mut attached = Attached::default();
        (0..MAX_FILES + 200).for_each(|at| attached.add(Some(&format!("{at}.txt")), Some(vec![])));
        let mut writer = Writer::new("mbox");
        assert_eq!(attached.finish(&mut writer).len(), MAX_FILES);
        let warnings = writer.finish().warnings;
        assert_eq!(warnings.len(), 101);
        assert!(warnings[0].contains("`10000.txt`") && warnings[100].starts_with("100 more"));
    }
}
