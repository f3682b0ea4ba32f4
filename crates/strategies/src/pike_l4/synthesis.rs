//! The report: factors, proposals with their evidence and objections, open points.
use std::fmt::Write as _;

use halma_core::{Answer, Cx, Prompt, Question, Result, UnlessFailed as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::PikeL4;
use super::board::Board;
use super::proposals::{Proposal, Proposals};
use crate::shared::citing::joined;

const SYNTHESISE: Prompt<Synthesis> = Prompt::json("pike_l4/synthesise");

#[derive(Debug, Deserialize)]
struct Synthesis {
    summary: String,
    #[serde(default)]
    factors: Vec<String>,
    groups: Vec<Group>,
    #[serde(default)]
    open: Vec<String>,
    #[serde(default)]
    next: Vec<String>,
}

/// Proposals, which count from 1, under a heading.
#[derive(Debug, Deserialize)]
struct Group {
    title: String,
    proposals: Vec<usize>,
}

impl PikeL4 {
    pub(super) async fn synthesise(
        &self,
        question: &Question,
        board: &Board,
        proposals: &Proposals,
        cx: &Cx,
    ) -> Result<Answer> {
        let ideas = proposals.joined(self.alike);
        cx.note(format!("{} proposals, {} of them different", proposals.all.len(), ideas.len()));
        let variables = context! {
            question => Serde(question),
            evidence => Serde(&proposals.evidence),
            proposals => Serde(&ideas),
            open => Serde(&board.open),
        };
        let said = cx.reserve().ask(&SYNTHESISE, variables).await;
        let said = said.unless_failed(cx, "the proposals are given as they are")?;
        let text = match &said {
            Some(synthesis) => synthesis.report(&ideas, &board.open),
            None => plain(&ideas, &board.open),
        };
        let used = ideas.iter().flat_map(|idea| &idea.rests_on);
        let evidence = used.filter_map(|number| proposals.evidence.get(number.checked_sub(1)?));
        let citations = joined(evidence.flat_map(|evidence| evidence.citations.clone()));
        let unsupported = ideas.iter().filter(|idea| idea.rests_on.is_empty()).count();
        let reason = format!(
            "{} ideas from {} proposals; {unsupported} of them rest on no evidence. They are meant \
             to be checked, not carried out as they are.",
            ideas.len(),
            proposals.all.len(),
        );
        Ok(Answer { text, reason, citations, ..Answer::default() })
    }
}

impl Synthesis {
    /// The report; a proposal that no group names is put at the end.
    fn report(&self, ideas: &[Proposal], unanswered: &[String]) -> String {
        let mut out = format!("{}\n", self.summary.trim());
        section(&mut out, "Stages and factors", &self.factors);
        let mut left: Vec<usize> = (0..ideas.len()).collect();
        for group in &self.groups {
            let named = group.proposals.iter().filter_map(|number| number.checked_sub(1));
            let named: Vec<usize> = named.filter(|at| left.contains(at)).collect();
            left.retain(|at| !named.contains(at));
            if !named.is_empty() {
                let _ = writeln!(out, "\n{}", group.title.trim());
                for at in named {
                    describe(&ideas[at], &mut out);
                }
            }
        }
        if !left.is_empty() {
            let _ = writeln!(out, "\nFurther ideas");
            for at in left {
                describe(&ideas[at], &mut out);
            }
        }
        let open: Vec<String> = self.open.iter().chain(unanswered).cloned().collect();
        section(&mut out, "Open points", &open);
        section(&mut out, "What to check next", &self.next);
        out.trim().to_owned()
    }
}

fn plain(ideas: &[Proposal], unanswered: &[String]) -> String {
    let mut out = String::new();
    for idea in ideas {
        describe(idea, &mut out);
    }
    section(&mut out, "Open points", unanswered);
    out.trim().to_owned()
}

fn section(out: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(out, "\n{title}");
        for line in lines {
            let _ = writeln!(out, "- {}", line.trim());
        }
    }
}

fn describe(idea: &Proposal, out: &mut String) {
    let by = idea.by.join(", ");
    let score =
        if idea.score.is_empty() { String::new() } else { format!(", {} of 5", idea.score) };
    let _ = writeln!(out, "- {} ({by}{score})", idea.idea.trim_end_matches('.'));
    let mut line = |name: &str, text: &str| {
        if !text.trim().is_empty() {
            let _ = writeln!(out, "  {name}: {}", text.trim());
        }
    };
    line("How", &idea.mechanism);
    if idea.rests_on.is_empty() {
        line("Evidence", "none");
    }
    line("Risks", &idea.risks);
    line("Unknown", &idea.unknowns);
    line("Objections", &idea.objections.join(" "));
}
