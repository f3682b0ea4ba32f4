//! The viewer of evaluations as one file that needs nothing else: the web UI's own viewer, built
//! into `viewer/evaluate.html`, with the evaluation as data in it.
mod details;
mod intern;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use crate::compare::{Comparison, Resampling, Side, compare};
use crate::error::EvalError;
use crate::journal::write;
use crate::report::{ErrorCause, Report};

pub use details::{QuestionDetail, question_detail};
use details::{Selection, is_right_in_all, read_details};
use intern::Interner;

/// Built from `crates/server/ui` (`npm run build`), and committed.
const PAGE: &str = include_str!("../../viewer/evaluate.html");

/// What the page has in the place of the data.
const DATA: &str = "\"the evaluation\"";

/// Beyond these many runs a comparison of each with the first says little.
const MAX_COMPARED: usize = 40;

/// Traces beyond these many bytes of JSON are left in the folder, those of right answers first.
const MAX_TRACE_BYTES: usize = 24 << 20;

/// A report with what a viewer shows and does not compute itself.
#[derive(Debug, Serialize)]
pub struct View<'a> {
    report: &'a Report,
    /// Every other run against the first, question by question.
    comparisons: Vec<Comparison>,
    /// What must be known to read the figures, by run.
    notes: Vec<Vec<String>>,
    /// The names of the causes in `error_analysis`.
    error_causes: Vec<CauseName>,
}

#[derive(Debug, Serialize)]
struct CauseName {
    key: ErrorCause,
    title: &'static str,
    meaning: &'static str,
}

impl Report {
    /// What a viewer shows of the whole evaluation; single questions are [`question_detail`].
    pub fn view(&self) -> View<'_> {
        let cause = |key: ErrorCause| CauseName { key, title: key.title(), meaning: key.meaning() };
        View {
            report: self,
            comparisons: self.comparisons(),
            notes: self.runs.iter().map(crate::report::Run::notes).collect(),
            error_causes: ErrorCause::ALL.into_iter().map(cause).collect(),
        }
    }

    fn comparisons(&self) -> Vec<Comparison> {
        let [first, others @ ..] = self.runs.as_slice() else { return vec![] };
        let with_first = |run| {
            let sides = (Side { report: self, run: first }, Side { report: self, run });
            compare(sides.0, sides.1, Resampling::default()).ok()
        };
        others.iter().take(MAX_COMPARED).filter_map(with_first).collect()
    }

    /// Writes `report.json`, `report.md` and, with the answers and traces that lie in the folder,
    /// `report.html`; returns the path of the last one.
    pub fn save(&self, out: &Path) -> Result<PathBuf, EvalError> {
        const DOING: &str = "the report cannot be written";
        self.save_json(out)?;
        write(&out.join("report.md"), DOING, self.markdown().as_bytes())?;
        let page = out.join("report.html");
        let details = read_details(out, self, Selection::First)?;
        write(&page, DOING, self.page(&details).as_bytes())?;
        Ok(page)
    }

    /// The viewer with this report and these questions in it.
    fn page(&self, details: &[QuestionDetail]) -> String {
        let mut interner = Interner::default();
        let questions = questions(self, details, &mut interner);
        let data = json!({
            "view": self.view(),
            "questions": questions,
            "lines": interner.lines(),
        });
        PAGE.replacen(DATA, &for_script(&data), 1)
    }
}

/// The questions by id, with their traces as far as they fit.
fn questions(report: &Report, details: &[QuestionDetail], interner: &mut Interner) -> Value {
    let mut order: Vec<&QuestionDetail> = details.iter().collect();
    order.sort_by_key(|detail| is_right_in_all(report, detail.place));
    let mut questions = serde_json::Map::new();
    let mut taken = 0;
    for detail in order {
        let mut value = json!(detail);
        if taken >= MAX_TRACE_BYTES {
            for run in value["runs"].as_array_mut().into_iter().flatten() {
                run["trace"] = Value::Null;
            }
        }
        let value = interner.intern(value);
        taken += value.to_string().len() + interner.take_added();
        questions.insert(detail.id.clone(), value);
    }
    Value::Object(questions)
}

/// JSON for the inside of a script element. `<` does not occur, so that neither `</script` nor
/// `<!--` can; the two line separators are escaped as well.
fn for_script(value: &Value) -> String {
    let written = value.to_string();
    let mut out = String::with_capacity(written.len());
    for c in written.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}
