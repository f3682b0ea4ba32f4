//! Two workspaces under the same random traffic never get data of each other.
use std::sync::Arc;

use halma_server::Scope;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Setup, World, config, form};

/// A small generator: the traffic is the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

struct Tenant {
    key: String,
    /// A word that occurs in all its documents and in no other's.
    word: &'static str,
    /// Ids of the other tenant, which this one must not be able to use.
    foreign: Vec<String>,
}

async fn fill(world: &World, key: &str, light: &str) -> Vec<String> {
    let text = format!("# {light} Light\n\n{light} Light was first lit in 1902 by {light} Roe.\n");
    let table = format!("tower,height\n{light},41\n");
    let (kind, body) =
        form(&[("note.md", text.as_bytes()), (&format!("{light}.csv"), table.as_bytes())]);
    let request = world.request(Method::POST, "/api/v1/documents").bearer_auth(key);
    let uploaded = request.header("content-type", kind).body(body).send().await.unwrap();
    assert!(uploaded.status().is_success());
    let send = |method: Method, path: String, body: Value| {
        let request = world.request(method, &path).bearer_auth(key).json(&body);
        async move { request.send().await.unwrap().json::<Value>().await.unwrap() }
    };
    let build = send(Method::POST, "/api/v1/builds".into(), json!({})).await;
    let path = format!("/api/v1/builds/{}", build["id"].as_str().unwrap());
    for _ in 0..400 {
        if send(Method::GET, path.clone(), json!({})).await["state"] != "running" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    let documents = send(Method::GET, "/api/v1/documents".into(), json!({})).await;
    let mut ids: Vec<String> = documents["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 2, "{documents}");
    let search = json!({"text": light});
    let hits = send(Method::POST, "/api/v1/search".into(), search).await;
    ids.push(hits["hits"][0]["id"].as_str().unwrap().to_owned());
    let ask = json!({"question": format!("When was {light} Light first lit?")});
    let answered = send(Method::POST, "/api/v1/ask".into(), ask).await;
    ids.push(answered["id"].as_str().unwrap().to_owned());
    ids.push(build["id"].as_str().unwrap().to_owned());
    ids
}

/// A random request, with an id and perhaps a question of the other tenant.
fn random_request(random: &mut Random, other: &Tenant, tenant: &Tenant) -> (Method, String, Value) {
    let id = &tenant.foreign[random.below(tenant.foreign.len())];
    let word = if random.below(2) == 0 { tenant.word } else { other.word };
    let question = json!({"question": format!("When was {word} Light first lit?")});
    let tool = |name: &str, arguments: Value| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}})
    };
    let (method, path, body) = match random.below(22) {
        0 => ("GET", "/api/v1/documents".into(), json!({})),
        1 => ("GET", format!("/api/v1/documents/{id}"), json!({})),
        2 => ("GET", format!("/api/v1/documents/{id}/text"), json!({})),
        3 => ("GET", format!("/api/v1/documents/{id}/nodes"), json!({})),
        4 => ("GET", format!("/api/v1/documents/{id}/file"), json!({})),
        5 => ("GET", "/api/v1/documents/note.md/file".into(), json!({})),
        6 => ("GET", format!("/api/v1/nodes/{id}"), json!({})),
        7 => ("GET", format!("/api/v1/nodes/{id}/neighbours"), json!({})),
        8 => ("GET", "/api/v1/tables".into(), json!({})),
        9 => ("POST", "/api/v1/search".into(), json!({"text": word, "layer": "entity"})),
        10 => ("POST", "/api/v1/search".into(), json!({"text": word, "mode": "graph"})),
        11 => ("POST", "/api/v1/ask".into(), question),
        12 => ("GET", "/api/v1/traces".into(), json!({})),
        13 => ("GET", format!("/api/v1/traces/{id}"), json!({})),
        14 => ("GET", "/api/v1/builds".into(), json!({})),
        15 => ("GET", format!("/api/v1/builds/{id}"), json!({})),
        16 => ("GET", "/api/v1/usage?by=key".into(), json!({})),
        17 => (
            "POST",
            "/v1/chat/completions".into(),
            json!({"model": "halma", "messages": [{"role": "user", "content": question["question"]}]}),
        ),
        18 => ("POST", "/mcp".into(), tool("search", json!({"query": word}))),
        19 => ("POST", "/mcp".into(), tool("read_document", json!({"document": "note.md"}))),
        20 => ("POST", "/mcp".into(), tool("list_documents", json!({}))),
        _ => ("POST", "/mcp".into(), tool("explain_answer", json!({"id": id}))),
    };
    (Method::from_bytes(method.as_bytes()).unwrap(), path, body)
}

