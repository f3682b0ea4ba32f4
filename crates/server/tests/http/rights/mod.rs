//! Two teams within one workspace: a key that sees the documents of one gets no word of the other's,
//! by whatever route, strategy, mode or protocol.
mod teams;
mod timeline;

use std::collections::BTreeSet;

use halma_core::{Layer, Mode};
use halma_engine::BaseState;
use halma_server::Scope;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use self::teams::{Teams, form, key, only};
use crate::world::{Setup, World, config, good};

/// Words that only documents of team b hold: in texts, names, titles, headings, tables and originals.
const SECRETS: [&str; 4] = ["zephrane", "quillon", "obsidian", "velvetine"];

fn leak(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    SECRETS.into_iter().find(|secret| text.contains(secret))
}

async fn read(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let head = format!("{:?}", response.headers());
    let body = response.bytes().await.unwrap();
    (status, format!("{head}\n{}", String::from_utf8_lossy(&body)))
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "one table of what is asked")]
async fn a_key_of_one_team_gets_no_word_of_another() {
    let teams = Teams::start().await;
    // Team b leaves traces of its own questions.
    let question = json!({"question": "Who leads Project Zephrane?", "strategy": "naive"});
    let answered = good(teams.post(&teams.b, "/api/v1/ask", &question).await).await;
    assert!(leak(&answered.to_string()).is_some(), "{answered}");
    let trace = answered["id"].as_str().unwrap().to_owned();
    let stored = BaseState::of_folder(teams.world.dir.path()).entries("trace");
    crate::world::until("the trace", || stored.get(&trace).unwrap().is_some()).await;
    let mut ids = teams.every_id(&teams.admin).await;
    ids.insert(trace);
    let visible = teams.every_id(&teams.a).await;
    assert!(visible.len() > 8 && !ids.is_subset(&visible), "{visible:?}");
    ids.extend(visible);
    let mut requests: Vec<(Method, String, Option<Value>)> = vec![];
    for id in ids.iter().map(String::as_str).chain(["orrin.md", "towers.csv"]) {
        for path in [
            format!("/api/v1/documents/{id}"),
            format!("/api/v1/documents/{id}/text"),
            format!("/api/v1/documents/{id}/file"),
            format!("/api/v1/nodes/{id}"),
            format!("/api/v1/nodes/{id}/neighbours?limit=500"),
            format!("/api/v1/traces/{id}"),
            format!("/api/v1/builds/{id}"),
            format!("/api/v1/builds/{id}/events"),
        ] {
            requests.push((Method::GET, path, None));
        }
        for layer in Layer::ALL {
            let path = format!("/api/v1/documents/{id}/nodes?layer={}", layer.name());
            requests.push((Method::GET, path, None));
        }
    }
    let description = teams.get(&teams.admin, "/api/v1/openapi.json").await.text().await.unwrap();
    let description: Value = serde_json::from_str(&description).unwrap();
    for (path, methods) in description["paths"].as_object().unwrap() {
        if methods.get("get").is_some() && !path.contains('{') {
            requests.push((Method::GET, path.clone(), None));
        }
    }
    for name in ["Orrin Light", "Ada Tarrant", "Velby", "Varn", "Orrin", "History"] {
        let path = format!("/api/v1/entities/timeline?limit=500&name={name}");
        requests.push((Method::GET, path.clone(), None));
        requests.push((Method::GET, format!("{path}&document=*"), None));
    }
    for path in ["/api/v1/documents?state=indexed", "/api/v1/usage?by=key", "/api/v1/tables/towers"]
    {
        requests.push((Method::GET, path.into(), None));
    }
    let texts = [
        "Who bought Orrin Light, and who met Ada Tarrant in Velby?",
        "When was Orrin Light first lit?",
        "Which tower has the greatest height?",
    ];
    for layer in Layer::ALL {
        for mode in Mode::ALL {
            for text in texts {
                let search = json!({"text": text, "layer": layer, "mode": mode, "limit": 500});
                requests.push((Method::POST, "/api/v1/search".into(), Some(search)));
                let filter = json!({"metadata": {"team": ["a", "b"]}, "documents": ["*"]});
                let search = json!({"text": text, "layer": layer, "mode": mode, "filter": filter});
                requests.push((Method::POST, "/api/v1/search".into(), Some(search)));
            }
        }
    }
    for strategy in halma_engine::strategies() {
        for text in texts {
            let ask =
                json!({"question": text, "strategy": strategy.name, "stream": text == texts[0]});
            requests.push((Method::POST, "/api/v1/ask".into(), Some(ask)));
            let messages = json!([{"role": "user", "content": text}]);
            let model = format!("halma-{}", strategy.name);
            let filter = json!({"metadata": {"team": "b"}});
            let chat = json!({"model": model, "messages": messages});
            requests.push((Method::POST, "/v1/chat/completions".into(), Some(chat)));
            let chat = json!({"model": model, "messages": messages, "filter": filter});
            requests.push((Method::POST, "/v1/chat/completions".into(), Some(chat)));
        }
    }
    for sql in [
        "SELECT * FROM tables",
        "SELECT * FROM towers",
        "SELECT * FROM tower_height",
        "SELECT max(height) FROM towers",
        "SELECT * FROM unheard_of",
    ] {
        requests.push((Method::POST, "/api/v1/sql".into(), Some(json!({"sql": sql}))));
    }
    let tool = |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        Some(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
    };
    for id in &ids {
        for (name, key) in [("read_document", "document"), ("explain_answer", "id")] {
            let mut arguments = json!({});
            arguments[key] = json!(id);
            requests.push((Method::POST, "/mcp".into(), tool(name, arguments)));
        }
    }
    let arguments = json!({"question": texts[0]});
    requests.push((Method::POST, "/mcp".into(), tool("ask", arguments)));
    requests.push((Method::POST, "/mcp".into(), tool("list_documents", json!({}))));
    let arguments = json!({"entity": "Orrin Light", "filter": {"metadata": {"team": "b"}}});
    requests.push((Method::POST, "/mcp".into(), tool("entity_timeline", arguments)));
    let arguments = json!({"query": texts[0], "filter": {"metadata": {"team": "b"}}});
    requests.push((Method::POST, "/mcp".into(), tool("search", arguments)));
    for expression in [".", "[a-z]+", "(?i)the", "Light"] {
        let arguments = json!({"expression": expression, "limit": 50});
        requests.push((Method::POST, "/mcp".into(), tool("grep", arguments)));
    }
    requests.push((Method::POST, "/api/v1/builds/estimate".into(), Some(json!({}))));
    let (mut good_ones, mut answers) = (0, 0);
    for (method, path, body) in &requests {
        let sent = format!("{path} {}", body.clone().unwrap_or_default());
        assert_eq!(leak(&sent), None, "the test gives a secret away itself: {sent}");
        let response = teams.send(&teams.a, method.clone(), path, body.as_ref()).await;
        let (status, text) = read(response).await;
        assert!(status < 500 || status == 502, "{method} {sent}: {text}");
        assert_eq!(leak(&text), None, "{method} {sent}: {text}");
        good_ones += usize::from(status == 200);
        answers += usize::from(text.contains("orrin.md"));
    }
    // The requests do reach what they may.
    assert!(good_ones > 300 && answers > 50, "{good_ones} {answers} of {}", requests.len());
    // What a wrote while it asked is its own as well.
    let (_, traces) = read(teams.get(&teams.a, "/api/v1/traces?limit=500").await).await;
    assert!(leak(&traces).is_none() && traces.contains("first lit"));
    let (_, all) = read(teams.get(&teams.admin, "/api/v1/traces?limit=500").await).await;
    assert!(leak(&all).is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_writes_nothing_outside_of_its_fields() {
    let teams = Teams::start().await;
    // Fields are added, kept within the conditions, and refused otherwise.
    let text = "# Skell\n\nSkell Light was first lit in 1890.\n";
    let fields = [("metadata", r#"{"year": 1890}"#)];
    let uploaded = teams.upload(&teams.a, &fields, &[("skell.md", text)]).await;
    assert_eq!(uploaded["refused"], json!([]));
    let foreign = [("metadata", r#"{"team": "b"}"#)];
    for (fields, name) in [
        (&foreign[..], "outside.md"),
        (&[][..], "zephrane.md"),
        (&[][..], "records.jsonl"),
        (&[][..], "skell.md.meta.json"),
    ] {
        let uploaded = teams.upload(&teams.a, fields, &[(name, text)]).await;
        assert_eq!(uploaded["accepted"], json!([]), "{name}");
    }
    teams.build(&teams.a).await;
    let shown = good(teams.get(&teams.a, "/api/v1/documents/skell.md").await).await;
    assert_eq!(shown["metadata"], json!({"team": "a", "year": 1890}));
    let path = "/api/v1/documents/skell.md/metadata";
    let put = |key: String, path: &'static str, body: Value| {
        let teams = &teams;
        async move { teams.send(&key, Method::PUT, path, Some(&body)).await.status().as_u16() }
    };
    assert_eq!(put(teams.a.clone(), path, json!({"team": "b"})).await, 403);
    assert_eq!(put(teams.a.clone(), path, json!({})).await, 403);
    assert_eq!(put(teams.b.clone(), path, json!({"team": "b"})).await, 404);
    assert_eq!(put(teams.a.clone(), path, json!({"team": "a", "x": [[1]]})).await, 422);
    let other = "/api/v1/documents/zephrane.md/metadata";
    assert_eq!(put(teams.a.clone(), other, json!({"team": "a"})).await, 404);
    // Deletions and stopping the builds of others are refused, too.
    let delete = teams.send(&teams.a, Method::DELETE, "/api/v1/documents/zephrane.md", None).await;
    assert_eq!(delete.status(), 404);
    let builds = good(teams.get(&teams.admin, "/api/v1/builds").await).await;
    let id = builds["items"][0]["id"].as_str().unwrap();
    let cancel = teams.post(&teams.a, &format!("/api/v1/builds/{id}/cancel"), &json!({})).await;
    assert_eq!(cancel.status(), 403);
    for path in ["/api/v1/prompts", "/api/v1/config", "/api/v1/keys", "/api/v1/workspaces"] {
        assert_eq!(teams.get(&teams.a, path).await.status(), 403, "{path}");
    }
    // An admin moves a document from one team to the other; it is not indexed again.
    assert_eq!(put(teams.admin.clone(), path, json!({"team": "b"})).await, 200);
    let search = json!({"text": "When was Skell Light first lit?"});
    for (key, is_visible) in [(&teams.a, false), (&teams.b, true)] {
        let hits = good(teams.post(key, "/api/v1/search", &search).await).await;
        assert_eq!(hits.to_string().contains("1890"), is_visible, "{hits}");
        let file = teams.get(key, "/api/v1/documents/skell.md/file").await;
        assert_eq!(file.status() == 200, is_visible);
    }
    let removed = teams.send(&teams.b, Method::DELETE, "/api/v1/documents/skell.md", None).await;
    assert_eq!(removed.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_for_some_documents_makes_no_part_of_the_base_again() {
    let teams = Teams::start().await;
    for path in ["/api/v1/builds", "/api/v1/builds/estimate"] {
        let rebuild = async |key: &str, parts: Value| {
            teams.post(key, path, &json!({"rebuild": parts})).await.status().as_u16()
        };
        assert_eq!(rebuild(&teams.a, json!(["atoms"])).await, 403);
        assert!((200..203).contains(&rebuild(&teams.a, json!([])).await));
        assert!((200..203).contains(&rebuild(&teams.admin, json!(["atoms"])).await));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_and_searches_are_filtered_by_fields() {
    let teams = Teams::start().await;
    let ask = |filter: Value| {
        let body = json!({"question": "Who met Ada Tarrant in Velby?", "strategy": "naive",
            "filter": filter});
        let teams = &teams;
        async move { teams.post(&teams.admin, "/api/v1/ask", &body).await }
    };
    let cited = |answer: &Value| -> BTreeSet<String> {
        let cited = answer["answer"]["citations"].as_array().unwrap().iter();
        cited.map(|citation| citation["document"].as_str().unwrap().to_owned()).collect()
    };
    let of_b = good(ask(json!({"metadata": {"team": "b"}})).await).await;
    assert_eq!(cited(&of_b), BTreeSet::from(["zephrane.md".to_owned()]), "{of_b}");
    let of_a = good(ask(json!({"metadata": {"team": {"gte": "2020"}}})).await).await;
    assert_eq!(cited(&of_a), BTreeSet::new(), "{of_a}");
    for wrong in [
        json!({"sections": ["History"]}),
        json!({"metadata": {"a b": 1}}),
        json!({"metadata": {"a": {"gte": "x"}}}),
        json!({"metadata": {"a": {"like": "x"}}}),
    ] {
        assert_eq!(ask(wrong.clone()).await.status(), 422, "{wrong}");
    }
    let search = json!({"text": "Velby", "filter": {"metadata": {"team": "b"}}});
    let hits = good(teams.post(&teams.admin, "/api/v1/search", &search).await).await;
    let hits = hits["hits"].as_array().unwrap();
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit["document"] == "zephrane.md"));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_a_key_does_not_see_count_towards_the_limit() {
    let mut config = config();
    config.serve.max_workspace_files = 2;
    let world = World::with(Setup { config, library: false }).await;
    let admin = key(&world, None, &Scope::ALL);
    let restricted = key(&world, Some(only("a")), &[Scope::Ask, Scope::Write]);
    let status = async |key: &str, name: &str| {
        let (kind, body) = form(&[], &[(name, "# Note\n\nA note.\n")]);
        let request = world.request(Method::POST, "/api/v1/documents").bearer_auth(key);
        let sent = request.header("content-type", kind).body(body).send().await.unwrap();
        sent.status().as_u16()
    };
    assert_eq!(status(&admin, "one.md").await, 200);
    assert_eq!(status(&restricted, "two.md").await, 200);
    assert_eq!(status(&restricted, "three.md").await, 507);
    assert_eq!(status(&admin, "three.md").await, 507);
    world.stop().await;
}
