//! A plan as a person reads it.
use std::fmt::Write;

use super::{Plan, Step};

impl Plan {
    /// The tree, a line for each question with its step; the last line has no end.
    #[must_use]
    pub fn draw(&self) -> String {
        let mut out = self.nodes.first().map(|root| root.question.clone()).unwrap_or_default();
        out.push_str(&self.step_of(0));
        self.below(0, "", &mut out);
        out
    }

    fn below(&self, place: usize, indent: &str, out: &mut String) {
        let Step::Inner(parts) = &self.nodes[place].step else { return };
        for (at, part) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            let (branch, stem) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            // Writing to a string cannot fail.
            let _ = write!(out, "\n{indent}{branch}{part}. {}", self.nodes[*part].question);
            out.push_str(&self.step_of(*part));
            self.below(*part, &format!("{indent}{stem}"), out);
        }
    }

    fn step_of(&self, place: usize) -> String {
        match &self.nodes[place].step {
            Step::Inner(_) => String::new(),
            Step::Call(call) => format!("  → {call}"),
            Step::Reason(steps) => {
                let steps: Vec<String> = steps.iter().map(|step| format!("#{step}")).collect();
                format!("  → Reason({})", steps.join(", "))
            }
        }
    }
}
