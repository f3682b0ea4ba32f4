//! Progress on standard error, on a terminal only: rate and time left, after the first second.
use std::sync::Arc;
use std::time::Duration;

use halma_core::{Event, Watcher};
use halma_engine::{Phase, PhaseProgress, Progress};
use halma_eval::Tick;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::Mutex;

use super::shorten;

const TEMPLATE: &str = "{msg:<9} [{bar:32}] {human_pos} of {human_len}  {eta} left";

/// The same for phases that count bytes.
const BYTES_TEMPLATE: &str =
    "{msg:<9} [{bar:32}] {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left";

/// A bar that is drawn only when standard error is a terminal.
pub(crate) fn bar(label: &str, total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(5));
    let template = if label == Phase::READ.name() { BYTES_TEMPLATE } else { TEMPLATE };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("█▌░"));
    }
    bar.set_message(label.to_owned());
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}

/// A line on standard error with the current step of a question; on a terminal only.
pub(crate) fn question() -> (ProgressBar, Watcher) {
    let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {prefix} {wide_msg}") {
        line.set_style(style);
    }
    line.enable_steady_tick(Duration::from_millis(200));
    let shown = line.clone();
    let watcher: Watcher = Arc::new(move |event: &Event| match event {
        Event::SpanStarted { name, .. } => shown.set_prefix(name.clone()),
        Event::ModelAsked { role, model, longest_ms, .. } => {
            let so_far = longest_ms.map(|ms| format!(" (longest call so far: {:.0} s)", ms / 1e3));
            shown.set_message(format!("{model} works as {role}{}", so_far.unwrap_or_default()));
        }
        Event::AnswerStarted { .. } => shown.set_message(String::new()),
        Event::AnswerDelta { text, restart } => {
            let before = if *restart { String::new() } else { shown.message() };
            shown.set_message(format!("{before}{}", text.replace(char::is_control, " ")));
        }
        step => {
            if let Some(text) = step.describe() {
                shown.set_message(shorten(&text, 200));
            }
        }
    });
    (line, watcher)
}

/// The phases of an index run, one bar at a time.
pub(crate) fn index() -> Progress {
    let shown: Mutex<Option<(Phase, ProgressBar)>> = Mutex::new(None);
    Arc::new(move |step: PhaseProgress| {
        let mut shown = shown.lock();
        let (done, total) = (step.done as u64, step.total as u64);
        if shown.as_ref().is_none_or(|(phase, _)| *phase != step.phase) {
            if let Some((_, old)) = shown.take() {
                old.finish_and_clear();
            }
            *shown = Some((step.phase, bar(step.phase.name(), total)));
        }
        if let Some((_, bar)) = shown.as_ref() {
            bar.set_length(total);
            bar.set_position(done);
            if done >= total {
                bar.finish_and_clear();
            }
        }
    })
}

/// The systems of an evaluation, one bar at a time.
pub(crate) fn evaluation() -> halma_eval::Progress {
    let current: Mutex<Option<(String, ProgressBar)>> = Mutex::new(None);
    Arc::new(move |tick: &Tick| {
        let mut current = current.lock();
        if current.as_ref().is_none_or(|(label, _)| *label != tick.label) {
            *current = Some((tick.label.clone(), bar(&tick.label, tick.total as u64)));
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
