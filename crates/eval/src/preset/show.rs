//! Presets and their figures in words: for the terminal and as Markdown.
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::pages::pages;
use super::{
    Block, Figure, ListedRow, NeededFile, Ours, Pair, Preset, PresetQuestions, SideBySide,
    SideBySideRow, presets,
};
use crate::error::EvalError;
use crate::files::write;
use crate::judge::Protocol;
use crate::report::{aligned, escaped, markdown_row};

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
    pub(super) fn on(&self) -> String {
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

    /// What the paper gives for one data set and one model, as a table in Markdown.
    fn figures(&self, place: usize, block: &Block, out: &mut String) {
        let _ = write!(out, "\n{}, {}:\n\n", block.data_set.title(), block.model);
        let names = block.figures.iter().map(|figure| escaped(&figure.name()));
        markdown_row(std::iter::once("row".to_owned()).chain(names), out);
        let _ = writeln!(out, "|{}", "---|".repeat(block.figures.len() + 1));
        let shown =
            |value: &f64| if value.is_finite() { format!("{value:.2}") } else { "-".into() };
        for row in &self.rows {
            let values = row.figures.get(place).into_iter().flatten().map(shown);
            markdown_row(std::iter::once(escaped(&row.label)).chain(values), out);
        }
    }

    /// What `halma eval preset run` sets or expects, in words.
    pub(super) fn requirements(&self) -> Vec<(&'static str, String)> {
        let mut parts = vec![];
        let PresetQuestions { first, random, pool } = &self.questions;
        let asked = first.iter().map(|first| format!("--limit {first}"));
        let asked: Vec<String> = asked.chain(random.map(|n| format!("--sample {n}"))).collect();
        if !asked.is_empty() {
            let pool = if *pool { ", over a base of their own passages" } else { "" };
            parts.push(("asked", format!("{}{pool}", asked.join(" "))));
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
        let mut out = format!("{}\n", self.heading());
        let (over, under) = self.heads();
        let mut rows = vec![over, under];
        rows.extend(self.rows.iter().map(|row| self.cells(row)));
        for (place, page) in pages(&rows).iter().enumerate() {
            if place > 0 {
                out.push('\n');
            }
            for line in aligned(page).lines() {
                let _ = writeln!(out, "{}", line.trim_end());
            }
        }
        let runs: Vec<Vec<String>> = self.runs().map(|(row, run)| vec![row, run]).collect();
        if !runs.is_empty() {
            out.push_str("\nruns\n");
        }
        let widest = runs.iter().map(|run| run[0].chars().count()).max().unwrap_or(0);
        for run in &runs {
            let _ = writeln!(out, "  {:<widest$}  {}", run[0], run[1]);
        }
        for (whose, parts) in self.protocols() {
            let _ = writeln!(out, "\n{whose}");
            for (what, text) in parts {
                let _ = writeln!(out, "  {what}: {text}");
            }
        }
        let _ = writeln!(out, "\n{}", self.warning);
        for note in self.all_notes() {
            let _ = writeln!(out, "- {note}");
        }
        out
    }

    /// As a section of a Markdown document.
    pub fn markdown(&self) -> String {
        let mut out = format!("## {}\n\n", escaped(&self.heading()));
        let (over, under) = self.heads();
        let mut figure = "";
        let head = over.iter().zip(&under).map(|(over, under)| {
            figure = if over.is_empty() { figure } else { over };
            // After the pairs of figures there is one more column, which belongs to no figure.
            if matches!(under.as_str(), "row" | "n") {
                under.clone()
            } else {
                format!("{figure}, {under}")
            }
        });
        markdown_row(head, &mut out);
        let _ = writeln!(out, "|{}", "---|".repeat(over.len()));
        for row in &self.rows {
            markdown_row(self.cells(row).iter().map(|cell| escaped(cell)), &mut out);
        }
        out.push('\n');
        for (row, run) in self.runs() {
            let _ = writeln!(out, "- run of {}: `{run}`", escaped(&row));
        }
        for (whose, parts) in self.protocols() {
            let _ = writeln!(out, "- {whose}");
            for (what, text) in parts {
                let _ = writeln!(out, "  - {what}: {}", escaped(&text));
            }
        }
        let _ = writeln!(out, "\n**{}**\n", self.warning);
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

    /// Two lines: what the figure is, and whose.
    fn heads(&self) -> (Vec<String>, Vec<String>) {
        let mut over = vec![String::new()];
        let mut under = vec!["row".to_owned()];
        for (place, figure) in self.figures.iter().enumerate() {
            over.push(figure.name());
            match self.models.as_slice() {
                _ if !self.is_stated(place) => {}
                [_] => under.push("paper".into()),
                models => under.extend(models.iter().cloned()),
            }
            under.push("ours".into());
            over.resize(under.len(), String::new());
        }
        over.push(String::new());
        under.push("n".into());
        (over, under)
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
