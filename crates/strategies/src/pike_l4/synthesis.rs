//! The report: factors, proposals with their evidence and objections, open points.
use halma_core::{Answer, Cx, IdeaGroup, IdeaStep, Prompt, Question, Result, UnlessFailed as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::PikeL4;
use super::board::Board;
use super::proposals::{Proposal, Proposals};
use super::report::Report;

const SYNTHESISE: Prompt<Synthesis> = Prompt::json("pike_l4/synthesise");

#[derive(Debug, Default, Deserialize)]
struct Synthesis {
    summary: String,
    /// With the numbers of the evidence: `Patients trust their pharmacist [2].`
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

/// Positions of ideas under a heading, which is empty where there is only one group.
struct Heading {
    title: String,
    ideas: Vec<usize>,
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
        let synthesis = said.unwrap_or_default();
        let headings = synthesis.headings(ideas.len());
        let group = |heading: &Heading| IdeaGroup {
            title: heading.title.clone(),
            ideas: heading.ideas.iter().map(|at| ideas[*at].ids.clone()).collect(),
        };
        cx.record_ideas(IdeaStep::Synthesised { groups: headings.iter().map(group).collect() });
        let unsupported = ideas.iter().filter(|idea| idea.rests_on.is_empty()).count();
        let reason = format!(
            "{} ideas from {} proposals; {unsupported} of them rest on no evidence. They are meant \
             to be checked, not carried out as they are.",
            ideas.len(),
            proposals.all.len(),
        );
        let answer = synthesis.report(&headings, &ideas, (board, proposals));
        Ok(Answer { reason, ..answer })
    }
}

impl Synthesis {
    /// Every idea under one heading; those that no group names are put at the end.
    fn headings(&self, ideas: usize) -> Vec<Heading> {
        let mut left: Vec<usize> = (0..ideas).collect();
        let mut headings = vec![];
        for group in &self.groups {
            let named = group.proposals.iter().filter_map(|number| number.checked_sub(1));
            let mut named: Vec<usize> = named.filter(|at| left.contains(at)).collect();
            named.dedup();
            left.retain(|at| !named.contains(at));
            if !named.is_empty() {
                headings.push(Heading { title: group.title.trim().to_owned(), ideas: named });
            }
        }
        if !left.is_empty() {
            let title = if headings.is_empty() { "" } else { "Further ideas" };
            headings.push(Heading { title: title.to_owned(), ideas: left });
        }
        headings
    }

    fn report(
        &self,
        headings: &[Heading],
        ideas: &[Proposal],
        (board, proposals): (&Board, &Proposals),
    ) -> Answer {
        let mut report = Report::new(&proposals.evidence);
        if !self.summary.trim().is_empty() {
            report.line(self.summary.trim());
        }
        if !self.factors.is_empty() {
            report.heading("Stages and factors");
            for factor in &self.factors {
                report.factor(factor.trim());
            }
        }
        for Heading { title, ideas: named } in headings {
            report.heading(title);
            for at in named {
                report.idea(&ideas[*at]);
            }
        }
        let open: Vec<&String> = self.open.iter().chain(&board.open).collect();
        report.list("Open points", &open);
        report.list("What to check next", &self.next.iter().collect::<Vec<_>>());
        report.into_answer()
    }
}
