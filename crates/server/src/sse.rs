//! Server-sent events: a task that writes them ends as soon as its reader disconnects.
use std::convert::Infallible;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures::Stream;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// The longest silence of a stream.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Where a task writes its events.
#[derive(Clone)]
pub(crate) struct EventSender(mpsc::UnboundedSender<Event>);

/// What [`EventSender`]s have sent and nobody has read yet.
pub(crate) type EventReceiver = mpsc::UnboundedReceiver<Event>;

pub(crate) fn channel() -> (EventSender, EventReceiver) {
    let (send, receive) = mpsc::unbounded_channel();
    (EventSender(send), receive)
}

impl EventSender {
    /// Sends an event with a name and JSON data; `false` when nobody reads any more. What cannot be
    /// written as JSON is skipped.
    pub(crate) fn send(&self, name: &str, data: &impl Serialize) -> bool {
        let event = Event::default().event(name).json_data(data);
        event.map_or(true, |event| self.0.send(event).is_ok())
    }

    /// Sends an event without a name, as OpenAI's clients read them.
    pub(crate) fn send_data(&self, data: String) {
        // A reader that has disconnected ends the task by dropping the stream.
        let _ = self.0.send(Event::default().data(data));
    }
}

/// The response that streams what `task` sends. When the client disconnects, the task is aborted,
/// and with it the model calls that it waits for.
pub(crate) fn response(receiver: EventReceiver, task: AbortHandle) -> Response {
    let keep_alive = KeepAlive::new().interval(HEARTBEAT).text("working");
    // Asks proxies to pass events on as they come.
    let unbuffered =
        [(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))];
    (unbuffered, Sse::new(stream(receiver, task)).keep_alive(keep_alive)).into_response()
}

fn stream(
    receiver: EventReceiver,
    task: AbortHandle,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let state = (receiver, AbortOnDrop(task));
    futures::stream::unfold(state, |(mut receiver, task)| async {
        let event = receiver.recv().await?;
        Some((Ok(event), (receiver, task)))
    })
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
