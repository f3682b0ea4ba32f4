//! Presets and their figures in words: for the terminal and as Markdown.
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{
    Block, Figure, ListedRow, NeededFile, Ours, Pair, Preset, PresetQuestions, PresetRow,
    SideBySide, SideBySideRow, presets,
};
use crate::error::EvalError;
use crate::journal::write;
use crate::judge::Protocol;
use crate::report::{ReportTable, escaped};

/// Characters of a line; a single figure may need more.
const WIDTH: usize = 120;

/// All tables by name, each with what it is measured on or why it is not run.
pub fn preset_list() -> String {
    let width = |of: fn(&Preset) -> usize| presets().iter().map(of).max().unwrap_or(0);
    let names = width(|preset| preset.name.len());
    let mut out = String::new();
    for preset in presets() {
        let Preset { name, paper, table, title, .. } = preset;
        let _ = writeln!(out, "{name:<names$}  {paper}, {table}: {title}");
        let _ = writeln!(out, "{:names$}  {}", "", preset.state());
    }
    out
}

impl Preset {
    /// Whether it runs: on what, without which rows, or why not.
    pub(super) fn state(&self) -> String {
        if let Some(reason) = &self.not_run {
            return format!("not run: {reason}");
        }
        let left_out = self.rows.iter().filter_map(|row| {
            row.not_run.as_ref().map(|reason| format!("; without {}: {reason}", row.label))
        });
        format!("runs on {}{}", self.on(), left_out.collect::<String>())
    }

    /// Its data sets in words, each with its name on the command line.
    fn on(&self) -> String {
        let formats = self.formats();
        let named = formats.iter().map(|format| format!("{} ({format})", format.title()));
        named.collect::<Vec<_>>().join(", ")
    }

    /// What has a model judge by the paper's protocol.
    pub(super) fn judge_flag(&self) -> Option<&'static str> {
        self.judge.map(|protocol| match protocol {
            Protocol::Pike => "--judge pike",
            Protocol::Dec => "--judge dec",
        })
    }

    /// Its rows with their runs, the protocol, the notes and the paper's figures; `strategies` are those that
    /// exist, and decide which rows can be run.
    pub fn listing(&self, strategies: &[&str]) -> String {
        let Self { paper, table, title, protocol, .. } = self;
        let mut out = format!("{paper}, {table}: {title}\n{}\n\n", self.state());
        if self.not_run.is_some() {
            return out;
        }
        let rows = self.listed(strategies);
        let widest = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
        for ListedRow { label, run, missing, .. } in &rows {
            let _ = write!(out, "{label:<widest$}  {}", run.as_deref().unwrap_or("-"));
            let _ = match missing {
                Some(reason) => writeln!(out, "  (not run: {reason})"),
                None => writeln!(out),
            };
        }
        out.push('\n');
        for (what, text) in protocol.parts() {
            let _ = writeln!(out, "{what}: {text}");
        }
        if let Some(flag) = self.judge_flag() {
            let _ = writeln!(out, "judge: {flag}");
        }
        for (what, text) in self.requirements() {
            let _ = writeln!(out, "{what}: {text}");
        }
        for note in &self.notes {
            let _ = writeln!(out, "note: {note}");
        }
        for (place, block) in self.columns.iter().enumerate() {
            self.figures(place, block, &mut out);
        }
        out
    }

    /// What the paper gives for one data set and one model, as a table.
    fn figures(&self, place: usize, block: &Block, out: &mut String) {
        let names = block.figures.iter().map(Figure::name);
        let shown =
            |value: &f64| if value.is_finite() { format!("{value:.2}") } else { "-".into() };
        let row = |row: &PresetRow| {
            let values = row.figures.get(place).into_iter().flatten().map(shown);
            std::iter::once(row.label.clone()).chain(values).collect::<Vec<_>>()
        };
        let head = std::iter::once("row".to_owned()).chain(names);
        let table = ReportTable::new(head).with(self.rows.iter().map(row));
        let _ = write!(out, "\n{}, {}:\n\n{}", block.data_set.title(), block.model, table.text());
    }

    /// What `halma eval preset run` sets or expects, in words.
    pub(super) fn requirements(&self) -> Vec<(&'static str, String)> {
        let mut parts = vec![];
        let PresetQuestions { first, random, pool } = &self.questions;
        let flags = first.iter().map(|first| format!("--limit {first}"));
        let flags: Vec<String> = flags.chain(random.map(|n| format!("--sample {n}"))).collect();
        if !flags.is_empty() {
            let pool = if *pool { ", over a base of their own passages" } else { "" };
            parts.push(("asked", format!("{}{pool}", flags.join(" "))));
        }
        if let Some(profile) = self.profile {
            parts.push(("answers compared", format!("--profile {}", profile.name())));
        }
        if !self.config.is_empty() {
            let keys = self.config.iter().map(|(key, value)| format!("{key} = {value}"));
            parts.push(("configuration", keys.collect::<Vec<_>>().join(", ")));
        }
        for block in self.columns.iter().filter(|block| !block.conditions.is_empty()) {
            let conditions = block.conditions.iter().map(|one| format!("--where {one}"));
            let text = format!("{} ({})", conditions.collect::<Vec<_>>().join(" "), block.data_set);
            parts.push(("asked", text));
        }
        for NeededFile { format, file, source } in self.needed_files() {
            parts.push(("file", format!("{file} of {format}, published at {source}")));
        }
        parts
    }
}

