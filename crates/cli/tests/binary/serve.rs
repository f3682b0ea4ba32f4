//! `halma serve` as a process: started, called, stopped; and `halma mcp`.
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use halma_testkit::double::{Behaviour, Double, atomizer};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::program::{Program, write_library};

/// The address that the first line of standard output says.
fn address(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}")).to_owned()
}

fn get(address: &str, path: &str, headers: &str) -> String {
    send(address, ("GET", path), headers, "")
}

fn send(address: &str, (method, path): (&str, &str), headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

fn terminated(mut child: Child) -> i32 {
    let killed = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success());
    child.wait().unwrap().code().unwrap_or(-1)
}

#[cfg(unix)]
#[test]
fn a_server_prints_its_address_and_stops_on_a_signal() {
    let program = Program::new();
    write_library(&program);
    program.run(&["index", "library"]);
    let mut child = program.start(&["serve", "--port", "0"]);
    let address = address(&mut child);
    assert!(get(&address, "/api/v1/health", "").contains("\"ok\""));
    assert!(get(&address, "/api/v1/documents", "").contains("orrin.md"));
    program.run(&["serve", "--port", "0"]).fails(1, &["another server serves the base", "--kb"]);
    // A key that is created while the server runs locks it, and unlocks it.
    let made = program.run(&["keys", "create", "--name", "a", "--scope", "ask", "--json"]).json();
    assert!(get(&address, "/api/v1/me", "").starts_with("HTTP/1.1 401"));
    let key = format!("authorization: Bearer {}\r\n", made["key"].as_str().unwrap());
    assert!(get(&address, "/api/v1/me", &key).contains("\"scopes\":[\"ask\"]"));
    let listed = program.run(&["keys", "list"]);
    assert!(listed.out.contains(made["id"].as_str().unwrap()), "{}", listed.out);
    assert_eq!(program.run(&["keys", "revoke", made["id"].as_str().unwrap()]).code, 0);
    assert!(get(&address, "/api/v1/me", &key).starts_with("HTTP/1.1 401"));
    assert_eq!(terminated(child), 0);
}

#[cfg(unix)]
#[test]
fn a_configuration_that_is_gone_when_it_is_read_again_stays_as_it_was() {
    let program = Program::new();
    let file = program.write("halma.toml", "[ask]\nstrategy = \"naive\"\n");
    let mut child = program.start(&["serve", "--create", "--port", "0"]);
    let address = address(&mut child);
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    std::fs::remove_file(file).unwrap();
    let sent = Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let said = log.find(|line| line.contains("configuration")).unwrap();
    assert!(said.contains("halma.toml") && said.contains("not there any more"), "{said}");
    let models = get(&address, "/v1/models", "");
    assert!(models.contains("[{\"id\":\"halma-naive\""), "{models}");
    assert_eq!(terminated(child), 0);
}

#[cfg(unix)]
#[test]
fn a_base_that_is_not_there_is_reported_by_what_makes_it() {
    let program = Program::new();
    let create = ["keys", "create", "--kb", "typo", "--name", "a", "--scope", "ask"];
    let made = program.run(&create);
    assert!(made.code == 0 && made.err.contains("there is no base in `typo` yet"), "{}", made.err);
    let serve = ["serve", "--port", "0", "--kb", "typo"];
    program.run(&serve).fails(2, &["typo: there is no knowledge base", "halma index", "--create"]);
    let mut child = program.start(&[&serve[..], &["--create"]].concat());
    address(&mut child);
    assert_eq!(terminated(child), 0);
    let again = program.run(&create);
    assert!(again.code == 0 && !again.err.contains("there is no base"), "{}", again.err);
}

#[test]
fn an_address_that_cannot_be_used_leaves_no_base_behind() {
    let program = Program::new();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    program
        .run(&["serve", "--create", "--kb", "typo", "--port", &port])
        .fails(1, &["cannot listen on 127.0.0.1", "--port"]);
    for addr in ["127.0.0.1", "localhost:x"] {
        program
            .run(&["serve", "--create", "--kb", "typo", "--addr", addr])
            .fails(2, &["--addr: `serve.addr`", addr, "write HOST:PORT, such as 127.0.0.1:8080"]);
    }
    assert!(!program.path("typo").exists());
    // In a folder that is there, no base is made either.
    std::fs::create_dir(program.path("typo")).unwrap();
    let serve = ["serve", "--create", "--kb", "typo", "--port", &port];
    program.run(&serve).fails(1, &["cannot listen"]);
    assert!(!program.path("typo/store").exists());
}

