//! The log on standard error, as text or as JSON. Warnings are Halma's own; those of the libraries
//! that parse files are counted and summarized in one line when the command ends.
mod json;
mod text;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use halma_core::text::thousands;
use halma_engine::LogFormat;
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer};

use self::json::JsonLines;
use self::text::CommandLines;

/// Everything of our own crates has a target that begins so.
const TARGET: &str = "halma";

/// The environment variable with the filter of the log.
const VARIABLE: &str = "HALMA_LOG";

/// Counts the warnings of libraries that the log leaves out.
#[derive(Clone, Default)]
pub(crate) struct LibraryWarnings(Arc<AtomicUsize>);

impl LibraryWarnings {
    /// One line for all of them; `None` where there were none.
    pub(crate) fn summary(&self) -> Option<String> {
        let count = self.0.load(Ordering::Relaxed);
        let warnings = if count == 1 { "warning" } else { "warnings" };
        (count > 0).then(|| {
            let count = thousands(count as u64);
            format!("{count} {warnings} of libraries that read files; HALMA_LOG=debug shows them")
        })
    }
}

impl<S: Subscriber> Layer<S> for LibraryWarnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let meta = event.metadata();
        // Records of the `log` crate have this target, and their own in a field.
        if *meta.level() == tracing::Level::WARN && !meta.target().starts_with(TARGET) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// How the log is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogStyle {
    pub(crate) format: LogFormat,
    /// Whether a server writes it: its lines of text begin with the level, those of a command are
    /// like its other messages.
    pub(crate) serves: bool,
    /// Whether lines of a server's text begin with the time; JSON always has it.
    pub(crate) time: bool,
    /// What is logged without the variable `HALMA_LOG`.
    pub(crate) filter: &'static str,
}

/// Starts the log with the filter in `HALMA_LOG`, or that of the style. With the former nothing is
/// counted: the user sees what they asked for.
pub(crate) fn start(style: LogStyle) -> LibraryWarnings {
    let warnings = LibraryWarnings::default();
    let (requested, invalid) = match EnvFilter::try_from_env(VARIABLE) {
        Ok(filter) => (Some(filter), None),
        Err(e) => (None, std::env::var_os(VARIABLE).map(|_| e)),
    };
    let counted = if requested.is_some() { LevelFilter::OFF } else { LevelFilter::WARN };
    let filter = requested.unwrap_or_else(|| EnvFilter::new(style.filter));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    // Where standard error is closed (`2>&1 | head`), the log must not end the program.
    let lines = lines.log_internal_errors(false);
    let lines = lines.with_ansi(false);
    let lines: Box<dyn Layer<_> + Send + Sync> = match style {
        LogStyle { format: LogFormat::Json, .. } => {
            JsonLines::to_stderr().with_filter(filter).boxed()
        }
        LogStyle { serves: false, .. } => {
            lines.event_format(CommandLines::new()).with_filter(filter).boxed()
        }
        LogStyle { time: true, .. } => lines.with_target(false).with_filter(filter).boxed(),
        _ => lines.without_time().with_target(false).with_filter(filter).boxed(),
    };
    tracing_subscriber::registry().with(lines).with(warnings.clone().with_filter(counted)).init();
    if let Some(e) = invalid {
        tracing::warn!(
            "{VARIABLE} is not a valid filter: {e}; write, for example, {VARIABLE}=debug"
        );
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_libraries_are_counted_and_ours_are_not() {
        let warnings = LibraryWarnings::default();
        let log = tracing_subscriber::registry().with(warnings.clone());
        tracing::subscriber::with_default(log, || {
            tracing::warn!(target: "halma_kb::build", "ours");
            assert_eq!(warnings.summary(), None);
            tracing::warn!(target: "some_pdf", "an odd font");
            tracing::info!(target: "some_pdf", "a page");
            tracing::warn!(target: "some_pdf", "another odd font");
        });
        assert!(warnings.summary().unwrap().starts_with("2 warnings"));
    }
}
