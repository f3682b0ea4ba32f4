//! Malicious requests.
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use halma_server::Scope;
use reqwest::Method;

use crate::documents::is_closed;
use crate::world::{Setup, World, config, question};

fn raw(world: &World, sent: &[u8]) -> std::net::TcpStream {
    let mut stream = std::net::TcpStream::connect(world.url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The server may close the connection early.
    let _ = stream.write_all(sent);
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_hosts_and_pages_of_other_sites_are_refused() {
    let mut config = config();
    config.serve.hosts = vec!["halma.example".into()];
    let world = World::with(Setup { config, library: true }).await;
    for (host, status) in [("evil.example", 421), ("halma.example", 200), ("LOCALHOST:1", 200)] {
        let got = world.request(Method::GET, "/api/v1/me").header("host", host);
        assert_eq!(got.send().await.unwrap().status(), status, "{host}");
    }
    let same_origin = world.url.clone();
    let origins = [("http://evil.example", 403), ("null", 403), (same_origin.as_str(), 200)];
    for (origin, status) in origins {
        let ask = world.request(Method::POST, "/api/v1/ask").header("origin", origin);
        let response = ask.json(&question()).send().await.unwrap();
        assert_eq!(response.status(), status, "{origin}");
        assert!(response.headers().get("access-control-allow-origin").is_none());
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn probes_and_monitoring_may_name_any_host() {
    let mut config = config();
    config.serve.hosts = vec!["halma.example".into()];
    let world = World::with(Setup { config, library: true }).await;
    let status = async |path: &str, key: &str| {
        let request = world.request(Method::GET, path).header("host", "10.42.0.7:8765");
        let request = if key.is_empty() { request } else { request.bearer_auth(key) };
        request.send().await.unwrap().status().as_u16()
    };
    for (path, expected) in [
        ("/api/v1/health", 200),
        ("/api/v1/ready", 200),
        // Without keys a page of another site could read the metrics.
        ("/metrics", 421),
        ("/api/v1/me", 421),
        ("/", 421),
    ] {
        assert_eq!(status(path, "").await, expected, "{path}");
    }
    let post = world.request(Method::POST, "/api/v1/health").header("host", "10.42.0.7:8765");
    assert_eq!(post.send().await.unwrap().status(), 421);
    let key = world.key(&[Scope::Metrics], "default");
    assert_eq!(status("/metrics", &key).await, 200);
    assert_eq!(status("/metrics", "").await, 401);
    assert_eq!(status("/api/v1/me", &key).await, 421);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn configured_origins_are_allowed() {
    let mut config = config();
    config.serve.cors_origins = vec!["https://chat.example".into()];
    let world = World::with(Setup { config, library: true }).await;
    let ask = world.request(Method::POST, "/api/v1/ask").header("origin", "https://chat.example");
    let response = ask.json(&question()).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["access-control-allow-origin"], "https://chat.example");
    let before = world
        .request(Method::OPTIONS, "/api/v1/ask")
        .header("origin", "https://evil.example")
        .header("access-control-request-method", "POST");
    let before = before.send().await.unwrap();
    assert!(before.headers().get("access-control-allow-origin").is_none());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_response_has_security_headers() {
    let world = World::start().await;
    for path in ["/", "/api/v1/health", "/api/v1/nothing", "/api/docs", "/v1/models"] {
        let headers = world.get(path).await.headers().clone();
        let policy = headers["content-security-policy"].to_str().unwrap();
        for rule in ["default-src 'self'", "object-src 'none'", "frame-ancestors 'none'"] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}");
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
        assert!(headers.contains_key("x-request-id"), "{path}");
        assert!(!headers.contains_key("set-cookie"), "{path}");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn huge_or_slow_headers_do_not_block_the_server() {
    let mut config = config();
    config.serve.header_seconds = 0.5;
    let world = World::with(Setup { config, library: true }).await;
    let huge = format!(
        "GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n",
        "y".repeat(200_000)
    );
    let many = (0..500).map(|n| format!("x{n}: y\r\n")).collect::<Vec<_>>().concat();
    let many = format!("GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\n{many}\r\n");
    for sent in [huge, many] {
        let mut stream = raw(&world, sent.as_bytes());
        let mut answer = vec![];
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let started = Instant::now();
    let mut slow: Vec<_> =
        (0..50).map(|_| raw(&world, b"GET /api/v1/health HTTP/1.1\r\nhost: lo")).collect();
    // Other clients are served meanwhile.
    assert!(world.get("/api/v1/health").await.status().is_success());
    let closed = tokio::task::spawn_blocking(move || slow.iter_mut().all(is_closed));
    assert!(closed.await.unwrap());
    assert!(started.elapsed() < Duration::from_secs(15));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_sends_too_many_requests_has_to_wait() {
    let mut config = config();
    config.serve.requests_per_minute = 3;
    let world = World::with(Setup { config, library: false }).await;
    let key = world.key(&[halma_server::Scope::Ask], "default");
    let mut statuses = vec![];
    for _ in 0..5 {
        let me = world.request(Method::GET, "/api/v1/me").bearer_auth(&key).send().await.unwrap();
        if me.status() == 429 {
            assert!(me.headers().contains_key("retry-after"));
        }
        statuses.push(me.status().as_u16());
    }
    assert_eq!(statuses, [200, 200, 200, 429, 429]);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_address_requires_keys() {
    use std::collections::BTreeMap;

    use halma_engine::{Engine, Loaded};
    use halma_server::{ServeOptions, Server, ServerLock};

    let mut config = config();
    config.serve.addr = "0.0.0.0:0".into();
    for (keys, insecure, bound) in [(false, false, false), (false, true, true), (true, false, true)]
    {
        let dir = tempfile::tempdir().unwrap();
        if keys {
            crate::world::key(dir.path(), &[halma_server::Scope::Ask], "default");
        }
        let engine = Engine::create_or_open(config.clone(), dir.path()).unwrap();
        let loaded = Loaded { config: config.clone(), origins: BTreeMap::new(), file: None };
        let options =
            ServeOptions { loaded, engine, dir: dir.path().to_owned(), demo: None, insecure };
        let lock = ServerLock::take(dir.path()).unwrap();
        let got = Server::bind(options, lock).await;
        assert_eq!(got.is_ok(), bound, "{keys} {insecure}");
        if let Err(e) = got {
            assert!(e.to_string().contains("no API keys"), "{e}");
        }
    }
}