/// The questions that a running server lists under Runs, newest first.
fn runs(address: &str) -> Vec<String> {
    let listed = body_of(&get(address, "/api/v1/traces", ""));
    let items = listed["items"].as_array().unwrap();
    items.iter().map(|item| item["question"].as_str().unwrap().to_owned()).collect()
}

#[cfg(unix)]
#[test]
fn questions_of_the_command_line_are_listed_by_a_server_that_starts_or_runs() {
    let program = Program::new();
    write_library(&program);
    program.run(&["index", "library"]);
    let answer = program.run(&["ask", "Who designed Orrin Light?", "--json"]).json();
    let mut child = program.start(&["serve", "--port", "0"]);
    let address = address(&mut child);
    assert_eq!(runs(&address), ["Who designed Orrin Light?"]);
    let trace = get(&address, &format!("/api/v1/traces/{}", answer["id"].as_str().unwrap()), "");
    assert!(trace.contains("\"strategy\":\"auto\"") && trace.contains("searched"), "{trace}");
    assert_eq!(program.run(&["ask", "When was Orrin Light lit?"]).code, 0);
    assert_eq!(runs(&address), ["When was Orrin Light lit?", "Who designed Orrin Light?"]);
    assert_eq!(terminated(child), 0);
}

#[cfg(unix)]
#[test]
fn the_demo_is_served_with_its_originals() {
    let program = Program::new();
    let mut child = program.start(&["serve", "--demo", "--port", "0"]);
    let address = address(&mut child);
    assert!(get(&address, "/api/v1/me", "").contains("\"demo\":true"));
    assert!(get(&address, "/api/v1/documents/biosimilars.csv/file", "").contains("attachment"));
    every_suggestion_is_right(&address);
    assert_eq!(terminated(child), 0);
    assert!(program.path(".halma/demo/base/files/biosimilars.csv").is_file());
}

/// Asks each question that the web UI offers by the strategy that it comes with.
#[cfg(unix)]
fn every_suggestion_is_right(address: &str) {
    let questions = include_str!("../../../../demo/questions.jsonl").lines();
    let questions: Vec<Value> = questions.map(|line| serde_json::from_str(line).unwrap()).collect();
    let offered = body_of(&get(address, "/api/v1/examples", ""));
    let offered = offered["items"].as_array().unwrap();
    assert!(!offered.is_empty(), "{offered:?}");
    for suggestion in offered {
        let question =
            questions.iter().find(|one| one["question"] == suggestion["question"]).unwrap();
        let reply = post(address, "/api/v1/ask", suggestion);
        let given = reply["answer"]["text"].as_str().unwrap();
        let accepted = question["answers"].as_array().unwrap();
        let is_right = accepted.iter().any(|form| given.contains(form.as_str().unwrap()));
        assert!(is_right, "{suggestion}: {given}");
    }
}

#[test]
fn wrong_use_is_told_before_anything_is_served() {
    let program = Program::new();
    let public = ["serve", "--create", "--addr", "0.0.0.0:0", "--kb", "unmade"];
    program.run(&public).fails(2, &["no API keys", "halma keys create"]);
    // What is refused leaves no empty base behind.
    assert!(!program.path("unmade").exists());
    program.run(&["serve", "--create", "--addr", "nowhere"]).fails(2, &["nowhere", "--addr"]);
    program.run(&["keys", "revoke", "x"]).fails(2, &["no key `x`"]);
    program.run(&["mcp", "--kb", "nothing"]).fails(2, &["halma index"]);
}

