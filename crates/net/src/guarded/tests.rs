//! Against a server on loopback, which the tests reach by names that only they can resolve.
use std::collections::HashMap;
use std::net::IpAddr;

use async_trait::async_trait;
use halma_testkit::web::{EngineFailure, WebDouble};
use parking_lot::Mutex;

use super::*;

/// Names of hosts as the tests want them resolved; requested names are recorded.
#[derive(Default)]
pub(super) struct Names {
    hosts: HashMap<&'static str, Vec<IpAddr>>,
    pub(super) lookups: Mutex<Vec<String>>,
}

impl Names {
    pub(super) fn new(hosts: &[(&'static str, &[&str])]) -> Arc<Self> {
        let addresses = |list: &[&str]| list.iter().map(|a| a.parse().unwrap()).collect();
        let hosts = hosts.iter().map(|(name, list)| (*name, addresses(list))).collect();
        Arc::new(Self { hosts, lookups: Mutex::default() })
    }
}

#[async_trait]
impl Lookup for Names {
    async fn lookup(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        self.lookups.lock().push(host.to_owned());
        self.hosts.get(host).cloned().ok_or_else(|| std::io::Error::other("no such host"))
    }
}

const MAX_BYTES: usize = 1 << 20;

fn bounds(named: &[&str]) -> Bounds {
    let named = named.iter().map(|&host| host.to_owned()).collect();
    Bounds { named, timeout: Duration::from_secs(5), max_bytes: MAX_BYTES }
}

/// `page.test` may be reached, `other.test` may as well; the rest is what attackers register.
fn names() -> Arc<Names> {
    Names::new(&[
        ("page.test", &["127.0.0.1"]),
        ("other.test", &["127.0.0.1"]),
        ("inner.test", &["127.0.0.1"]),
        ("metadata.test", &["169.254.169.254"]),
        ("lan.test", &["192.168.0.10"]),
        ("six.test", &["::1"]),
        ("unique.test", &["fd00::1"]),
        ("mapped.test", &["::ffff:10.0.0.1"]),
        ("mixed.test", &["93.184.216.34", "10.0.0.1"]),
        ("localhost", &["127.0.0.1", "::1"]),
    ])
}

fn outside(names: &Arc<Names>) -> GuardedClient {
    let lookup: Arc<dyn Lookup> = Arc::<Names>::clone(names);
    GuardedClient::resolving(bounds(&["page.test", "other.test"]), lookup).unwrap()
}

async fn get(outside: &GuardedClient, url: &str, follow: Follow) -> Result<Reply, FetchError> {
    outside.send(Request::get(Url::parse(url).unwrap(), follow)).await
}

/// Addresses that no request of ours may reach, with what the error names.
const FORBIDDEN: &[(&str, &str)] = &[
    ("http://127.0.0.1:PORT/", "loopback"),
    ("http://127.1:PORT/", "loopback"),
    ("http://2130706433:PORT/", "loopback"),
    ("http://0x7f000001:PORT/", "loopback"),
    ("http://0177.0.0.1:PORT/", "loopback"),
    ("http://0x7f.0.0x0.1:PORT/", "loopback"),
    ("http://%31%32%37.0.0.1:PORT/", "loopback"),
    ("http://１２７.0.0.1:PORT/", "loopback"),
    ("http://0:PORT/", "this network"),
    ("http://[::1]:PORT/", "loopback"),
    ("http://[::]:PORT/", "this network"),
    ("http://[::ffff:127.0.0.1]:PORT/", "loopback"),
    ("http://[::ffff:7f00:1]:PORT/", "loopback"),
    ("http://[64:ff9b::7f00:1]:PORT/", "loopback"),
    ("http://[fe80::1]:PORT/", "link-local"),
    ("http://169.254.169.254/latest/meta-data/", "link-local"),
    ("http://10.0.0.1/", "private"),
    ("http://100.64.1.1/", "provider"),
    ("http://172.16.5.4/", "private"),
    ("http://192.168.1.1/", "private"),
    ("http://198.51.100.1/", "documentation"),
    ("http://224.0.0.251/", "multicast"),
    ("http://[fd12::1]/", "unique-local"),
    ("http://inner.test:PORT/", "loopback"),
    ("http://INNER.test:PORT/", "loopback"),
    ("http://metadata.test/", "link-local"),
    ("http://lan.test/", "private"),
    ("http://six.test:PORT/", "loopback"),
    ("http://unique.test/", "unique-local"),
    ("http://mapped.test/", "private"),
    ("http://mixed.test/", "private"),
    ("http://localhost:PORT/", "loopback"),
    ("http://me:secret@page.test:PORT/", "user name"),
    ("http://page.test:secret@127.0.0.1:PORT/", "user name"),
    ("ftp://page.test/", "http and https"),
    ("file:///etc/passwd", "http and https"),
    ("gopher://page.test/", "http and https"),
];

#[tokio::test]
async fn nothing_inside_is_reached_by_any_notation() {
    let double = WebDouble::start();
    let names = names();
    for (url, words) in FORBIDDEN {
        let url = url.replace("PORT", &double.port().to_string());
        let error = get(&outside(&names), &url, Follow::Anywhere).await.unwrap_err();
        assert!(matches!(error, FetchError::Refused { .. }) && !error.passes(), "{url}: {error}");
        let told = error.to_string();
        assert!(told.contains(words) && !told.contains("secret"), "{url}: {told}");
    }
    assert!(double.requests().is_empty());
}

#[tokio::test]
async fn no_redirect_leads_inside() {
    let double = WebDouble::start();
    let names = names();
    let start = format!("http://page.test:{}/", double.port());
    for (url, words) in FORBIDDEN {
        let url = url.replace("PORT", &double.port().to_string());
        for status in [301, 302, 303, 307, 308] {
            // A header is bytes; other than ASCII is written as browsers write it.
            let to = Url::parse(&url).unwrap().to_string();
            double.trouble([EngineFailure::Redirect(status, to)]);
            let error = get(&outside(&names), &start, Follow::Anywhere).await.unwrap_err();
            let told = error.to_string();
            assert!(told.contains(words) && !told.contains("secret"), "{url}: {told}");
        }
    }
    assert!(double.requests().iter().all(|request| request.headers["host"].starts_with("page")));
}

#[tokio::test]
async fn a_host_that_is_named_is_reached_wherever_it_is() {
    let double = WebDouble::start();
    double.page("/a", "text/plain", "here");
    let names = names();
    for host in ["page.test", "PAGE.test", "other.test"] {
        let url = format!("http://{host}:{}/a", double.port());
        let reply = get(&outside(&names), &url, Follow::No).await.unwrap();
        assert_eq!((reply.status.as_u16(), reply.bytes.as_slice()), (200, b"here".as_slice()));
        assert_eq!(reply.kind(), "text/plain");
    }
    // Each is resolved once: the address that was looked at is the one that is connected to.
    assert_eq!(names.lookups.lock().len(), 3);
    let lookup: Arc<dyn Lookup> = Arc::<Names>::clone(&names);
    let literal = GuardedClient::resolving(bounds(&["127.0.0.1", "[::1]"]), lookup).unwrap();
    assert!(get(&literal, &format!("{}/a", double.url()), Follow::No).await.is_ok());
    let unknown = get(&outside(&names), "http://nowhere.test/", Follow::No).await.unwrap_err();
    assert!(unknown.passes() && unknown.to_string().contains("no such host"), "{unknown}");
}

#[tokio::test]
async fn redirects_are_followed_as_far_as_they_are_meant_to_be() {
    let double = WebDouble::start();
    double.page("/a", "text/plain", "here");
    let names = names();
    let outside = outside(&names);
    let at = |host: &str, path: &str| format!("http://{host}.test:{}{path}", double.port());
    let to = |status, host: &str, path: &str| EngineFailure::Redirect(status, at(host, path));

    double.trouble([to(302, "page", "/a")]);
    let reply = get(&outside, &at("page", "/"), Follow::No).await.unwrap();
    assert_eq!(reply.leads_to().unwrap().as_str(), at("page", "/a"));

    double.trouble([EngineFailure::Redirect(301, "/a?b=c".into())]);
    let reply = get(&outside, &at("page", "/"), Follow::SameOrigin).await.unwrap();
    assert_eq!((reply.status.as_u16(), reply.url.as_str()), (200, at("page", "/a?b=c").as_str()));

    let mut request = Request::get(Url::parse(&at("page", "/")).unwrap(), Follow::SameOrigin);
    request.headers.insert("x-key", HeaderValue::from_static("k"));
    double.trouble([to(307, "other", "/a")]);
    assert_eq!(outside.send(request).await.unwrap().status.as_u16(), 307);

    let mut request = Request::get(Url::parse(&at("page", "/")).unwrap(), Follow::Anywhere);
    request.headers.insert("x-key", HeaderValue::from_static("k"));
    double.trouble([to(307, "other", "/a")]);
    assert_eq!(outside.send(request).await.unwrap().status.as_u16(), 200);
    let requests = double.requests();
    let with_key = requests.iter().filter(|request| request.headers.contains_key("x-key"));
    assert!(with_key.clone().all(|request| request.headers["host"].starts_with("page")));
    assert_eq!(with_key.count(), 2);

    // What is posted stays a post, or is not sent on.
    for (status, followed) in [(302, 302), (307, 404)] {
        let url = Url::parse(&at("page", "/")).unwrap();
        let request = Request::get(url, Follow::SameOrigin);
        let request = Request { method: Method::POST, body: b"{}".to_vec(), ..request };
        double.trouble([to(status, "page", "/gone")]);
        assert_eq!(outside.send(request).await.unwrap().status.as_u16(), followed);
    }

    double.trouble((0..=REDIRECTS).map(|_| to(302, "page", "/a")));
    let error = get(&outside, &at("page", "/"), Follow::Anywhere).await.unwrap_err();
    assert!(error.to_string().contains("more than 5 redirects"), "{error}");
}

#[tokio::test]
async fn a_body_is_read_no_further_than_its_bounds() {
    let double = WebDouble::start();
    double.page("/large", "text/plain", "x".repeat(MAX_BYTES + 1));
    double.page("/whole", "text/plain", "x".repeat(MAX_BYTES));
    let names = names();
    let outside = outside(&names);
    let at = |path: &str| format!("http://page.test:{}{path}", double.port());
    assert_eq!(get(&outside, &at("/whole"), Follow::No).await.unwrap().bytes.len(), MAX_BYTES);
    // The second comes as a few bytes of gzip.
    for trouble in [Some(EngineFailure::Endless), Some(EngineFailure::Bomb), None] {
        double.trouble(trouble.clone());
        let error = get(&outside, &at("/large"), Follow::No).await.unwrap_err();
        let large = matches!(error, FetchError::TooLarge { .. });
        assert!(large && !error.passes(), "{trouble:?}: {error}");
    }
    double.trouble([EngineFailure::Brotli]);
    let error = get(&outside, &at("/"), Follow::No).await.unwrap_err();
    assert!(error.to_string().contains("packed as br"), "{error}");
    double.trouble([EngineFailure::Cut]);
    let error = get(&outside, &at("/"), Follow::No).await.unwrap_err();
    assert!(matches!(error, FetchError::Broken { .. }) && error.passes(), "{error}");
}

#[tokio::test]
async fn a_server_that_takes_its_time_is_left() {
    let double = WebDouble::start();
    let lookup: Arc<dyn Lookup> = names();
    let timeout = Duration::from_millis(150);
    let hasty = Bounds { timeout, ..bounds(&["page.test"]) };
    let hasty = GuardedClient::resolving(hasty, lookup).unwrap();
    let url = format!("http://page.test:{}/?q=secret", double.port());
    for trouble in [EngineFailure::Late(Duration::from_mins(1)), EngineFailure::Drip] {
        double.trouble([trouble]);
        let error = get(&hasty, &url, Follow::No).await.unwrap_err();
        assert!(matches!(error, FetchError::Late { .. }) && error.passes(), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
