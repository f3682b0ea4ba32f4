//! Runs the reading of one document on a thread of its own: with room for nested input, a limit of
//! time, and nothing lost when it panics.
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::container::refusal;
use crate::parsed::Refusal;

/// Bytes of stack, for input that is nested in itself. Only what is used takes up memory.
const STACK: usize = 256 << 20;

/// Returns when the work is done or the time is up; work that goes on after that is abandoned.
pub(crate) fn guarded<T: Send + 'static>(
    seconds: u64,
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
        Err(RecvTimeoutError::Timeout) => Err(late(seconds)),
        Err(RecvTimeoutError::Disconnected) => Err(crashed(&"")),
    }
}

/// The refusal of a document that takes too long.
pub(crate) fn late(seconds: u64) -> Refusal {
    let reason = format!("it takes longer than {seconds} seconds to read");
    refusal(&reason, "split it, or raise `kb.reading.seconds`")
}

fn crashed(panic: &(dyn std::any::Any + Send)) -> Refusal {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or(panic.downcast_ref::<&str>().copied()).unwrap_or_default();
    let first = message.lines().next().unwrap_or_default();
    let reason = format!("the reader of this format failed: {first}");
    refusal(reason.trim_end_matches([':', ' ']), "it may be damaged: open it and save it again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_refusal() {
        let refused = guarded::<()>(10, || panic!("bad cell {}", 7)).unwrap_err();
        assert_eq!(refused.reason, "the reader of this format failed: bad cell 7");
    }

    #[test]
    fn a_hang_is_a_refusal() {
        let (stop, stopped) = channel::<()>();
        let work = move || {
            // Until the test ends.
            let _ = stopped.recv();
            Ok(())
        };
        let refused = guarded(1, work).unwrap_err();
        assert!(refused.reason.contains("longer than 1 seconds"), "{refused:?}");
        drop(stop);
    }

    #[test]
    fn deep_recursion_has_room() {
        fn depth(left: u32) -> u32 {
            if left == 0 { 0 } else { std::hint::black_box(depth(left - 1)) + 1 }
        }
        assert_eq!(guarded(10, || Ok(depth(200_000))).unwrap(), 200_000);
    }
}
