//! The server under attack, as a process in a folder of its own.
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::requests::{Answer, send};

/// A workspace whose users have done nothing.
pub(crate) const OTHER: &str = "other";

pub(crate) struct Victim {
    pub(crate) address: String,
    /// Until it is ended.
    child: Option<Child>,
    dir: Option<TempDir>,
}

impl Victim {
    /// A server with a base of a table and some notes, and a second workspace with a note.
    pub(crate) fn start() -> Self {
        Self::configured("")
    }

    /// [`Victim::start`] with more lines of configuration.
    pub(crate) fn configured(config: &str) -> Self {
        Self::with("kind = \"none\"", config)
    }

    /// [`Victim::start`] with an embedder at this address.
    pub(crate) fn embedding(url: &str) -> Self {
        Self::with(&format!("kind = \"endpoint\"\nurl = \"{url}\"\nmodel = \"vectors\""), "")
    }

    fn with(embedder: &str, config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &format!("[embedder]\n{embedder}\n"), config);
        assert!(halma(dir.path(), &["index", "library"]).output().unwrap().status.success());
        let victim = Self::over(dir);
        assert_eq!(victim.post("/api/v1/workspaces", &json!({"name": OTHER})).status, 201);
        victim.upload("", OTHER, "note.md", b"# Velby\n\nVelby is a harbour town.\n");
        victim.build(OTHER);
        victim
    }

    /// A server in a folder with a configuration.
    pub(crate) fn over(dir: TempDir) -> Self {
        let mut child = halma(dir.path(), &["serve", "--create", "--port", "0"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Self { address, child: Some(child), dir: Some(dir) }
    }

    /// Ends the process where it is.
    pub(crate) fn kill(&self) {
        let killed = Command::new("kill").args(["-9", &self.id().to_string()]).status();
        assert!(killed.unwrap().success());
    }

    /// The folder of a process that has been killed.
    pub(crate) fn into_dir(mut self) -> TempDir {
        self.child.take().unwrap().wait().unwrap();
        self.dir.take().unwrap()
    }

    /// The folder of its configuration and base.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.as_ref().map(TempDir::path).unwrap()
    }

    pub(crate) fn health(&self) -> Option<u16> {
        health_of(&self.address)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        send(&self.address, "GET", path, &[], b"").unwrap_or_default()
    }

    pub(crate) fn get_in(&self, workspace: &str, path: &str) -> Answer {
        let headers = [("x-halma-workspace", workspace)];
        send(&self.address, "GET", path, &headers, b"").unwrap_or_default()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_in("default", path, body)
    }

    pub(crate) fn post_in(&self, workspace: &str, path: &str, body: &Value) -> Answer {
        let headers = [("content-type", "application/json"), ("x-halma-workspace", workspace)];
        let body = body.to_string();
        send(&self.address, "POST", path, &headers, body.as_bytes()).unwrap_or_default()
    }

    /// [`Victim::post`], for an answer in gzip.
    pub(crate) fn post_compressed(&self, path: &str, body: &Value) -> Answer {
        let headers = [("content-type", "application/json"), ("accept-encoding", "gzip")];
        let body = body.to_string();
        send(&self.address, "POST", path, &headers, body.as_bytes()).unwrap_or_default()
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        send(&self.address, "DELETE", path, &[], b"").unwrap_or_default()
    }

    /// Uploads a file, in place of one of the same name.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> Answer {
        self.replace_in("default", name, bytes)
    }

    pub(crate) fn replace_in(&self, workspace: &str, name: &str, bytes: &[u8]) -> Answer {
        self.send_file("/api/v1/documents?replace=true", workspace, name, bytes)
    }

    /// Uploads a file; the result is the answer's text.
    pub(crate) fn upload(&self, folder: &str, workspace: &str, name: &str, bytes: &[u8]) -> Answer {
        self.send_file("/api/v1/documents", workspace, &format!("{folder}{name}"), bytes)
    }

    fn send_file(&self, path: &str, workspace: &str, name: &str, bytes: &[u8]) -> Answer {
        let mut body = format!(
            "--edge\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n--edge--\r\n");
        let headers = [
            ("content-type", "multipart/form-data; boundary=edge"),
            ("x-halma-workspace", workspace),
        ];
        send(&self.address, "POST", path, &headers, &body).unwrap_or_default()
    }

    /// Builds what was uploaded and waits for the end.
    pub(crate) fn build(&self, workspace: &str) -> Value {
        let started = self.post_in(workspace, "/api/v1/builds", &json!({})).json();
        let path = format!("/api/v1/builds/{}", started["id"].as_str().unwrap_or("none"));
        let until = Instant::now() + Duration::from_mins(3);
        loop {
            let headers = [("x-halma-workspace", workspace)];
            let build = send(&self.address, "GET", &path, &headers, b"").unwrap_or_default().json();
            if build["state"] != "running" || Instant::now() > until {
                return build;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits for the builds of the default workspace.
    pub(crate) fn wait_for_builds(&self) {
        let pending = |build: &Value| ["queued", "running"].iter().any(|s| build["state"] == *s);
        while self.get("/api/v1/builds").json()["items"].as_array().unwrap().iter().any(pending) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The id of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().map(Child::id).unwrap()
    }

    /// Ends it in order; its folder stays as long as the result.
    pub(crate) fn stop(mut self) -> TempDir {
        let _ = Command::new("kill").arg(self.id().to_string()).status();
        let status = self.child.take().unwrap().wait().unwrap();
        assert!(status.success(), "{status}");
        self.dir.take().unwrap()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub(crate) fn health_of(address: &str) -> Option<u16> {
    send(address, "GET", "/api/v1/health", &[], b"").map(|answer| answer.status)
}

/// Bytes of memory of a server and of its workers.
pub(crate) fn memory_of(server: u32) -> (u64, u64) {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let workers = processes
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| parent(*pid) == Some(server));
    (resident(server), workers.map(resident).sum())
}

/// Bytes of memory that a process has for itself: without files, whose pages the system takes back
/// when it needs them.
pub(crate) fn own_memory_of(process: u32) -> u64 {
    status(process, "RssAnon:").unwrap_or(0) * 1024
}

/// The program with these arguments, in a folder.
pub(crate) fn halma(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halma"));
    command.current_dir(dir).args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn write(dir: &Path, embedder: &str, config: &str) {
    let file = |name: &str, text: &str| {
        let path: PathBuf = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let atoms = "[kb]\natoms = \"sentences\"\n";
    file("halma.toml", &format!("{embedder}{atoms}{config}"));
    let row = |n: usize| format!("Light {n},{},{}\n", n % 90, 1800 + n % 200);
    let rows = (0..2_000).map(row).collect::<Vec<String>>().concat();
    file("library/towers.csv", &format!("tower,height,year\n{rows}"));
    for n in 0..200 {
        let text =
            format!("# Light {n}\n\nLight {n} was first lit in {}. It is in Velby.\n", 1800 + n);
        file(&format!("library/{n}.md"), &text);
    }
}

fn status(pid: u32, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

fn parent(pid: u32) -> Option<u32> {
    status(pid, "PPid:").and_then(|pid| pid.try_into().ok())
}

fn resident(pid: u32) -> u64 {
    status(pid, "VmRSS:").unwrap_or(0) * 1024
}
