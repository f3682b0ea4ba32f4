//! Requests as an attacker writes them: bytes on a connection.
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// No attack waits longer for an answer.
const PATIENCE: Duration = Duration::from_mins(2);

/// An answer; status 0 where there was none.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Answer {
    /// The body.
    pub(crate) fn json(&self) -> Value {
        let body = self.text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        // In chunks where the length was not known.
        let start = body.find(['{', '[']).unwrap_or(0);
        let end = body.rfind(['}', ']']).map_or(start, |end| end + 1);
        serde_json::from_str(&body[start..end]).unwrap_or(Value::Null)
    }
}

pub(crate) fn send(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    // As clients do: without it, a short body waits until the head is acknowledged.
    stream.set_nodelay(true).ok()?;
    // A server that refuses early closes its side; its answer is there anyway.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    let mut bytes = vec![];
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, text })
}

/// Sends a request that is never finished.
pub(crate) fn half_open(address: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(b"POST /api/v1/ask HTTP/1.1\r\nhost: localhost\r\nx-").ok()?;
    Some(stream)
}

/// Asks for a stream and never reads it.
pub(crate) fn unread(address: &str, path: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(address).ok()?;
    let head =
        format!("GET {path} HTTP/1.1\r\nhost: {address}\r\naccept: text/event-stream\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    Some(stream)
}
