//! The page `docs/robustness.md`.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use halma_strategies::ALL;
use halma_testkit::{Mischief, Remedy};

use crate::run::End;

/// What the questions of one strategy and kind came to.
#[derive(Default, Clone, Copy)]
struct Cell {
    answered: usize,
    abstained: usize,
    errors: usize,
    leaks: usize,
    calls: u64,
}

#[derive(Default)]
pub(crate) struct Table {
    /// By kind, `None` for replies as they are, and strategy.
    cells: BTreeMap<(Option<Mischief>, &'static str), Cell>,
}

impl Table {
    pub(crate) fn add(&mut self, kind: Option<Mischief>, strategy: &'static str, end: &End) {
        let cell = self.cells.entry((kind, strategy)).or_default();
        match (&end.error, end.answer.as_str()) {
            (Some(_), _) => cell.errors += 1,
            (None, "") => cell.abstained += 1,
            (None, _) => cell.answered += 1,
        }
        cell.leaks += usize::from(end.leak.is_some());
        cell.calls += end.calls;
    }

    fn cell(&self, kind: Option<Mischief>, strategy: &'static str) -> Cell {
        self.cells.get(&(kind, strategy)).copied().unwrap_or_default()
    }

    /// Of the answers that are given without mischief, the share that these kinds leave.
    #[expect(clippy::cast_precision_loss, reason = "some thousand runs")]
    pub(crate) fn answered_share(&self, which: impl Fn(Mischief) -> bool) -> f64 {
        let (mut with, mut without) = (0, 0);
        for kind in Mischief::ALL.iter().copied().filter(|kind| which(*kind)) {
            for entry in ALL {
                let plain = self.cell(None, entry.name).answered;
                with += self.cell(Some(kind), entry.name).answered.min(plain);
                without += plain;
            }
        }
        with as f64 / f64::from(u32::try_from(without).unwrap_or(u32::MAX).max(1))
    }

    pub(crate) fn page(&self) -> String {
        let mut page = HEAD.to_owned();
        page.push_str("\n| replies | remedy | answers | abstentions | errors | leaks | calls |\n");
        page.push_str("|---|---|--:|--:|--:|--:|--:|\n");
        for kind in self.kinds() {
            let sum = ALL.iter().fold(Cell::default(), |sum, entry| {
                let cell = self.cell(kind, entry.name);
                Cell {
                    answered: sum.answered + cell.answered,
                    abstained: sum.abstained + cell.abstained,
                    errors: sum.errors + cell.errors,
                    leaks: sum.leaks + cell.leaks,
                    calls: sum.calls + cell.calls,
                }
            });
            let Cell { answered, abstained, errors, leaks, calls } = sum;
            let (name, remedy) = match kind {
                Some(kind) => (kind.describe(), remedy(kind)),
                None => ("as they are", ""),
            };
            let _ = writeln!(
                page,
                "| {name} | {remedy} | {answered} | {abstained} | {errors} | {leaks} | {calls} |"
            );
        }
        page.push_str(CELLS);
        let strategies: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
        let _ = writeln!(page, "\n| replies | {} |", strategies.join(" | "));
        let _ = writeln!(page, "|---|{}", "--:|".repeat(strategies.len()));
        for kind in self.kinds() {
            let name = kind.map_or("as they are", Mischief::describe);
            let cell = |strategy: &&'static str| match self.cell(kind, strategy) {
                Cell { answered, errors: 0, .. } => answered.to_string(),
                Cell { answered, errors, .. } => format!("{answered} ({errors})"),
            };
            let cells: Vec<String> = strategies.iter().map(cell).collect();
            let _ = writeln!(page, "| {name} | {} |", cells.join(" | "));
        }
        page
    }

    fn kinds(&self) -> Vec<Option<Mischief>> {
        let mut kinds: Vec<Option<Mischief>> = self.cells.keys().map(|(kind, _)| *kind).collect();
        kinds.dedup();
        kinds
    }
}

fn remedy(kind: Mischief) -> &'static str {
    match kind.remedy() {
        Remedy::Reading => "reading",
        Remedy::AnotherCall => "another call",
        Remedy::FallBack => "fall-back",
    }
}

const HEAD: &str = "# Robustness

What each strategy does with the replies that weak, careless and reasoning models give. `make robustness` makes this page: the offline model answers the questions of the sample library (with rules for the tasks that it does not know), another model spoils its replies in one way, and every run is counted. The figures say whether a run ends well, not whether its answer is right.

- **reading**: every reply is spoiled, and reading it with tolerance is enough.
- **another call**: every second reply is spoiled; the model is asked again with the complaint, the client calls again, or less is shown to a model with a small context.
- **fall-back**: every reply is spoiled and says nothing that can be used. A strategy continues without that part, which a note in the trace says, or abstains. `prob_tree` rests on log-probabilities and refuses to run without them.

An **error** is a question that ended with an error message. A **leak** is a draft from a model's thoughts, or an \"Unknown\", that became an answer or a part of a query.
";

const CELLS: &str = "
## Answers for each strategy

Answers to 20 questions; errors in parentheses.
";
