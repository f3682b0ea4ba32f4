//! A server whose configuration is read again while it runs.
use std::collections::BTreeMap;

use halma_engine::{Config, Loaded, ModelConfig};
use halma_testkit::double::{Behaviour, Double};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Setup, World, config, good};

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_tried_and_connected_over_http() {
    let double = Double::start(Behaviour::default());
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("halma.toml");
    std::fs::write(&file, "# mine\n[roles]\n\n[kb]\n").unwrap();
    let world = World::with(Setup { config: config(), library: false }).await;
    let (config, origins) = (config(), BTreeMap::new());
    let loaded = Loaded { config, origins, file: Some(file.clone()) };
    world.reloader.reload(loaded).await.unwrap();
    let post = async |path: &str, body: &Value| {
        world.request(Method::POST, path).json(body).send().await.unwrap()
    };
    let address = json!({"url": double.url(), "model": "double"});
    let trial = good(post("/api/v1/models/trial", &address).await).await;
    assert_eq!(trial["efforts"][3]["effort"], "exhaustive", "{trial}");
    let mut wanted = json!({"name": "small", "reader_only": true, "address": address});
    good(post("/api/v1/models", &wanted).await).await;
    let models = world.get_json("/api/v1/models").await;
    let roles = [&models["roles"]["reader"], &models["roles"]["proposer"]];
    assert_eq!(
        (&models["models"][0]["name"], roles),
        (&json!("small"), [&json!("small"), &json!("extractive")])
    );
    let text = std::fs::read_to_string(&file).unwrap();
    let read: Config = toml::from_str(&text).unwrap();
    assert!(text.starts_with("# mine") && read.models.contains_key("small"), "{text}");
    // Twice, without a model, and with names that are none.
    assert_eq!(post("/api/v1/models", &wanted).await.status(), 422);
    for name in ["", "a b", "extractive", "x\n[serve]"] {
        wanted["name"] = name.into();
        assert_eq!(post("/api/v1/models", &wanted).await.status(), 422, "{name}");
    }
    assert_eq!(post("/api/v1/models/trial", &json!({"url": "", "model": ""})).await.status(), 422);
    let secret = json!({"url": double.url(), "model": "double", "key_env": "PATH"});
    assert_eq!(post("/api/v1/models/trial", &secret).await.status(), 422);
    let gone = json!({"url": "http://127.0.0.1:9/v1", "model": "m"});
    assert_eq!(post("/api/v1/models/trial", &gone).await.status(), 422);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_that_were_assigned_over_http_stay_when_the_configuration_is_read_again() {
    let model = |name: &str| -> ModelConfig {
        serde_json::from_value(json!({"url": "http://127.0.0.1:9/v1", "model": name})).unwrap()
    };
    let mut config = config();
    config.models.insert("a".into(), model("a"));
    config.models.insert("b".into(), model("b"));
    let world = World::with(Setup { config: config.clone(), library: false }).await;
    let roles =
        async |world: &World| -> Value { world.get_json("/api/v1/models").await["roles"].clone() };
    let assigned = json!({"roles": {"reader": "b", "proposer": "b"}});
    let put = world.request(Method::PUT, "/api/v1/models/roles").json(&assigned);
    good(put.send().await.unwrap()).await;
    // The file has another model for a third role, and one of the assigned ones is gone.
    config.models.insert("c".into(), model("c"));
    config.roles.insert("judge".into(), "c".into());
    let read = |config: &Config| Loaded {
        config: config.clone(),
        origins: BTreeMap::from([("roles.judge".to_owned(), "halma.toml:3".to_owned())]),
        file: None,
    };
    world.reloader.reload(read(&config)).await.unwrap();
    let shown = world.get_json("/api/v1/config").await.to_string();
    assert!(shown.contains("halma.toml:3"), "{shown}");
    let now = roles(&world).await;
    assert_eq!([&now["reader"], &now["proposer"]], ["b", "b"], "{now}");
    config.models.remove("b");
    world.reloader.reload(read(&config)).await.unwrap();
    assert_ne!(roles(&world).await["reader"], "b");
    world.stop().await;
}
