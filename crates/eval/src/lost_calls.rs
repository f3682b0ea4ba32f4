//! Calls that failed while a question was answered. Strategies do without such a reply, and what
//! comes of the rest was chosen by no model.
use halma_core::{Event, Trace};

/// A call of a model or a source that failed and was not made again.
pub(crate) struct LostCall {
    /// With the name of the model or the source.
    pub(crate) reason: String,
    /// The same call to a model may succeed later. Of sources it is not known.
    pub(crate) transient: bool,
}

/// The calls of a trace that failed permanently, in their order.
pub(crate) fn lost_calls(trace: &Trace) -> Vec<LostCall> {
    let lost = trace.0.iter().enumerate().filter_map(|(at, event)| match event {
        Event::ModelCallFailed { model, reason, transient, .. } => {
            let reason = format!("model `{model}`: {reason}");
            (!is_repeated(event, &trace.0[at..]))
                .then_some(LostCall { reason, transient: *transient })
        }
        Event::SourceFailed { source, reason, .. } => {
            Some(LostCall { reason: format!("source `{source}`: {reason}"), transient: false })
        }
        _ => None,
    });
    lost.collect()
}

/// Whether a prompt that failed was asked again: one that was too long, with fewer passages.
fn is_repeated(failed: &Event, later: &[Event]) -> bool {
    let Event::ModelCallFailed { span, prompt, .. } = failed else { return false };
    later.iter().any(|later| {
        matches!(later, Event::ModelCalled { span: s, prompt: p, .. } if s == span && p == prompt)
    })
}
