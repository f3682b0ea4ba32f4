//! Runs the reading of one document on a thread of its own: with room for nested input, a limit of
//! time, and nothing lost when it panics.
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::container::refusal;
use crate::parsed::Refusal;

/// Bytes of stack, for input that is nested in itself. Only what is used takes up memory.
pub(crate) const STACK: usize = 256 << 20;

/// `stop` is called when the time is up; what goes on after that is nobody's.
pub(crate) fn guarded<T: Send + 'static>(
    seconds: u64,
    stop: impl FnOnce(),
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let (sender, receiver) = channel();
    let run = move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        // Nobody listens any more when the time was up.
        let _ = sender.send(result);
    };
    let thread = std::thread::Builder::new().name("parse".into()).stack_size(STACK).spawn(run);
    if let Err(error) = thread {
        let reason = format!("no thread could be started to read it: {error}");
        return Err(refusal(&reason, "close other programs and try again"));
    }
    match receiver.recv_timeout(Duration::from_secs(seconds.max(1))) {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => Err(crashed(&*panic)),
        Err(RecvTimeoutError::Timeout) => {
            stop();
            let reason = format!("it takes longer than {seconds} seconds to read");
            Err(refusal(&reason, "split it, or allow more seconds for a document"))
        }
        Err(RecvTimeoutError::Disconnected) => Err(crashed(&"")),
    }
}

fn crashed(panic: &(dyn std::any::Any + Send)) -> Refusal {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or_default();
    let first = said.lines().next().unwrap_or_default();
    let reason = format!("its reader stumbled over it: {first}");
    refusal(reason.trim_end_matches([':', ' ']), "it may be damaged: open it and save it anew")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_refusal() {
        let refused = guarded::<()>(10, || {}, || panic!("bad cell {}", 7)).unwrap_err();
        assert_eq!(refused.reason, "its reader stumbled over it: bad cell 7");
    }

    #[test]
    fn a_hang_is_a_refusal_and_is_told_to_stop() {
        let (stop, stopped) = channel::<()>();
        let (ended, end) = channel();
        let work = move || {
            // Until it is told to stop.
            let _ = stopped.recv();
            let _ = ended.send(());
            Ok(())
        };
        let refused = guarded(1, move || drop(stop), work).unwrap_err();
        assert!(refused.reason.contains("longer than 1 seconds"), "{refused:?}");
        end.recv().unwrap();
    }

    #[test]
    fn deep_recursion_has_room() {
        fn depth(left: u32) -> u32 {
            if left == 0 { 0 } else { std::hint::black_box(depth(left - 1)) + 1 }
        }
        assert_eq!(guarded(10, || {}, || Ok(depth(200_000))).unwrap(), 200_000);
    }
}
