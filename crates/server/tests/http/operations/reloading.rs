//! A server whose configuration is read again while it runs.
use std::collections::BTreeMap;

use halma_engine::{Config, Loaded, ModelConfig};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Setup, World, config, good};

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
