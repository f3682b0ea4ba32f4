//! Errors: printed once, with a hint, and turned into an exit code.
use std::process::ExitCode;

use console::style;
use halma_core::{ConfigError, Error};
use halma_engine::{BackupError, EngineError, KbError, NoServer};
use halma_server::KeysError;

use crate::view;

/// Wrong usage or configuration.
const WRONG_USE: u8 = 2;
/// A failed run.
const FAILED: u8 = 1;
/// Stopped by the user, as a shell reports Ctrl-C.
const INTERRUPTED: u8 = 130;

/// The command was stopped by Ctrl-C or SIGTERM; what is printed about it.
#[derive(Debug)]
pub(crate) struct Interrupted(pub(crate) String);

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Interrupted {}

/// The reader of the output has closed it (`halma … | head`), which is not an error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    if let Some(Interrupted(message)) = error.downcast_ref() {
        view::note(message);
        return ExitCode::from(INTERRUPTED);
    }
    let hint = hint(error);
    view::note(&format!("{} {}", view::error_label(), message(error)));
    if let Some(hint) = hint {
        view::note(&format!(" {} {hint}", style("hint:").for_stderr().cyan().bold()));
    }
    ExitCode::from(if is_wrong_use(error) { WRONG_USE } else { FAILED })
}

/// The error and its causes, without causes that an error above contains already.
fn message(error: &anyhow::Error) -> String {
    let mut out = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !out.contains(&cause) {
            out = if out.is_empty() { cause } else { format!("{out}: {cause}") };
        }
    }
    out
}

/// What to do about it, where the message does not say so itself.
fn hint(error: &anyhow::Error) -> Option<String> {
    if let Some(config) = config_error(error) {
        return Some(config.hint.clone());
    }
    error.chain().find_map(|cause| match cause.downcast_ref() {
        Some(EngineError::Run(Error::Spent(limit))) => {
            Some(format!("allow more with `--max-{limit}`, or raise `{limit}` under [budget.ask]"))
        }
        _ => None,
    })
}

fn config_error(error: &anyhow::Error) -> Option<&ConfigError> {
    error.chain().find_map(|cause| match cause.downcast_ref::<EngineError>() {
        Some(EngineError::Config(config)) => Some(config),
        _ => match cause.downcast_ref::<halma_server::ServeError>() {
            Some(halma_server::ServeError::Config(config)) => Some(config),
            _ => cause.downcast_ref::<ConfigError>(),
        },
    })
}

/// Whether a file that the command names does not exist.
fn is_missing_file(error: &anyhow::Error) -> bool {
    let is_ours = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<EngineError>() || cause.is::<KbError>()
    };
    let is_missing = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|e| e.kind() == std::io::ErrorKind::NotFound)
    };
    !error.chain().any(is_ours) && error.chain().any(is_missing)
}

/// Whether the command or the configuration is wrong, as opposed to a failed run.
pub(crate) fn is_wrong_use(error: &anyhow::Error) -> bool {
    config_error(error).is_some()
        || is_missing_file(error)
        || error.chain().any(|cause| {
            cause.downcast_ref::<EngineError>().is_some_and(EngineError::is_wrong_use)
                || cause.downcast_ref::<KbError>().is_some_and(KbError::is_wrong_use)
                || cause.downcast_ref::<KeysError>().is_some_and(KeysError::is_wrong_use)
                || cause.downcast_ref().is_some_and(BackupError::is_wrong_use)
                || matches!(cause.downcast_ref(), Some(NoServer::Address { .. }))
                || cause.downcast_ref::<halma_eval::DataError>().is_some()
                || cause.downcast_ref::<halma_eval::GridError>().is_some()
                || cause.downcast_ref::<halma_eval::CompareError>().is_some()
                || cause.downcast_ref::<halma_eval::PresetError>().is_some()
                || cause.downcast_ref().is_some_and(halma_eval::EvalError::is_wrong_use)
                || cause.downcast_ref().is_some_and(halma_eval::train::TrainError::is_wrong_use)
        })
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn a_cause_is_printed_once() {
        let source = halma_core::LlmError::refused("no server is there");
        let error = halma_core::Error::Llm { model: "m".into(), source };
        let error = anyhow::Error::from(EngineError::Run(error));
        assert_eq!(message(&error), "model `m`: no server is there");
        let error = anyhow::Error::from(EngineError::Run(Error::Spent(halma_core::Limit::Usd)));
        assert!(hint(&error).unwrap().contains("--max-usd"));
        let error = Err::<(), _>(std::io::Error::other("disk full")).context("cannot write x");
        let error = error.unwrap_err();
        assert_eq!(message(&error), "cannot write x: disk full");
        assert!(!is_wrong_use(&error));
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        let error = Err::<(), _>(missing).context("cannot read `x`").unwrap_err();
        assert!(is_wrong_use(&error));
    }
}
