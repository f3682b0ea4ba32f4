//! What models and sources replied when they failed, and where they are, is for administrators; others
//! learn that they failed.
use std::sync::Arc;

use halma_core::{Event, Watcher};
use halma_engine::{StoredTrace, TraceHead};
use parking_lot::Mutex;

use super::Caller;
use crate::keys::Scope;

/// What stands in the place of a reason.
const FAILED: &str = "it failed";

/// How errors begin that go on with what somebody else's server said.
const OF_SERVERS: [&str; 3] = ["model `", "source `", "knowledge base: "];

/// The reasons that a trace has given so far.
#[derive(Default)]
struct Reasons(Vec<String>);

impl Reasons {
    /// Hides the reason of an event, and those of earlier events that it repeats.
    fn hide(&mut self, event: &mut Event) {
        match event {
            Event::ModelCallFailed { reason, .. } | Event::SourceFailed { reason, .. } => {
                let reason = std::mem::replace(reason, FAILED.to_owned());
                if !reason.is_empty() && !self.0.contains(&reason) {
                    self.0.push(reason);
                }
            }
            Event::Note { note, .. } => {
                for reason in &self.0 {
                    *note = note.replace(reason, FAILED);
                }
            }
            _ => {}
        }
    }
}

impl Caller {
    pub(crate) fn is_admin(&self) -> bool {
        self.key.as_ref().is_none_or(|key| key.may(Scope::Admin))
    }

    /// A trace, as far as the caller may see it.
    pub(crate) fn trace(&self, id: &str) -> Option<StoredTrace> {
        let trace = self.workspace.engine().traces().get(id)?;
        if !self.sees_trace(&trace.head) {
            return None;
        }
        let StoredTrace { head, mut body } = trace;
        if !self.is_admin() {
            let mut reasons = Reasons::default();
            for event in &mut body.trace.0 {
                reasons.hide(event);
            }
        }
        Some(StoredTrace { head: self.head(head), body })
    }

    /// What is listed of a trace that the caller may see.
    pub(crate) fn head(&self, head: TraceHead) -> TraceHead {
        if self.is_admin() {
            return head;
        }
        TraceHead { error: head.error.map(without_reason), ..head }
    }

    /// Shows the caller what happens while a question is answered.
    pub(crate) fn watcher(&self, next: Watcher) -> Watcher {
        if self.is_admin() {
            return next;
        }
        let reasons = Mutex::new(Reasons::default());
        Arc::new(move |event: &Event| {
            if !matches!(
                event,
                Event::ModelCallFailed { .. } | Event::SourceFailed { .. } | Event::Note { .. }
            ) {
                return next(event);
            }
            let mut shown = event.clone();
            reasons.lock().hide(&mut shown);
            next(&shown);
        })
    }
}

/// Why a question failed, without what another server said.
pub(crate) fn without_reason(error: String) -> String {
    let is_of_server = OF_SERVERS.iter().any(|begin| error.starts_with(begin));
    match error.split_once(": ") {
        Some((what, _)) if is_of_server => format!("{what} failed"),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_hidden_also_where_a_note_repeats_them() {
        let mut reasons = Reasons::default();
        let reason = "`http://10.0.0.7/v1` cannot be reached".to_owned();
        let (query, source) = (String::new(), "web".to_owned());
        let mut events = [
            Event::Note { span: 0, note: "no candidate fits".into() },
            Event::SourceFailed { span: 0, source, query, reason: reason.clone(), elapsed_ms: 1.0 },
            Event::Note { span: 0, note: format!("nothing is read: source `web`: {reason}") },
        ];
        for event in &mut events {
            reasons.hide(event);
        }
        let shown = serde_json::to_string(&events).unwrap();
        assert!(shown.contains("no candidate fits") && !shown.contains("10.0.0.7"), "{shown}");
        for (error, expected) in [
            ("model `m`: `http://a` said no: 400", "model `m` failed"),
            ("knowledge base: embedding with `e`: no", "knowledge base failed"),
            ("the budget is spent: calls", "the budget is spent: calls"),
        ] {
            assert_eq!(without_reason(error.to_owned()), expected);
        }
    }
}
