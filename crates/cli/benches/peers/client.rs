//! A client that costs little compared with what it measures: one kept connection, blocking.
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

/// What questions over HTTP took.
pub(crate) struct Served {
    /// Milliseconds.
    pub(crate) p50: f64,
    /// Calls of a model for a question.
    pub(crate) calls: f64,
    /// Questions a second, at once.
    pub(crate) rate: f64,
    /// Milliseconds of the server's processor for one of these.
    pub(crate) cpu: f64,
}

/// How questions are answered.
#[derive(Clone, Copy)]
pub(crate) struct Method {
    pub(crate) strategy: &'static str,
    pub(crate) mode: &'static str,
    /// `short`: the answer, which is what the peer gives; `full`: a sentence with its sources as
    /// well, in one more call.
    pub(crate) style: &'static str,
}

pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    address: String,
}

impl Client {
    pub(crate) fn new(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), address: address.to_owned() })
    }

    pub(crate) fn is_healthy(&mut self) -> bool {
        self.send("GET", "/api/v1/health", "").is_ok_and(|(status, _)| status == 200)
    }

    /// Asks a question; returns how many calls of a model it took.
    pub(crate) fn ask(&mut self, question: &str, method: Method) -> u64 {
        let Method { strategy, mode, style } = method;
        let body = serde_json::json!({
            "question": question, "strategy": strategy, "settings": {"mode": mode},
            "answer_style": style,
        });
        let (status, reply) = self.send("POST", "/api/v1/ask", &body.to_string()).unwrap();
        assert_eq!(status, 200, "{reply}");
        let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
        reply["usage"]["llm_calls"].as_u64().unwrap_or_default()
    }

    fn send(&mut self, method: &str, path: &str, body: &str) -> std::io::Result<(u16, String)> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut status, mut length) = (0, 0);
        for number in 0.. {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let line = line.trim_end();
            if number == 0 {
                status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
            } else if line.is_empty() {
                break;
            } else if let Some((name, value)) = line.split_once(": ")
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.parse().unwrap_or(0);
            }
        }
        let mut reply = vec![0; length];
        self.stream.read_exact(&mut reply)?;
        Ok((status, String::from_utf8_lossy(&reply).into_owned()))
    }
}

/// Seconds of processor that a running process has used.
pub(crate) fn cpu_of(process: u32) -> f64 {
    times(&format!("/proc/{process}/stat"), 11)
}

/// Those of the children of this process that have ended.
pub(crate) fn children_cpu() -> f64 {
    times("/proc/self/stat", 13)
}

/// The sum of two fields of a `stat` file, counted after the name; 0 where there is none.
fn times(path: &str, first: usize) -> f64 {
    /// A second has so many on every Linux that Halma runs on.
    const TICKS: f64 = 100.0;
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let ticks = fields.split(' ').skip(first).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}
