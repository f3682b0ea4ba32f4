//! Reading on several threads for one that writes: the store has one writer, and what a build writes
//! must not depend on which thread was first.
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, sync_channel};

use crate::KbError;

/// Threads that read, at most.
const MAX_THREADS: usize = 8;

/// How many processors there are for this process, at least one. The system is asked once: for each
/// answer it has several files read, which took a twelfth of a question.
pub fn cores() -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

/// Makes something of each item on several threads and passes the results on in the order of the
/// items. At most two results a thread are waiting. `State` is that of a thread, such as a cache;
/// what is made must not depend on it. The first error in that order ends all of it.
pub(crate) fn in_order<'a, Item: Sync, State: Default, Output: Send>(
    items: &'a [Item],
    read: impl Fn(&mut State, &'a Item) -> Result<Output, KbError> + Sync,
    mut pass_on: impl FnMut(Output) -> Result<(), KbError>,
) -> Result<(), KbError> {
    let threads = cores().min(MAX_THREADS).min(items.len());
    if threads <= 1 {
        let mut state = State::default();
        return items.iter().try_for_each(|item| pass_on(read(&mut state, item)?));
    }
    let read = &read;
    std::thread::scope(|scope| {
        let start = |first| {
            let (sender, made) = sync_channel(1);
            scope.spawn(move || {
                let mut state = State::default();
                for item in items.iter().skip(first).step_by(threads) {
                    // Nobody takes it any more: there was an error.
                    if sender.send(read(&mut state, item)).is_err() {
                        return;
                    }
                }
            });
            made
        };
        let made: Vec<Receiver<_>> = (0..threads).map(start).collect();
        for at in 0..items.len() {
            // A thread that ends early has panicked, which the scope passes on.
            let Ok(next) = made[at % threads].recv() else { break };
            pass_on(next?)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interrupted_at(place: usize) -> impl Fn(&mut (), &usize) -> Result<usize, KbError> {
        move |(), item| if *item == place { Err(KbError::Interrupted) } else { Ok(*item) }
    }

    #[test]
    fn results_come_in_order() {
        let items: Vec<usize> = (0..100).collect();
        let mut taken = vec![];
        let slow_first = |(): &mut (), item: &usize| {
            if item.is_multiple_of(7) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            Ok(*item)
        };
        in_order(&items, slow_first, |item| {
            taken.push(item);
            Ok(())
        })
        .unwrap();
        assert_eq!(taken, items);
    }

    #[test]
    fn an_error_ends_it_after_what_came_before() {
        let items: Vec<usize> = (0..100).collect();
        let mut taken = vec![];
        let ended = in_order(&items, interrupted_at(40), |item| {
            taken.push(item);
            Ok(())
        });
        assert!(matches!(ended, Err(KbError::Interrupted)));
        assert_eq!(taken, items[..40]);
        let refused = in_order(&items, interrupted_at(100), |_| Err(KbError::Interrupted));
        assert!(matches!(refused, Err(KbError::Interrupted)));
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_is_not_taken_for_the_end() {
        let items: Vec<usize> = (0..100).collect();
        let panicking = |(): &mut (), item: &usize| {
            assert!(*item != 40, "this one panics");
            Ok(*item)
        };
        let _ = in_order(&items, panicking, |_| Ok(()));
    }
}
