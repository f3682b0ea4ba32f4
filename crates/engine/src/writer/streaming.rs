//! The sentences of an answer, shown while the model writes them.
use std::sync::Arc;

use halma_core::{Cx, FieldReader, ReplyPiece, ReplyStream};
use parking_lot::Mutex;

use super::numbering::Numbering;

/// Shows what arrives of a reply, with its sources numbered.
pub(super) struct Streaming {
    cx: Cx,
    sources: usize,
    state: Arc<Mutex<State>>,
}

struct State {
    field: FieldReader,
    numbering: Numbering,
    /// What the watcher has been shown.
    shown: String,
}

impl State {
    fn new(sources: usize) -> Self {
        let (field, numbering) = (FieldReader::new("answer"), Numbering::new(sources));
        Self { field, numbering, shown: String::new() }
    }
}

impl Streaming {
    pub(super) fn new(cx: Cx, sources: usize) -> Self {
        Self { cx, sources, state: Arc::new(Mutex::new(State::new(sources))) }
    }

    pub(super) fn cx(&self) -> &Cx {
        &self.cx
    }

    /// What a model sends its reply to.
    pub(super) fn receiver(&self) -> ReplyStream {
        let (cx, sources, state) = (self.cx.clone(), self.sources, Arc::clone(&self.state));
        ReplyStream::new(move |piece| {
            let mut state = state.lock();
            match piece {
                ReplyPiece::Start => {
                    if !state.shown.is_empty() {
                        cx.show("", true);
                    }
                    *state = State::new(sources);
                }
                ReplyPiece::Text(text) => {
                    let field = state.field.push(text);
                    let text = state.numbering.push(&field);
                    if !text.is_empty() {
                        cx.show(&text, false);
                        state.shown.push_str(&text);
                    }
                }
            }
        })
    }

    /// Shows what is missing of the whole text, and returns it with its sources numbered, and the
    /// original numbers in their new order.
    pub(super) fn finish(&mut self, text: &str) -> (String, Vec<usize>) {
        let mut numbering = Numbering::new(self.sources);
        let text = numbering.finish(text.trim());
        let shown = &self.state.lock().shown;
        match text.strip_prefix(shown.as_str()) {
            Some("") => {}
            Some(rest) => self.cx.show(rest, false),
            None => self.cx.show(&text, true),
        }
        (text, numbering.order)
    }
}
