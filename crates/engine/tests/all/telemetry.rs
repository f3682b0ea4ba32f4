//! Traces of questions as a collector receives them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use halma_engine::{AskRequest, Config, EmbedderKind, Engine, IndexOptions};

/// What a collector was sent.
struct Sent {
    head: String,
    body: Vec<u8>,
}

impl Sent {
    /// Whether a text is anywhere in the spans; protobuf stores texts as they are.
    fn contains(&self, text: &str) -> bool {
        self.body.windows(text.len()).any(|window| window == text.as_bytes())
    }
}

/// A collector on a free port. One that is `stuck` accepts connections and never replies.
fn collector(stuck: bool) -> (String, Receiver<Sent>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (send, received) = channel();
    std::thread::spawn(move || {
        let mut open = vec![];
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            if stuck {
                open.push(stream);
                continue;
            }
            while let Some(sent) = request(&stream) {
                let mut stream = &stream;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
                if send.send(sent).is_err() {
                    return;
                }
            }
        }
    });
    (url, received)
}

fn request(stream: &TcpStream) -> Option<Sent> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| {
        line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
    })?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Sent { head, body })
}

async fn engine(dir: &Path, url: &str, content: bool) -> Engine {
    let mut config = Config::default();
    config.embedder.kind = EmbedderKind::None;
    config.telemetry.otlp_url = url.to_owned();
    config.telemetry.content = content;
    let engine = Engine::create_or_open(config, &dir.join("base")).unwrap();
    let text = "# Far Light\n\nFar Light was built by Ada Tarrant in 1871.\n";
    std::fs::write(dir.join("far.md"), text).unwrap();
    let inputs = [dir.join("far.md")];
    engine.index(&inputs, &IndexOptions::default(), Arc::new(|_| ())).await.unwrap();
    engine
}

/// Asks one question with the strategy that searches in hops, and returns what the collector got.
async fn traced(content: bool) -> Sent {
    let dir = tempfile::tempdir().unwrap();
    let (url, received) = collector(false);
    let engine = engine(dir.path(), &url, content).await;
    let trace_parent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into());
    let strategy = Some("kar3".to_owned());
    let request = AskRequest { trace_parent, strategy, ..AskRequest::new("Who built Far Light?") };
    engine.ask(request).await.unwrap().outcome.answer.unwrap();
    // What has not been sent is sent at the end.
    tokio::task::spawn_blocking(move || drop(engine)).await.unwrap();
    received.recv_timeout(Duration::from_mins(1)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_spans_below_its_callers_span_without_texts() {
    let sent = traced(false).await;
    assert!(sent.head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{}", sent.head);
    assert!(sent.head.contains("content-type: application/x-protobuf"), "{}", sent.head);
    for text in [
        "invoke_agent kar3",
        "hop 1",
        "chat extractive",
        "retrieval atom",
        "gen_ai.operation.name",
        "gen_ai.usage.input_tokens",
        "service.name",
        "halma.prompt",
    ] {
        assert!(sent.contains(text), "`{text}` is missing");
    }
    let caller = [0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd];
    assert!(sent.body.windows(caller.len()).any(|window| window == caller), "another trace");
    for text in ["Far Light", "Ada", "1871"] {
        assert!(!sent.contains(text), "`{text}` is sent");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_are_sent_when_they_are_wanted() {
    let sent = traced(true).await;
    for text in ["Who built Far Light?", "Ada Tarrant", "gen_ai.input.messages"] {
        assert!(sent.contains(text), "`{text}` is missing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_never_replies_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let (url, _received) = collector(true);
    let engine = engine(dir.path(), &url, false).await;
    for _ in 0..5 {
        engine.ask(AskRequest::new("Who built Far Light?")).await.unwrap().outcome.answer.unwrap();
    }
    drop(engine);
    // Nor is one that is not there.
    let engine = {
        let mut config = Config::default();
        config.embedder.kind = EmbedderKind::None;
        config.telemetry.otlp_url = "http://127.0.0.1:1".into();
        Engine::create_or_open(config, &dir.path().join("other")).unwrap()
    };
    engine.ask(AskRequest::new("Who built Far Light?")).await.unwrap().outcome.answer.unwrap();
}

#[test]
fn a_collector_needs_an_address_that_can_be_asked() {
    let dir = tempfile::tempdir().unwrap();
    for wrong in ["localhost:4318", "grpc://localhost:4317", "http://user:pass@localhost:4318"] {
        let mut config = Config::default();
        config.embedder.kind = EmbedderKind::None;
        config.telemetry.otlp_url = wrong.into();
        let error = Engine::create_or_open(config, dir.path()).err().unwrap().to_string();
        assert!(error.contains("telemetry.otlp_url"), "{error}");
        assert!(!error.contains("pass@"), "{error}");
    }
}
