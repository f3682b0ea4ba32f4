//! A streamed reply, put together. One that is cut is a passing failure, never a short reply.
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use eventsource_stream::{EventStreamError, Eventsource};
use futures::{Stream, StreamExt as _};
use halma_core::{ChatRequest, LONGEST_REPLY, LlmError, ReplyPiece};
use reqwest::{Response, Url};

use super::openai::ServerReply;
use super::repetition::without_repetition;
use super::reply::{Reply, read_reply};
use halma_net::address::show;
use halma_net::failure::Failed;
use halma_net::http::Http;

/// Bytes between two events of a stream at most.
const LONGEST_EVENT: usize = 2 << 20;

/// Bytes of all events of a stream: each token comes with some hundred bytes around it.
const LONGEST_STREAM: usize = 128 << 20;

/// What a stream gets for each token that was asked for, in addition to the timeout: a model that is
/// slower cannot be used.
const TOKEN_TIME: Duration = Duration::from_secs(1);

/// Reads server-sent events until the end mark or the end of the connection. A reply that is too long
/// ends where it is.
pub(crate) async fn assemble(
    http: &Http,
    response: Response,
    url: &Url,
    request: &ChatRequest,
) -> Result<ServerReply, Failed> {
    let send = |piece: ReplyPiece<'_>| {
        if let Some(receiver) = &request.stream {
            receiver.send(piece);
        }
    };
    send(ReplyPiece::Start);
    let limits = StreamLimits::new(http, request);
    let mut events = pin!(limits.watch(response.bytes_stream()).eventsource());
    let mut reply = ServerReply::default();
    let cut = || LlmError::transient(format!("`{}` cut the stream before its end", show(url)));
    loop {
        let next = tokio::time::timeout(http.timeout(), events.next()).await;
        let event = match next.map_err(|_| http.late(url))? {
            Some(Ok(event)) => event,
            _ if limits.is_passed() => return Err(limits.error(url).into()),
            // The text is whole once its end was announced; what got lost is the usage.
            None | Some(Err(_)) if reply.finish_reason.is_some() => return Ok(reply),
            Some(Err(EventStreamError::Transport(e))) => return Err(http.broken(e, url).into()),
            None | Some(Err(_)) => return Err(cut().into()),
        };
        if event.data.trim() == "[DONE]" {
            return Ok(reply);
        }
        if limits.take_event() {
            return Err(limits.error(url).into());
        }
        // Some servers send a word to keep the connection alive.
        if !event.data.trim_start().starts_with('{') {
            continue;
        }
        let piece =
            read_reply(event.data.as_bytes()).map_err(|e| http.unreadable_piece(url, &e))?;
        let before = reply.text.len();
        take(&mut reply, piece, http, url)?;
        send(ReplyPiece::Text(&reply.text[before..]));
        if let Some(closed) = without_repetition(&reply.text, before) {
            reply.text = closed;
            return Ok(reply);
        }
        if reply.is_too_long() {
            return Ok(reply);
        }
    }
}

/// What a stream may take in all: a server that never ends it, or never ends an event, is given up.
struct StreamLimits {
    until: Instant,
    time: Duration,
    /// Since the last event, and in all.
    bytes: Arc<StreamBytes>,
}

#[derive(Default)]
struct StreamBytes {
    event: AtomicUsize,
    all: AtomicUsize,
}

impl StreamBytes {
    fn is_passed(&self) -> bool {
        self.event.load(Ordering::Relaxed) > LONGEST_EVENT
            || self.all.load(Ordering::Relaxed) > LONGEST_STREAM
    }
}

impl StreamLimits {
    fn new(http: &Http, request: &ChatRequest) -> Self {
        let time = http.timeout() + TOKEN_TIME * request.max_tokens;
        Self { until: Instant::now() + time, time, bytes: Arc::default() }
    }

    /// The pieces of a body, up to the one with which a limit is passed.
    fn watch<B: AsRef<[u8]>, E>(
        &self,
        pieces: impl Stream<Item = Result<B, E>>,
    ) -> impl Stream<Item = Result<B, E>> {
        let bytes = Arc::clone(&self.bytes);
        pieces.take_while(move |piece| {
            let length = piece.as_ref().map_or(0, |piece| piece.as_ref().len());
            bytes.event.fetch_add(length, Ordering::Relaxed);
            bytes.all.fetch_add(length, Ordering::Relaxed);
            std::future::ready(!bytes.is_passed())
        })
    }

    fn is_passed(&self) -> bool {
        self.bytes.is_passed() || Instant::now() > self.until
    }

    /// Counts an event as read, and says whether there is no time for another.
    fn take_event(&self) -> bool {
        self.bytes.event.store(0, Ordering::Relaxed);
        Instant::now() > self.until
    }

    fn error(&self, url: &Url) -> LlmError {
        let (event, stream) = (LONGEST_EVENT >> 20, LONGEST_STREAM >> 20);
        let seconds = self.time.as_secs();
        LlmError::refused(format!(
            "`{}` streams a reply without an end: more than {event} MiB in one event, {stream} MiB in \
             all, or {seconds} s (`timeout_seconds` and one second for each token of the prompt's \
             `max_tokens`); look at what the server sends, or raise one of the two",
            show(url)
        ))
    }
}

fn take(reply: &mut ServerReply, piece: Reply, http: &Http, url: &Url) -> Result<(), Failed> {
    if let Some(error) = &piece.error {
        return Err(http.reported(url, error));
    }
    reply.usage = piece.usage.or(reply.usage);
    let Some(choice) = piece.piece_of_first_choice() else { return Ok(()) };
    reply.thoughts.push_str(&choice.message.thoughts);
    reply.text.push_str(&choice.message.text);
    if let Some(piece) = choice.message.refusal {
        let refusal = reply.refusal.get_or_insert_default();
        // Only its beginning is ever shown.
        if refusal.len() < LONGEST_REPLY {
            refusal.push_str(&piece);
        }
    }
    // Of what has no text there is nothing to say.
    if reply.logprobs.len() <= reply.text.len() + reply.thoughts.len() {
        reply.logprobs.extend(choice.logprobs);
    }
    reply.finish_reason = choice.finish_reason.or(reply.finish_reason.take());
    Ok(())
}
