//! The reference page of the data sets, made of their list.
use std::fmt::Write as _;

use super::entry::{DataSetEntry, Pool, PublishedFile, entries};

const HEAD: &str = "\
# Data sets

This page is generated from `crates/eval/data_sets`; a test checks that it is current. \
To regenerate it: `HALMA_WRITE_REFERENCE=1 cargo test -p halma-eval --test all reference`.

`halma eval FILE --format NAME` asks the questions of a file; `halma data check FILE` says which \
set it is and what of it can be used. `halma data show NAME` prints a set's paper, source, licence, \
file format, published files and metric. The files are not part of Halma: fetch them from their \
authors, under their licences.

How files are read:

- A JSON list, JSON lines, or (where `halma data show` says so) tab-separated values; UTF-8, unpacked.
- A malformed record is skipped and reported with its number, its line and the reason. A file of \
another format, or with no usable record, is refused as a whole.
- Gold answers may be a text, a number, true or false, or a list of such; the first is the main \
one. An empty answer refuses its record. Two records of one id: the second is refused.
- A record may lack passages: its question is asked, and no retrieval figure is reported for it.

The answer instruction in a strategy's prompt depends on the kind of answer: a short span, \
yes or no, one of the options, a number, a verdict about a claim, or whole sentences.

";

/// The page as Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    page.push_str("| name | data set | scored by | what is searched |\n|---|---|---|---|\n");
    for entry in entries() {
        let (name, title, metric) = (&entry.name, &entry.title, entry.metric.name());
        let _ = writeln!(page, "| `{name}` | {title} | {metric} | {} |", pool(&entry.searched));
    }
    page
}

impl DataSetEntry {
    /// Everything that is known about it, as Markdown.
    pub fn page(&self) -> String {
        let mut page = String::new();
        section(self, &mut page);
        page
    }

    /// What is searched for its questions, in words.
    pub fn searched_in_words(&self) -> String {
        pool(&self.searched)
    }

    /// Everything that is known about it, for programs.
    pub fn json(&self) -> serde_json::Value {
        let file = |file: &PublishedFile| {
            let PublishedFile { file, records, sha256 } = file;
            serde_json::json!({ "file": file, "records": records, "sha256": sha256 })
        };
        serde_json::json!({
            "name": self.name,
            "title": self.title,
            "paper": self.paper,
            "source": self.source,
            "licence": self.licence,
            "shape": self.shape,
            "metric": self.metric.name(),
            "searched": self.searched_in_words(),
            "files": self.files.iter().map(file).collect::<Vec<_>>(),
        })
    }
}

fn section(entry: &DataSetEntry, page: &mut String) {
    let _ = write!(page, "\n## {}\n\n", entry.title);
    let mut row = |what: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(page, "- {what}: {text}");
        }
    };
    row("Name", &format!("`{}`", entry.name));
    row("Paper", &entry.paper);
    row("Source", &entry.source);
    row("Licence", &entry.licence);
    row("Format", &entry.shape);
    row("Metric", &format!("{}. {}", entry.metric.name(), entry.metric.source()));
    row("Searched", &pool(&entry.searched));
    if let Some(companion) = &entry.companion {
        row("Read too, if it lies in the same folder", &format!("`{}`", companion.file));
    }
    if !entry.files.is_empty() {
        page.push_str("\n| file | records | SHA-256 |\n|---|---|---|\n");
    }
    for file in &entry.files {
        let hash = file.sha256.as_ref().map_or("not known".to_owned(), |hash| format!("`{hash}`"));
        let _ = writeln!(page, "| `{}` | {} | {hash} |", file.file, file.records);
    }
}

fn pool(pool: &Pool) -> String {
    match pool {
        Pool::Pooled => "the passages of all questions together".into(),
        Pool::EachAlone => "each question's own passages, never those of the others: they would \
                            answer what is unanswerable"
            .into(),
        Pool::Corpus(what) => what.clone(),
        Pool::Nothing => "nothing: the question holds what is needed".into(),
    }
}
