//! The text of the report, with the numbers of the passages that it rests on.
use std::fmt::Write as _;

use halma_core::text::support::{TitledText, is_supported};
use halma_core::{Answer, Citation, Claim, FullAnswer};

use super::board::BoardItem;
use super::proposals::Proposal;
use crate::shared::citing::renumbered;

/// Passages that are named for one item of the evidence.
const NAMED: usize = 2;

/// A report that grows line by line. Evidence counts from 1.
pub(super) struct Report<'a> {
    evidence: &'a [BoardItem],
    text: String,
    citations: Vec<Citation>,
    claims: Vec<Claim>,
}

impl<'a> Report<'a> {
    pub(super) fn new(evidence: &'a [BoardItem]) -> Self {
        Self { evidence, text: String::new(), citations: vec![], claims: vec![] }
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// An empty one is only a gap.
    pub(super) fn heading(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        if !title.is_empty() {
            self.line(title);
        }
    }

    pub(super) fn list(&mut self, title: &str, lines: &[&String]) {
        if !lines.is_empty() {
            self.heading(title);
            for line in lines {
                self.line(&format!("- {}", line.trim()));
            }
        }
    }

    /// A statement about the evidence: it has to be supported by it.
    pub(super) fn factor(&mut self, factor: &str) {
        let (mut named, mut citations) = (vec![], vec![]);
        let marked = renumbered(factor, |number| {
            let item = self.evidence.get(number.checked_sub(1)?)?;
            let number_cited = self.cite(item.citations.first()?.clone());
            named.push(number - 1);
            citations.push(number_cited);
            Some(number_cited)
        });
        let plain = renumbered(factor, |_| None);
        let text = |item: &'a BoardItem| TitledText { title: &item.about, text: &item.text };
        let all: Vec<TitledText<'_>> = self.evidence.iter().map(text).collect();
        let cited: Vec<TitledText<'_>> = named.iter().map(|at| all[*at]).collect();
        let supported = is_supported(&plain, &cited) || is_supported(&plain, &all);
        let start = self.text.chars().count() + 2;
        let end = start + marked.chars().count();
        self.claims.push(Claim { start, end, citations, supported });
        self.line(&format!("- {marked}"));
    }

    /// An idea is a proposal and no claim: what it rests on is named, or that it rests on nothing.
    pub(super) fn idea(&mut self, idea: &Proposal) {
        let by = idea.by.join(", ");
        let score =
            if idea.score.is_empty() { String::new() } else { format!(", {} of 5", idea.score) };
        let marks = self.marks(&idea.rests_on);
        self.line(&format!("- {}{marks} ({by}{score})", idea.idea.trim_end_matches('.')));
        let evidence = if idea.rests_on.is_empty() { "none" } else { "" };
        let objections = idea.objections.join(" ");
        for (name, text) in [
            ("How", idea.mechanism.trim()),
            ("Evidence", evidence),
            ("Risks", idea.risks.trim()),
            ("Unknown", idea.unknowns.trim()),
            ("Objections", objections.trim()),
        ] {
            if !text.is_empty() {
                self.line(&format!("  {name}: {text}"));
            }
        }
    }

    fn marks(&mut self, rests_on: &[usize]) -> String {
        let mut numbers = vec![];
        for number in rests_on {
            let Some(item) = number.checked_sub(1).and_then(|at| self.evidence.get(at)) else {
                continue;
            };
            for citation in item.citations.iter().take(NAMED) {
                let number = self.cite(citation.clone());
                if !numbers.contains(&number) {
                    numbers.push(number);
                }
            }
        }
        let mut marks = String::new();
        for (at, number) in numbers.iter().enumerate() {
            let space = if at == 0 { " " } else { "" };
            let _ = write!(marks, "{space}[{number}]");
        }
        marks
    }

    /// The number of a citation, from 1.
    fn cite(&mut self, citation: Citation) -> usize {
        let position = self.citations.iter().position(|other| *other == citation);
        1 + position.unwrap_or_else(|| {
            self.citations.push(citation);
            self.citations.len() - 1
        })
    }

    pub(super) fn into_answer(self) -> Answer {
        let Self { text, citations, claims, .. } = self;
        let text = text.trim_end().to_owned();
        let full = Some(FullAnswer { text: text.clone(), claims });
        Answer { text, citations, full, ..Answer::default() }
    }
}
