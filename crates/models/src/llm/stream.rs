//! A streamed reply, put together. One that is cut is a passing failure, never a short reply.
use eventsource_stream::{EventStreamError, Eventsource};
use futures::StreamExt as _;
use halma_core::{LlmError, ReplyPiece, ReplyStream};
use reqwest::{Response, Url};

use super::openai::ServerReply;
use super::wire::{Content, Reply};
use halma_net::address::show;
use halma_net::failure::Failed;
use halma_net::http::Http;

/// Reads server-sent events until the end mark or the end of the connection.
pub(crate) async fn assemble(
    http: &Http,
    response: Response,
    url: &Url,
    receiver: Option<&ReplyStream>,
) -> Result<ServerReply, Failed> {
    let send = |piece: ReplyPiece<'_>| {
        if let Some(receiver) = receiver {
            receiver.send(piece);
        }
    };
    send(ReplyPiece::Start);
    let mut events = response.bytes_stream().eventsource();
    let mut reply = ServerReply::default();
    let cut = || LlmError::transient(format!("`{}` cut the stream before its end", show(url)));
    loop {
        let next = tokio::time::timeout(http.timeout(), events.next()).await;
        let event = match next.map_err(|_| http.late(url))? {
            Some(Ok(event)) => event,
            // The text is whole once its end was announced; what got lost is the usage.
            None | Some(Err(_)) if reply.finish_reason.is_some() => return Ok(reply),
            Some(Err(EventStreamError::Transport(e))) => return Err(http.broken(e, url).into()),
            None | Some(Err(_)) => return Err(cut().into()),
        };
        if event.data.trim() == "[DONE]" {
            return Ok(reply);
        }
        if event.data.is_empty() {
            continue;
        }
        let piece: Reply =
            serde_json::from_str(&event.data).map_err(|e| http.unreadable_piece(url, &e))?;
        let before = reply.text.len();
        take(&mut reply, piece, http, url)?;
        send(ReplyPiece::Text(&reply.text[before..]));
    }
}

fn take(reply: &mut ServerReply, piece: Reply, http: &Http, url: &Url) -> Result<(), Failed> {
    if let Some(error) = piece.error.filter(|error| !error.is_null()) {
        return Err(http.reported(url, &error));
    }
    reply.usage = piece.usage.or(reply.usage);
    let Some(choice) = piece.choices.and_then(|choices| choices.into_iter().next()) else {
        return Ok(());
    };
    reply.thoughts.push_str(choice.message.thoughts());
    if let Some(content) = choice.message.content.map(Content::into_text) {
        reply.text.push_str(&content);
    }
    if let Some(refusal) = choice.message.refusal {
        reply.refusal.get_or_insert_default().push_str(&refusal);
    }
    reply.logprobs.extend(choice.logprobs.and_then(|told| told.content).unwrap_or_default());
    reply.finish_reason = choice.finish_reason.or(reply.finish_reason.take());
    Ok(())
}
