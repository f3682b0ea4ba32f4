//! A model server of this machine that runs as a child of this process.
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_core::{ConfigError, LlmError};
use parking_lot::Mutex;
use serde_json::Value;

use crate::endpoint::ServerCommand;
use crate::service::Service;

/// How often a server that loads its model is asked, and for how long.
const INTERVAL: Duration = Duration::from_millis(200);
const LONGEST_LOAD: Duration = Duration::from_mins(5);

/// A server that is alive replies within this.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How often the end of the output of a program that has ended is waited for.
const LAST_READS: usize = 5;

/// Lines of the server's last output that an error shows.
const SHOWN_LINES: usize = 3;

/// Runs a program and ends it when the standard input closes: the system closes that also when this
/// process is killed.
#[cfg(unix)]
const WATCHED: &str = "exec 3<&0 </dev/null; \"$@\" & child=$!; \
                       { cat <&3 >/dev/null; kill -9 $child; } 2>/dev/null & wait $child";

/// Starts a server when it is needed, and again when it has ended.
pub struct ChildServer {
    command: ServerCommand,
    service: Service,
    /// The name under which the server lists its model.
    model: String,
    running: tokio::sync::Mutex<Option<Running>>,
}

/// What listens at the address of a server.
enum Listening {
    /// The server, with its model.
    Ready,
    Loading,
    /// A program that serves something else.
    Other,
    Nothing,
}

impl ChildServer {
    /// `url` is the base of the API that the program serves `model` at.
    ///
    /// # Errors
    /// The address is none of this machine.
    pub fn new(command: ServerCommand, url: &str, model: &str) -> Result<Self, ConfigError> {
        let service = Service::new(url, TIMEOUT)?;
        Ok(Self {
            command,
            service,
            model: model.to_owned(),
            running: tokio::sync::Mutex::default(),
        })
    }

