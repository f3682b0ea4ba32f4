//! Two teams within one workspace, each with a key for its own documents.
use std::collections::BTreeSet;
use std::fmt::Write as _;

use halma_core::{Layer, MetadataFilter};
use halma_server::{ApiKeys, NewKey, Scope};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::world::{Setup, World, config, good, new_key};

const OF_A: &[(&str, &str)] = &[
    (
        "orrin.md",
        "# Orrin Light\n\n## History\n\nOrrin Light is a lighthouse on Varn reef. Orrin Light was \
         first lit in 1871. Orrin Light was designed by Ada Tarrant in Velby.\n",
    ),
    ("towers.csv", "tower,height\nOrrin,41\nSkell,33\n"),
];

const OF_B: &[(&str, &str)] = &[
    (
        "zephrane.md",
        "# Project Zephrane\n\n## Obsidian plans\n\nQuillon Roe leads Project Zephrane on Varn reef. \
         Orrin Light was sold to Quillon Roe in 1902. Ada Tarrant met Quillon Roe in Velby.\n",
    ),
    ("velvetine.csv", "tower,height\nVelvetine,99\nQuillon,12\n"),
];

pub(crate) struct Teams {
    pub(crate) world: World,
    pub(crate) admin: String,
    pub(crate) a: String,
    pub(crate) b: String,
}

pub(crate) fn only(team: &str) -> MetadataFilter {
    let mut documents = MetadataFilter::default();
    documents.add(&format!("team={team}")).unwrap();
    documents
}

pub(crate) fn key(world: &World, documents: Option<MetadataFilter>, scopes: &[Scope]) -> String {
    let new = NewKey { documents, ..new_key(scopes, "default") };
    ApiKeys::for_base(world.dir.path()).create(new).unwrap().1
}

/// A form with fields before files, as the page sends it.
pub(crate) fn form(fields: &[(&str, &str)], files: &[(&str, &str)]) -> (String, Vec<u8>) {
    let mut body = String::new();
    for (name, value) in fields {
        let _ = write!(
            body,
            "--edge\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
    }
    for (name, text) in files {
        let _ = write!(
            body,
            "--edge\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n\
             {text}\r\n"
        );
    }
    body += "--edge--\r\n";
    ("multipart/form-data; boundary=edge".into(), body.into_bytes())
}

impl Teams {
    pub(crate) async fn send(
        &self,
        key: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Response {
        let accept =
            if path == "/mcp" { "application/json, text/event-stream" } else { "application/json" };
        let request = self
            .world
            .request(method, path)
            .bearer_auth(key)
            .header("accept", accept)
            .header("mcp-protocol-version", "2025-06-18");
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        request.send().await.unwrap()
    }

    pub(crate) async fn get(&self, key: &str, path: &str) -> Response {
        self.send(key, Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, key: &str, path: &str, body: &Value) -> Response {
        self.send(key, Method::POST, path, Some(body)).await
    }

    pub(crate) async fn upload(
        &self,
        key: &str,
        fields: &[(&str, &str)],
        files: &[(&str, &str)],
    ) -> Value {
        let (kind, body) = form(fields, files);
        let request = self.world.request(Method::POST, "/api/v1/documents").bearer_auth(key);
        good(request.header("content-type", kind).body(body).send().await.unwrap()).await
    }

    pub(crate) async fn build(&self, key: &str) -> String {
        let build = good(self.post(key, "/api/v1/builds", &json!({})).await).await;
        let id = build["id"].as_str().unwrap().to_owned();
        for _ in 0..800 {
            let status = good(self.get(key, &format!("/api/v1/builds/{id}")).await).await;
            if status["state"] != "running" {
                assert_eq!(status["state"], "done", "{status}");
                return id;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        panic!("the build does not end");
    }

    /// Two keys, whose documents are uploaded and built by themselves.
    pub(crate) async fn start() -> Self {
        let mut config = config();
        config.kb.atoms = halma_engine::Atoms::Sentences;
        config.serve.requests_per_minute = 1_000_000;
        config.serve.shared_runs = true;
        let world = World::with(Setup { config, library: false }).await;
        let both = [Scope::Ask, Scope::Write];
        let admin = key(&world, None, &Scope::ALL);
        let (a, b) = (key(&world, Some(only("a")), &both), key(&world, Some(only("b")), &both));
        let teams = Self { world, admin, a, b };
        for (key, files) in [(&teams.a, OF_A), (&teams.b, OF_B)] {
            let uploaded = teams.upload(key, &[], files).await;
            assert_eq!(uploaded["accepted"].as_array().unwrap().len(), 2, "{uploaded}");
            teams.build(key).await;
        }
        teams
    }

    /// Ids of everything there is: nodes of all layers, traces, builds.
    pub(crate) async fn every_id(&self, key: &str) -> BTreeSet<String> {
        let mut ids = BTreeSet::new();
        let ids_in = |list: &Value| -> Vec<String> {
            let items = list["items"].as_array().or(list["hits"].as_array()).unwrap();
            items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
        };
        for path in ["/api/v1/documents", "/api/v1/traces", "/api/v1/builds"] {
            ids.extend(ids_in(&good(self.get(key, path).await).await));
        }
        for layer in Layer::ALL {
            for text in ["Quillon Zephrane Obsidian Velvetine", "Orrin Light Varn Velby Tarrant"] {
                let body = json!({"text": text, "layer": layer, "limit": 500});
                ids.extend(ids_in(&good(self.post(key, "/api/v1/search", &body).await).await));
            }
        }
        ids
    }
}
