//! Keys that see the documents of one team each, of a server that runs SQL in processes.
use serde_json::{Value, json};

use crate::requests::send;
use crate::server::{Victim, halma};

struct Team<'a> {
    victim: &'a Victim,
    key: String,
}

impl<'a> Team<'a> {
    fn new(victim: &'a Victim, name: &str) -> Self {
        let documents = format!("team={name}");
        let create = ["keys", "create", "--name", name, "--scope", "ask", "--scope", "write"];
        let created = halma(victim.dir(), &create).args(["--where", &documents, "--json"]).output();
        let created: Value = serde_json::from_slice(&created.unwrap().stdout).unwrap();
        Self { victim, key: created["key"].as_str().unwrap().to_owned() }
    }

    fn send(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Value {
        let authorization = format!("Bearer {}", self.key);
        let headers = [("authorization", authorization.as_str()), ("content-type", kind)];
        send(&self.victim.address, method, path, &headers, body).unwrap().json()
    }

    fn add(&self, name: &str, text: &str) {
        let head = format!("content-disposition: form-data; name=\"file\"; filename=\"{name}\"");
        let body = format!("--edge\r\n{head}\r\n\r\n{text}\r\n--edge--\r\n");
        let kind = "multipart/form-data; boundary=edge";
        self.send("POST", "/api/v1/documents", kind, body.as_bytes());
        let id = self.send("POST", "/api/v1/builds", "application/json", b"{}")["id"].clone();
        let path = format!("/api/v1/builds/{}", id.as_str().unwrap());
        while self.send("GET", &path, "application/json", b"")["state"] == "running" {
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
    }

    /// The values of the rows, or what is wrong.
    fn sql(&self, sql: &str) -> Vec<Value> {
        let body = json!({"sql": sql}).to_string();
        let result = self.send("POST", "/api/v1/sql", "application/json", body.as_bytes());
        match result["rows"].as_array() {
            Some(rows) => rows.iter().map(|row| row["values"].clone()).collect(),
            None => vec![result["detail"].clone()],
        }
    }
}

/// A process that was sent the rows of one team serves no other team.
#[test]
fn sql_of_one_team_finds_no_row_of_another() {
    let victim = Victim::start();
    let (a, b) = (Team::new(&victim, "a"), Team::new(&victim, "b"));
    a.add("lights.csv", "tower,height\nOrrin,41\n");
    b.add("velvetine.csv", "name,salary\nQuillon,99000\n");
    for _ in 0..2 {
        assert_eq!(b.sql("SELECT * FROM velvetine"), [json!(["Quillon", 99_000])]);
        let others = format!("{:?}", a.sql("SELECT * FROM velvetine"));
        assert!(others.contains("no such table"), "{others}");
        let listed = format!("{:?}", a.sql("SELECT * FROM tables"));
        assert!(listed.contains("lights") && !listed.contains("velvetine"), "{listed}");
        assert_eq!(a.sql("SELECT * FROM lights"), [json!(["Orrin", 41])]);
    }
    victim.stop();
}
