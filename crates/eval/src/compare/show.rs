//! A comparison in words.
use std::fmt::Write as _;

use super::{Comparison, Difference};
use crate::figures::number;
use crate::report::{ReportTable, questions};

/// Questions named in full; the rest is counted.
const NAMED: usize = 20;

impl Comparison {
    /// For the terminal.
    pub fn table(&self) -> String {
        let common = questions(self.paired);
        let notes = self.flips() + &self.left_out();
        format!("{} → {}: {common} in common\n{}{notes}", self.a, self.b, self.changes().text())
    }

    /// As a section of a Markdown document.
    pub fn markdown(&self) -> String {
        let (common, changes) = (questions(self.paired), self.changes().markdown());
        let notes = self.flips() + &self.left_out();
        format!("## {} → {}\n\n{common} in common.\n\n{changes}\n{notes}\n", self.a, self.b)
    }

    /// The values, with a star for a change whose interval leaves out "no difference".
    fn changes(&self) -> ReportTable {
        let rows = self.differences.iter().map(|difference| {
            let [a, b, change, low, high] = cells(difference);
            let star = if difference.is_clear() { "  *" } else { "" };
            [difference.title.clone(), a, b, change, format!("{low} … {high}{star}")]
        });
        ReportTable::new(["", "first", "second", "change", "95 % interval"]).with(rows)
    }

    fn flips(&self) -> String {
        let test = &self.mcnemar;
        let same = self.paired - self.gained.len() - self.lost.len();
        let share = 100.0 * number(same) / number(self.paired.max(1));
        let mut out = format!(
            "the same outcome for {same} of {} ({share:.1} %); {} became right, {} became wrong; \
             McNemar's exact test: p = {}\n",
            questions(self.paired),
            test.gained,
            test.lost,
            if test.p < 0.0001 { "below 0.0001".to_owned() } else { format!("{:.4}", test.p) }
        );
        for (what, ids) in [("became right", &self.gained), ("became wrong", &self.lost)] {
            if ids.is_empty() {
                continue;
            }
            let named: Vec<&str> = ids.iter().take(NAMED).map(String::as_str).collect();
            let rest = ids.len().saturating_sub(NAMED);
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            let _ = writeln!(out, "  {what}: {}{more}", named.join(", "));
        }
        out
    }

    fn left_out(&self) -> String {
        let mut out = String::new();
        for (count, side) in [(self.only_a, &self.a), (self.only_b, &self.b)] {
            if count > 0 {
                let _ =
                    writeln!(out, "left out: {} that only `{side}` has scored", questions(count));
            }
        }
        for caution in &self.cautions {
            let _ = writeln!(out, "caution: {caution}");
        }
        let (resamples, seed) = (self.resampling.resamples, self.resampling.seed);
        let _ = writeln!(out, "intervals: paired bootstrap, {resamples} resamples, seed {seed}");
        out
    }
}

impl Difference {
    /// Whether the interval leaves out "no difference".
    pub fn is_clear(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Both values, the change and its interval.
fn cells(difference: &Difference) -> [String; 5] {
    let Difference { a, b, difference: change, low, high, format, .. } = difference;
    let plain = |value: &f64| format.render(Some(*value));
    let signed = |value: &f64| {
        let sign = if *value < 0.0 { "" } else { "+" };
        format!("{sign}{}", plain(value))
    };
    [plain(a), plain(b), signed(change), signed(low), signed(high)]
}