/// Requests of each of the eight clients: an eighth of `HALMA_REQUESTS`, or some.
fn requests() -> usize {
    std::env::var("HALMA_REQUESTS").map_or(60, |count| count.parse::<usize>().unwrap() / 8)
}

/// Uploads a document about the tenant's word, builds, or deletes one.
async fn change(world: &World, random: &mut Random, tenant: &Tenant) {
    let name = format!("extra-{}.md", random.below(8));
    let send = |method: Method, path: String| world.request(method, &path).bearer_auth(&tenant.key);
    let request = match random.below(3) {
        0 => {
            let text = format!("# {} {name}\n\nWritten {} times.\n", tenant.word, random.below(9));
            let (kind, body) = form(&[(name.as_str(), text.as_bytes())]);
            let path = "/api/v1/documents?replace=true".to_owned();
            send(Method::POST, path).header("content-type", kind).body(body)
        }
        1 => send(Method::POST, "/api/v1/builds".into()).json(&json!({})),
        _ => send(Method::DELETE, format!("/api/v1/documents/{name}")),
    };
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    // A full queue of builds is said so.
    assert!(status < 500 || status == 503, "{}", response.text().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tenant_gets_data_of_another() {
    let mut config = config();
    // A refused request would reveal nothing anyway.
    config.serve.requests_per_minute = 1_000_000;
    let world = World::with(Setup { config, library: false }).await;
    let ops = world.key(&Scope::ALL, "default");
    let mut tenants = vec![];
    for (name, word) in [("left", "Quillon"), ("right", "Zephrane")] {
        let body = json!({"name": name});
        let created =
            world.request(Method::POST, "/api/v1/workspaces").bearer_auth(&ops).json(&body);
        assert_eq!(created.send().await.unwrap().status(), 201);
        let key = world.key(&[Scope::Ask, Scope::Write], name);
        tenants.push(Tenant { key, word, foreign: vec![] });
    }
    let mut ids = vec![];
    for tenant in &tenants {
        ids.push(fill(&world, &tenant.key, tenant.word).await);
    }
    for (tenant, foreign) in tenants.iter_mut().zip(ids.into_iter().rev()) {
        tenant.foreign = foreign;
    }
    let (world, tenants) = (Arc::new(world), Arc::new(tenants));
    let traffic = (0..8_u64).map(|seed| {
        let (world, tenants) = (Arc::clone(&world), Arc::clone(&tenants));
        tokio::spawn(async move {
            let mut random = Random(seed);
            for _ in 0..requests() {
                let at = random.below(2);
                let (tenant, other) = (&tenants[at], &tenants[1 - at]);
                if random.below(12) == 0 {
                    change(&world, &mut random, tenant).await;
                    continue;
                }
                let (method, path, body) = random_request(&mut random, other, tenant);
                let sent = body.to_string().contains(other.word);
                let request = world
                    .request(method.clone(), &path)
                    .bearer_auth(&tenant.key)
                    .header("accept", "application/json, text/event-stream")
                    .header("mcp-protocol-version", "2025-06-18")
                    .json(&body);
                let response = request.send().await.unwrap();
                assert!(response.status().as_u16() < 500, "{method} {path}");
                let text = response.text().await.unwrap();
                // A question may be repeated; knowledge about it must not be revealed.
                let leaked = text.contains(&format!("{} Roe", other.word))
                    || (!sent && text.contains(other.word) && !path.contains("traces"));
                assert!(!leaked, "{method} {path} {body}: {text}");
            }
        })
    });
    for done in futures::future::join_all(traffic).await {
        done.unwrap();
    }
    // A removed workspace is gone, and the other one is unaffected.
    let removed = world.request(Method::DELETE, "/api/v1/workspaces/left").bearer_auth(&ops);
    assert_eq!(removed.send().await.unwrap().status(), 204);
    let left = world.request(Method::GET, "/api/v1/documents").bearer_auth(&tenants[0].key);
    assert_eq!(left.send().await.unwrap().status(), 401, "its keys are revoked with it");
    let right = world.request(Method::GET, "/api/v1/documents").bearer_auth(&tenants[1].key);
    assert_eq!(right.send().await.unwrap().status(), 200);
    assert!(!world.dir.path().join("workspaces/left").exists());
}
