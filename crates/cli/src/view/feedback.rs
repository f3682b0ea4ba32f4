//! Feedback for people: a line in a list, or with its candidates.
use std::fmt::Write as _;

use console::style;
use halma_engine::{CandidateState, Feedback, FeedbackCandidate, Verdict};

use super::{plural, shorten};

/// One line, and a second one where other feedback says otherwise.
pub(crate) fn line(feedback: &Feedback) -> String {
    let accepted = feedback.candidates.iter().filter(|c| c.state == CandidateState::Accepted);
    let accepted = accepted.count() as u64;
    let pending = feedback.candidates.iter().filter(|c| c.state == CandidateState::Pending);
    let pending = pending.count() as u64;
    let mut text = format!(
        "{}  {}  {} = {}",
        style(&feedback.id).dim(),
        verdict(feedback.verdict),
        style(shorten(&feedback.question, 80)).bold(),
        shorten(said(feedback), 60),
    );
    let mut parts = vec![];
    if accepted > 0 {
        parts.push(format!("{} accepted", plural(accepted, "candidate", "candidates")));
    }
    if pending > 0 {
        parts.push(format!("{pending} pending"));
    }
    if !feedback.by.is_empty() {
        parts.push(format!("by {}", feedback.by));
    }
    if feedback.dismissed {
        parts.push("rejected".to_owned());
    }
    if !parts.is_empty() {
        let _ = write!(text, "  {}", style(parts.join(", ")).dim());
    }
    contradiction(feedback, &mut text);
    text
}

/// With everything that may become knowledge.
pub(crate) fn full(feedback: &Feedback) -> String {
    let mut text = line(feedback);
    let _ = write!(text, "\n  run {} ({})", feedback.run, feedback.strategy);
    if !feedback.correction.is_empty() {
        let _ = write!(text, "\n  answered: {}", shorten(&feedback.answer, 120));
    }
    if !feedback.note.is_empty() {
        let _ = write!(text, "\n  note: {}", shorten(&feedback.note, 200));
    }
    if feedback.candidates.is_empty() {
        let _ = write!(text, "\n  Nothing of it can become knowledge: {}.", barrier(feedback));
    }
    for candidate in &feedback.candidates {
        self::candidate(candidate, &mut text);
    }
    if feedback.candidates.iter().any(|c| c.state == CandidateState::Pending) {
        let _ = write!(
            text,
            "\n  Decide with `halma feedback accept {0}` or `reject {0}`.",
            feedback.id
        );
    }
    text
}

/// Why it has no candidate.
fn barrier(feedback: &Feedback) -> &'static str {
    let is_corrected = !feedback.correction.is_empty();
    match feedback.verdict {
        Verdict::Wrong if !is_corrected => {
            "the answer is wrong and no correction is given (`--correction` of `halma feedback add`)"
        }
        Verdict::Incomplete if !is_corrected => {
            "the answer is incomplete, no correction is given (`--correction` of `halma feedback \
             add`), and no step on the way to it rests on a passage"
        }
        _ if feedback.answer.is_empty() && !is_corrected => "the run has no answer",
        _ if feedback.cited.is_empty() => "the answer cites no passage that it could rest on",
        _ => "there is no question with an answer and a passage",
    }
}

/// What it says the answer is.
fn said(feedback: &Feedback) -> &str {
    if feedback.correction.is_empty() { &feedback.answer } else { &feedback.correction }
}

fn verdict(verdict: Verdict) -> String {
    let name = style(verdict.name());
    match verdict {
        Verdict::Right => name.green(),
        Verdict::Wrong => name.red(),
        Verdict::Incomplete => name.yellow(),
    }
    .to_string()
}

fn contradiction(feedback: &Feedback, text: &mut String) {
    if !feedback.contradicts.is_empty() {
        let others = feedback.contradicts.join(", ");
        let _ = write!(text, "\n  {}", style(format!("contradicted by {others}")).yellow());
    }
}

fn candidate(candidate: &FeedbackCandidate, text: &mut String) {
    let answer = if candidate.answer.is_empty() {
        String::new()
    } else {
        format!(" = {}", shorten(&candidate.answer, 100))
    };
    let _ = write!(
        text,
        "\n  {}. {} {}{answer}",
        candidate.number,
        style(format!("[{}, {}]", candidate.kind.name(), candidate.state.name())).dim(),
        shorten(&candidate.question, 100),
    );
    if let Some(check) = &candidate.check {
        let _ = write!(text, "\n     support {:.2}: {}", check.score, shorten(&check.reason, 120));
    }
}