impl super::PresetProtocol {
    pub(super) fn parts(&self) -> [(&'static str, &str); 4] {
        [
            ("questions", &self.sample),
            ("searched", &self.corpus),
            ("model", &self.model),
            ("figures", &self.metric),
        ]
    }
}

impl SideBySide {
    /// For the terminal.
    pub fn text(&self) -> String {
        let (table, groups) = self.table();
        let pages = table.pages(WIDTH, &groups);
        let pages: Vec<String> = pages.iter().map(ReportTable::text).collect();
        format!("{}\n{}{}", self.heading(), pages.join("\n"), self.details(str::to_owned, ""))
    }

    /// As a section of a Markdown document.
    pub fn markdown(&self) -> String {
        let table = self.table().0.markdown();
        format!("## {}\n\n{table}{}", escaped(&self.heading()), self.details(escaped, "**"))
    }

    /// The runs, both protocols, the warning and the notes.
    fn details(&self, escaped: fn(&str) -> String, bold: &str) -> String {
        let mut out = String::from("\n");
        for (row, run) in self.runs() {
            let _ = writeln!(out, "- run of {}: `{run}`", escaped(&row));
        }
        for (whose, parts) in self.protocols() {
            let _ = writeln!(out, "- {whose}");
            for (what, text) in parts {
                let _ = writeln!(out, "  - {what}: {}", escaped(&text));
            }
        }
        let _ = writeln!(out, "\n{bold}{}{bold}\n", self.warning);
        for note in self.all_notes() {
            let _ = writeln!(out, "- {}", escaped(&note));
        }
        out
    }

    /// Writes it as `table.md` into the folder of the report; returns the file.
    pub fn save(&self, out: &Path) -> Result<PathBuf, EvalError> {
        let file = out.join("table.md");
        write(&file, "the table cannot be written", self.markdown().as_bytes())?;
        Ok(file)
    }

    fn heading(&self) -> String {
        let Self { paper, table, title, .. } = self;
        format!("{paper}, {table}: {title}; {} ({})", self.format.title(), self.ours.dataset)
    }

    /// The table, and how many of its columns belong together.
    fn table(&self) -> (ReportTable, Vec<usize>) {
        let (mut head, mut groups) = (vec!["row".to_owned()], vec![]);
        for (place, figure) in self.figures.iter().enumerate() {
            let before = head.len();
            match self.models.as_slice() {
                _ if !self.is_stated(place) => {}
                [_] => head.push(format!("{}, paper", figure.name())),
                models => head.extend(models.iter().map(|m| format!("{}, {m}", figure.name()))),
            }
            head.push(format!("{}, ours", figure.name()));
            groups.push(head.len() - before);
        }
        head.push("n".into());
        groups.push(1);
        (ReportTable::new(head).with(self.rows.iter().map(|row| self.cells(row))), groups)
    }

    fn cells(&self, row: &SideBySideRow) -> Vec<String> {
        let mut cells = vec![row.label.clone()];
        for (place, (figure, pair)) in self.figures.iter().zip(&row.pairs).enumerate() {
            let paper = pair.paper.iter().copied().filter(|_| self.is_stated(place));
            cells.extend(paper.map(|value| value.map_or("-".into(), plain)));
            cells.push(ours(figure, pair, row.scored));
        }
        cells.push(match row.scored {
            None => "-".into(),
            Some(scored) if scored == self.ours.n => scored.to_string(),
            Some(scored) => format!("{scored} of {}", self.ours.n),
        });
        cells
    }

    /// Whether the paper states the figure for any row.
    fn is_stated(&self, place: usize) -> bool {
        let pairs = self.rows.iter().filter_map(|row| row.pairs.get(place));
        pairs.flat_map(|pair| &pair.paper).any(Option::is_some)
    }

    /// The rows that were run, each with the label of its run.
    fn runs(&self) -> impl Iterator<Item = (String, String)> {
        let run = self.rows.iter().filter(|row| row.scored.is_some());
        run.filter_map(|row| Some((row.label.clone(), row.run.clone()?)))
    }

    /// The paper's and ours.
    fn protocols(&self) -> [(&str, Vec<(&str, String)>); 2] {
        let paper = self.protocol.parts().map(|(what, text)| (what, text.to_owned()));
        let Ours { dataset, sample, base, models, .. } = &self.ours;
        let models: Vec<&str> = models.iter().map(String::as_str).collect();
        let models = if models.is_empty() { "none" } else { &models.join(", ") };
        let ours = vec![
            ("questions", format!("{sample}, of {dataset}")),
            ("searched", if base.is_empty() { "no base".into() } else { format!("base {base}") }),
            ("model", models.to_owned()),
        ];
        [(&self.paper, paper.to_vec()), ("ours", ours)]
    }

    fn all_notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        if !self.others.is_empty() {
            notes.push(format!("runs that the table has no row for: {}", self.others.join(", ")));
        }
        notes
    }
}

/// With its number of questions, where that is not the row's.
fn ours(figure: &Figure, pair: &Pair, scored: Option<usize>) -> String {
    let Some(value) = pair.ours else { return "-".into() };
    let value = if figure.is_percent() { format!("{value:.1}") } else { plain(value) };
    if Some(pair.n) == scored { value } else { format!("{value} (n {})", pair.n) }
}

/// Decimals say nothing of a thousand tokens.
fn plain(value: f64) -> String {
    if value < 1_000.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}
