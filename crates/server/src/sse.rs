//! Server-sent events: a task that writes them ends as soon as its reader disconnects.
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use utoipa::ToSchema;

/// The longest silence of a stream.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Events that wait for a client.
const MAX_WAITING: usize = 4_096;

/// One event of a stream, as the API reference describes it. Comments that keep a stream open are
/// not events.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct StreamEvent {
    /// What the event is.
    event: String,
    /// JSON, of the kind that `event` says.
    data: String,
}

/// Where a task writes its events.
#[derive(Clone)]
pub(crate) struct EventSender {
    events: mpsc::Sender<Event>,
    /// The client reads too slowly; it gets what is in the queue and then the end.
    lost: Arc<AtomicBool>,
}

/// Events that [`EventSender`]s have sent and that are not read yet.
pub(crate) type EventReceiver = mpsc::Receiver<Event>;

pub(crate) fn channel() -> (EventSender, EventReceiver) {
    let (events, receive) = mpsc::channel(MAX_WAITING);
    (EventSender { events, lost: Arc::default() }, receive)
}

impl EventSender {
    /// Sends an event with a name and JSON data; `false` when no one reads any more. What cannot be
    /// written as JSON is skipped.
    pub(crate) fn send(&self, name: &str, data: &impl Serialize) -> bool {
        let event = Event::default().event(name).json_data(data);
        event.map_or(true, |event| self.push(event))
    }

    /// Sends an event without a name, as OpenAI's clients read them.
    pub(crate) fn send_data(&self, data: String) {
        // A reader that has disconnected ends the task by dropping the stream.
        let _ = self.push(Event::default().data(data));
    }

    /// An event that finds the queue full is the last: a stream with a gap would be read as whole.
    fn push(&self, event: Event) -> bool {
        if self.lost.load(Ordering::Acquire) {
            return false;
        }
        let sent = self.events.try_send(event).is_ok();
        if !sent {
            self.lost.store(true, Ordering::Release);
        }
        sent
    }
}

/// The response that streams what `task` sends. When the client disconnects, the task is aborted,
/// and with it the model calls that it waits for.
pub(crate) fn response(receiver: EventReceiver, task: AbortHandle) -> Response {
    let keep_alive = KeepAlive::new().interval(HEARTBEAT).text("working");
    // Asks proxies to pass events on as they come.
    let unbuffered =
        [(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))];
    let state = (receiver, AbortOnDrop(task));
    let events = futures::stream::unfold(state, |(mut receiver, task)| async {
        let event = receiver.recv().await?;
        Some((Ok::<_, Infallible>(event), (receiver, task)))
    });
    (unbuffered, Sse::new(events).keep_alive(keep_alive)).into_response()
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_does_not_read_fills_a_bounded_queue() {
        let (sender, mut receiver) = channel();
        let sent = (0..3 * MAX_WAITING).filter(|n| sender.send("progress", n)).count();
        assert_eq!(sent, MAX_WAITING);
        assert!(receiver.try_recv().is_ok());
        assert!(!sender.send("progress", &0), "there is a gap: nothing may follow it");
        drop(sender);
        let left = std::iter::from_fn(|| receiver.try_recv().ok()).count();
        assert_eq!(left, MAX_WAITING - 1);
    }
}