/// `halma mcp` as an agent has it.
struct Agent {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Agent {
    /// Starts the program and shakes hands with it.
    fn start(program: &Program) -> Self {
        let mut child = program.command(&["mcp"]).stdin(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut agent = Self { child, input, output };
        agent.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}));
        assert_eq!(agent.hear()["result"]["serverInfo"]["name"], "halma");
        agent.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
    }

    /// Calls a tool, and returns its text and the steps that it reported.
    fn call(&mut self, tool: &str, arguments: &Value) -> (String, usize) {
        self.say(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments, "_meta": {"progressToken": 7}}}));
        let mut steps = 0;
        loop {
            let message = self.hear();
            if message["id"] == 2 {
                let text = message["result"]["content"][0]["text"].as_str();
                return (text.unwrap_or_else(|| panic!("{message}")).to_owned(), steps);
            }
            assert_eq!(message["params"]["progressToken"], 7, "{message}");
            steps += 1;
        }
    }

    /// The agent goes away; the program ends with success.
    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn an_agent_that_starts_halma_asks_it() {
    let program = Program::new();
    write_library(&program);
    program.run(&["index", "library"]);
    let mut agent = Agent::start(&program);
    let question = json!({"question": "In which year was Orrin Light first lit?"});
    let (text, steps) = agent.call("ask", &question);
    assert!(steps > 0 && text.contains("1871") && text.contains("[1]"), "{text}");
    agent.end();
}

/// Uploads a file that waits for a build.
fn upload(address: &str, name: &str, text: &str) {
    let form = format!(
        "--edge\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n\
         {text}\r\n--edge--\r\n"
    );
    let content = "multipart/form-data; boundary=edge";
    let uploaded = send(address, ("POST", "/api/v1/documents"), &type_of(content), &form);
    assert!(uploaded.contains(&format!("\"upload\":\"{name}\"")), "{uploaded}");
}

fn type_of(content: &str) -> String {
    format!("content-type: {content}\r\n")
}

fn post(address: &str, path: &str, body: &Value) -> Value {
    body_of(&send(address, ("POST", path), &type_of("application/json"), &body.to_string()))
}

fn body_of(response: &str) -> Value {
    let body = response.split_once("\r\n\r\n").unwrap().1;
    serde_json::from_str(body).unwrap_or_else(|e| panic!("{e}: {response}"))
}

/// Waits until a build has ended, and returns its state.
fn end_of(address: &str, build: &Value) -> Value {
    let path = format!("/api/v1/builds/{}", build["id"].as_str().unwrap());
    loop {
        let state = body_of(&get(address, &path, ""))["state"].clone();
        if state != "running" {
            return state;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Reads what a program logs, since it waits when its pipe is full.
#[cfg(unix)]
fn read_log(child: &mut Child) {
    let mut log = child.stderr.take().unwrap();
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
}

#[cfg(unix)]
#[test]
fn an_agent_next_to_a_running_server_leaves_its_uploads_and_builds_alone() {
    // The model answers once this is dropped.
    let (release, released) = mpsc::channel::<()>();
    let (released, atoms) = (Mutex::new(released), atomizer());
    let double = Double::start(Behaviour::replying(move |call| {
        let _ = released.lock().recv();
        atoms(call)
    }));
    // Before the double, which waits for its replies.
    let release = release;
    let program = Program::with_model(&double.url());
    let mut child = program.start(&["serve", "--create", "--port", "0"]);
    read_log(&mut child);
    let address = address(&mut child);
    upload(&address, "one.md", "# Orrin Light\n\nOrrin Light was first lit in 1871.\n");
    upload(&address, "two.md", "# Velby\n\nVelby is a harbour town.\n");
    let build = post(&address, "/api/v1/builds", &json!({"uploads": ["one.md"]}));
    while double.in_flight() == 0 {
        std::thread::yield_now();
    }

    let mut agent = Agent::start(&program);
    agent.call("list_documents", &json!({}));
    agent.end();

    let path = format!("/api/v1/builds/{}", build["id"].as_str().unwrap());
    assert_eq!(body_of(&get(&address, &path, ""))["state"], "running");
    drop(release);
    assert_eq!(end_of(&address, &build), "done");
    let second = post(&address, "/api/v1/builds", &json!({"uploads": ["two.md"]}));
    assert_eq!(end_of(&address, &second), "done");
    let documents = get(&address, "/api/v1/documents", "");
    assert!(documents.contains("one.md") && documents.contains("two.md"), "{documents}");
    assert_eq!(terminated(child), 0);
}
