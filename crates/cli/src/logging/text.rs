//! Log lines of commands: a warning of the log looks like one of the program.
use std::fmt;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::view;

/// `warning: …` and `error: …`; what else `HALMA_LOG` asks for begins with its level.
pub(super) struct CommandLines {
    others: Format<Full, ()>,
}

impl CommandLines {
    pub(super) fn new() -> Self {
        Self { others: Format::default().without_time().with_target(false).with_ansi(false) }
    }
}

impl<S, N> FormatEvent<S, N> for CommandLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let label = match *event.metadata().level() {
            Level::ERROR => view::error_label(),
            Level::WARN => view::warning_label(),
            _ => return self.others.format_event(context, writer, event),
        };
        write!(writer, "{label} ")?;
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn warnings_of_the_log_have_the_form_of_the_others() {
        let lines = Lines::default();
        let written = lines.clone();
        let layer = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_writer(move || written.clone())
            .event_format(CommandLines::new());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            tracing::warn!("the base has no chunk vectors");
            tracing::error!(id = 3, "a build is lost");
            tracing::info!("listening");
        });
        let text = String::from_utf8(lines.0.lock().clone()).unwrap();
        let text = console::strip_ansi_codes(&text).into_owned();
        assert_eq!(
            text,
            "warning: the base has no chunk vectors\nerror: a build is lost id=3\n INFO listening\n"
        );
    }
}
