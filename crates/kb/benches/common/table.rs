//! Figures of several sizes as one table, each next to the figure before format 7.
use std::fmt::Write as _;

/// Measured with the bench `scale` before format 7, on the machine of docs/how-fast.md.
const BEFORE: &str = include_str!("../scale_before.txt");

/// The rows of the table: the name of a figure and what it is.
const ROWS: [(&str, &str); 21] = [
    ("bm25-cpu", "BM25, CPU a search, ms"),
    ("bm25-p50", "BM25, p50, ms"),
    ("dense-cpu", "dense, CPU, ms"),
    ("dense-p50", "dense, p50, ms"),
    ("dense-atoms-cpu", "dense over sentences, CPU, ms"),
    ("dense-atoms-p50", "dense over sentences, p50, ms"),
    ("hybrid-cpu", "hybrid, CPU, ms"),
    ("hybrid-p50", "hybrid, p50, ms"),
    ("graph-cpu", "graph, CPU, ms"),
    ("graph-p50", "graph, p50, ms"),
    ("graph-9-texts", "graph, nine texts in one search, ms"),
    ("first-graph", "first graph search of a process, ms"),
    ("bm25-after-publish", "first BM25 search after a document was added, ms"),
    ("dense-after-publish", "first dense search after it, ms"),
    ("hybrid-after-publish", "first hybrid search after it, ms"),
    ("graph-after-publish", "first graph search after it, ms"),
    ("index-cpu", "indexing, CPU a passage, µs"),
    ("index", "indexing, passages/s"),
    ("resident-own", "memory of the process, MB"),
    ("resident-files", "resident pages of its files, MB"),
    ("disk", "disk, kB a passage"),
];

/// A figure of a base of one size.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) passages: usize,
    pub(crate) name: String,
    pub(crate) value: f64,
}

impl Figure {
    /// The line by which a process tells another.
    pub(crate) fn line(&self) -> String {
        format!("{} {} {:.3}", self.passages, self.name, self.value)
    }

    /// What [`Figure::line`] made, also with more after it; `None` for any other line.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split(' ');
        let (passages, name, value) = (parts.next()?, parts.next()?, parts.next()?);
        let (passages, value) = (passages.parse().ok()?, value.parse().ok()?);
        Some(Self { passages, name: name.to_owned(), value })
    }
}

/// Markdown: a row for each figure, and for each size the figure now, that before, and the ratio.
pub(crate) fn table(figures: &[Figure], sizes: &[usize]) -> String {
    let before: Vec<Figure> = BEFORE.lines().filter_map(Figure::parse).collect();
    let mut text = "| what |".to_owned();
    for size in sizes {
        let _ = write!(text, " {size}: now | before | ratio |");
    }
    let _ = writeln!(text, "\n|---|{}", "--:|--:|--:|".repeat(sizes.len()));
    for (name, what) in ROWS {
        let _ = write!(text, "| {what} |");
        for size in sizes {
            let [now, before] = [figures, &before].map(|list| find(list, *size, name));
            let ratio = now.zip(before).map(|(now, before)| now / before);
            let _ = write!(text, " {} | {} | {} |", show(now), show(before), show(ratio));
        }
        text.push('\n');
    }
    text
}

fn find(figures: &[Figure], passages: usize, name: &str) -> Option<f64> {
    let same = |figure: &&Figure| figure.passages == passages && figure.name == name;
    figures.iter().find(same).map(|figure| figure.value)
}

/// Three digits; a line where there is no figure.
fn show(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value >= 100.0 => format!("{value:.0}"),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) if value >= 1.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.3}"),
    }
}
