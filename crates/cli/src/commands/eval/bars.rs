//! The progress of an evaluation on the terminal.
use std::sync::Arc;

use halma_eval::{Progress, Tick};
use indicatif::ProgressBar;
use parking_lot::Mutex;

use crate::view::progress;

/// One bar a system.
pub(in crate::commands) fn bars() -> Progress {
    let current: Mutex<Option<(String, ProgressBar)>> = Mutex::new(None);
    Arc::new(move |tick: &Tick| {
        let mut current = current.lock();
        if current.as_ref().is_none_or(|(label, _)| *label != tick.label) {
            *current = Some((tick.label.clone(), progress::bar(&tick.label, tick.total as u64)));
        }
        if let Some((_, bar)) = current.as_ref() {
            bar.set_position(tick.done as u64);
            if tick.failed > 0 {
                bar.set_message(format!("{} ({} failed)", tick.label, tick.failed));
            }
            if tick.done >= tick.total {
                bar.finish_and_clear();
            }
        }
    })
}
