//! What many do at the same time: uploads, embeddings, builds, and workspaces that come and go.
use std::time::Duration;

use halma_testkit::double::{Behaviour, Double};
use serde_json::{Value, json};

use crate::attacks::{Answers, Attack, attack, together};
use crate::server::Victim;

/// Builds of a workspace that may wait, run or be paused.
const MAX_BUILDS: usize = 20;

pub(crate) fn crowds() -> Vec<Attack> {
    vec![
        attack("200 uploads of 1 MB each at once", uploads),
        attack("200 uploads of 1 MB of the same name at once, then in its place", same_name),
        attack("300 requests for embeddings of 20 texts each, and a slow embedder", embeddings),
        attack("100 builds at once", builds),
        attack("5 workspaces made, used, searched and removed by 20 at once", workspaces),
    ]
}

/// A text of 1 MB that differs from the others.
fn megabyte(n: usize) -> Vec<u8> {
    let lines = "It is one of two hundred.\n".repeat(40_000);
    let mut text = format!("# Upload {n}\n\n{lines}").into_bytes();
    text.truncate(1_000_000);
    text
}

/// Runs an attack in a workspace of its own, which is removed afterwards.
fn in_workspace(
    victim: &Victim,
    name: &str,
    attack: impl FnOnce() -> Result<String, String>,
) -> Answers {
    let made = victim.post("/api/v1/workspaces", &json!({"name": name})).status;
    let answers = attack();
    let removed = victim.delete(&format!("/api/v1/workspaces/{name}")).status;
    match (made, removed) {
        (201, 204) => answers,
        _ => Err(format!("`{name}` was made with {made} and removed with {removed}")),
    }
}

fn uploads(victim: &Victim) -> Answers {
    in_workspace(victim, "uploads", || {
        let statuses = together(200, |n| {
            victim.upload("", "uploads", &format!("upload-{n}.md"), &megabyte(n)).status
        });
        let stored = statuses.count(200);
        let listed = documents(victim, "uploads");
        if listed.len() != stored || listed.iter().any(|line| line["bytes"] != 1_000_000) {
            return Err(format!("{stored} were accepted, and {} are there", listed.len()));
        }
        statuses.within(&[200, 503])
    })
}

fn same_name(victim: &Victim) -> Answers {
    in_workspace(victim, "same", || {
        let mut statuses =
            together(100, |n| victim.upload("", "same", "same.md", &megabyte(n)).status);
        if statuses.count(200) != 1 {
            return Err(format!("{} of the same name were accepted", statuses.count(200)));
        }
        statuses.add(together(100, |n| victim.replace_in("same", "same.md", &megabyte(n)).status));
        let listed = documents(victim, "same");
        if listed.len() != 1 || listed[0]["bytes"] != 1_000_000 {
            return Err(format!("what is there is {listed:?}"));
        }
        statuses.within(&[200, 409, 503])
    })
}

/// The attacked server has no embedder; another one has a slow one, and answers meanwhile.
fn embeddings(_: &Victim) -> Answers {
    let slow = Behaviour::default().latency(Duration::from_millis(50)).unrecorded();
    let double = Double::start(slow);
    let victim = Victim::embedding(&double.url());
    let statuses = together(320, |n| {
        if n % 16 == 0 {
            return victim.health().unwrap_or(0);
        }
        let texts: Vec<String> = (0..20).map(|text| format!("Light {n} of {text}")).collect();
        victim.post("/v1/embeddings", &json!({"model": "halma", "input": texts})).status
    });
    victim.stop();
    statuses.within(&[200, 503])
}

fn builds(victim: &Victim) -> Answers {
    in_workspace(victim, "builds", || {
        for n in 0..10 {
            let text = format!("# Note {n}\n\n{}", "It is a note. ".repeat(5_000));
            victim.upload("", "builds", &format!("note-{n}.md"), text.as_bytes());
        }
        let statuses =
            together(100, |_| victim.post_in("builds", "/api/v1/builds", &json!({})).status);
        let all = victim.get_in("builds", "/api/v1/builds").json();
        let all = all["items"].as_array().cloned().unwrap_or_default();
        let waiting = |build: &&Value| build["state"] == "queued" || build["state"] == "running";
        let waiting = all.iter().filter(waiting).count();
        if all.len() != statuses.count(202) || waiting > MAX_BUILDS {
            return Err(format!("{waiting} of {} builds wait", all.len()));
        }
        match victim.build("builds")["state"].as_str() {
            Some("done") | None => statuses.within(&[202, 503]),
            Some(state) => Err(format!("the last build is {state}")),
        }
    })
}

/// Every user may meet a workspace that another one has just made or is just removing.
fn workspaces(victim: &Victim) -> Answers {
    const TEAMS: usize = 5;
    // A build of a workspace in which no upload has arrived is refused with 422.
    let expected = [200, 201, 202, 204, 404, 409, 422, 503];
    let unexpected = |status: &u16| !expected.contains(status);
    let statuses = together(20, |user| {
        for round in 0..6 {
            let name = format!("team-{}", (user + round) % TEAMS);
            let text = format!("# Of {name}\n\nIt is in Velby.\n");
            let search = || {
                let query = json!({"text": "Velby"});
                victim.post_in(&name, "/api/v1/search", &query).status
            };
            let steps = [
                victim.post("/api/v1/workspaces", &json!({"name": name})).status,
                victim.upload("", &name, &format!("note-{user}.md"), text.as_bytes()).status,
                victim.post_in(&name, "/api/v1/builds", &json!({})).status,
                search(),
                victim.delete(&format!("/api/v1/workspaces/{name}")).status,
                search(),
            ];
            if let Some(status) = steps.into_iter().find(unexpected) {
                return status;
            }
        }
        200
    });
    for team in 0..TEAMS {
        let status = victim.delete(&format!("/api/v1/workspaces/team-{team}")).status;
        if ![204, 404].contains(&status) {
            return Err(format!("at the end a workspace is removed with {status}"));
        }
    }
    // Other attacks have made workspaces as well.
    let folders = std::fs::read_dir(victim.dir().join(".halma/workspaces")).unwrap();
    let names = folders.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let left: Vec<String> = names.filter(|name| name.contains("team-")).collect();
    if !left.is_empty() {
        return Err(format!("{left:?} are left"));
    }
    statuses.within(&[200])
}

fn documents(victim: &Victim, workspace: &str) -> Vec<Value> {
    let listed = victim.get_in(workspace, "/api/v1/documents?limit=500").json();
    listed["items"].as_array().cloned().unwrap_or_default()
}