    /// Returns when the server is ready. One that another process has started is used as well.
    ///
    /// # Errors
    /// The program cannot be started or ends, or another program uses its port.
    pub async fn ready(&self) -> Result<(), LlmError> {
        let mut running = self.running.lock().await;
        if running.as_mut().is_some_and(|child| child.is_ready && child.is_alive()) {
            return Ok(());
        }
        let began = Instant::now();
        loop {
            match self.listening().await {
                Listening::Ready => {
                    running.iter_mut().for_each(|child| child.is_ready = true);
                    return Ok(());
                }
                Listening::Other => {
                    return Err(LlmError::refused(format!(
                        "another program uses {}: stop it, or write another address as `url`",
                        self.service.url()
                    )));
                }
                Listening::Loading => {}
                Listening::Nothing => match running.as_mut().map(Running::is_alive) {
                    None => *running = Some(Running::start(&self.command)?),
                    Some(true) => {}
                    Some(false) if running.as_ref().is_some_and(|child| child.is_ready) => {
                        *running = None;
                    }
                    Some(false) => return Err(self.failed(running.take()).await),
                },
            }
            if began.elapsed() > LONGEST_LOAD {
                return Err(self.failed(running.take()).await);
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    async fn listening(&self) -> Listening {
        let Ok(response) = self.service.get("/models").await else { return Listening::Nothing };
        if response.status() == 503 {
            return Listening::Loading;
        }
        let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        if body["data"][0]["id"] == *self.model { Listening::Ready } else { Listening::Other }
    }

    async fn failed(&self, ended: Option<Running>) -> LlmError {
        let is_read = || {
            let reader = ended.as_ref().and_then(|child| child.reader.as_ref());
            reader.is_none_or(std::thread::JoinHandle::is_finished)
        };
        // What a program has said last may still be on its way.
        for _ in 0..LAST_READS {
            if is_read() {
                break;
            }
            tokio::time::sleep(INTERVAL).await;
        }
        let said = ended.map(|child| child.last_lines.lock().join(" · ")).unwrap_or_default();
        let program = &self.command.program;
        LlmError::refused(format!(
            "`{program}`, which must be on the path, does not serve the model: {said}"
        ))
    }
}

/// A child that ends with this value, and with this process.
struct Running {
    child: Child,
    /// It has loaded its model.
    is_ready: bool,
    /// Closed at the end, which ends the program.
    _open: Option<ChildStdin>,
    last_lines: Arc<Mutex<Vec<String>>>,
    /// Reads these lines until the output ends.
    reader: Option<std::thread::JoinHandle<()>>,
}

impl Running {
    fn start(command: &ServerCommand) -> Result<Self, LlmError> {
        let mut child = watched(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| LlmError::refused(format!("cannot start `{}`: {e}", command.program)))?;
        let last_lines = Arc::new(Mutex::new(vec![]));
        let reader = child.stderr.take().map(|output| {
            let lines = Arc::clone(&last_lines);
            std::thread::spawn(move || {
                for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                    let line = String::from_utf8_lossy(&line).trim().to_owned();
                    let mut lines = lines.lock();
                    if lines.len() == SHOWN_LINES {
                        lines.remove(0);
                    }
                    lines.push(line);
                }
            })
        });
        Ok(Self { is_ready: false, _open: child.stdin.take(), child, last_lines, reader })
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

#[cfg(unix)]
fn watched(command: &ServerCommand) -> Command {
    use std::os::unix::process::CommandExt as _;

    let mut shell = Command::new("sh");
    shell.args(["-c", WATCHED, "sh", &command.program]).args(&command.arguments);
    // Ctrl-C is for this process, which ends the program when it has no more use for it.
    shell.process_group(0);
    shell
}

#[cfg(not(unix))]
fn watched(command: &ServerCommand) -> Command {
    let mut program = Command::new(&command.program);
    program.args(&command.arguments);
    program
}

#[cfg(not(unix))]
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn free_port() -> u16 {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
    }

    fn server(port: u16, program: &str, arguments: &[&str]) -> ChildServer {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let command = ServerCommand { program: program.into(), arguments };
        ChildServer::new(command, &format!("http://127.0.0.1:{port}/v1"), "small").unwrap()
    }

    /// Whether a port is closed soon.
    fn closes(port: u16) -> bool {
        (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            TcpStream::connect(("127.0.0.1", port)).is_err()
        })
    }

    #[tokio::test]
    async fn a_server_is_started_again_when_it_has_ended_and_stopped_at_the_end() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("v1")).unwrap();
        std::fs::write(dir.path().join("v1/models"), r#"{"data":[{"id":"small"}]}"#).unwrap();
        let (port, path) = (free_port(), dir.path().display().to_string());
        let (port_argument, bind) = (port.to_string(), ["--bind", "127.0.0.1", "--directory"]);
        let start = ["-m", "http.server", &port_argument].into_iter().chain(bind).chain([&*path]);
        let first = server(port, "python3", &start.clone().collect::<Vec<_>>());
        let shared = server(port, "no-such-program", &[]);
        first.ready().await.unwrap();
        shared.ready().await.unwrap();
        let group = first.running.lock().await.as_ref().unwrap().child.id();
        let mut kill = Command::new("kill");
        assert!(kill.args(["-9", "--", &format!("-{group}")]).status().unwrap().success());
        assert!(closes(port), "it is killed");
        first.ready().await.unwrap();
        drop(first);
        assert!(closes(port), "it is stopped");
        let missing = shared.ready().await.unwrap_err().to_string();
        assert!(missing.contains("no-such-program"), "{missing}");
    }

    #[tokio::test]
    async fn a_program_that_cannot_serve_says_why() {
        let script = ["-c", "echo 'the file is cut short' >&2; exit 1"];
        let refused = server(free_port(), "sh", &script).ready().await.unwrap_err().to_string();
        assert!(refused.contains("the file is cut short"), "{refused}");
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = other.local_addr().unwrap().port();
        std::thread::spawn(move || {
            use std::io::Write as _;
            while let Ok((mut stream, _)) = other.accept() {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
            }
        });
        let refused = server(port, "sh", &["-c", "true"]).ready().await.unwrap_err().to_string();
        assert!(refused.contains("another program uses"), "{refused}");
    }
}
