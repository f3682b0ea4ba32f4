//! The source against a search engine and pages on loopback.
mod names;
mod pages;

use std::time::Duration;

use halma_testkit::web::{EngineFailure, Given, Shape, WebDouble};
use serde_json::json;
use time::Month;

use super::open::resolving;
use super::*;
use halma_net::guarded::Lookup;
use names::Names;

const QUERY: &str = "Who opened the harbour bridge?";

const ALL: [(WebKind, Shape); 4] = [
    (WebKind::SerpApi, Shape::SerpApi),
    (WebKind::Brave, Shape::Brave),
    (WebKind::Tavily, Shape::Tavily),
    (WebKind::SearXng, Shape::SearXng),
];

/// A double that knows of a bridge, and a folder to keep searches in.
struct World {
    double: WebDouble,
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let double = WebDouble::start();
        let at = |host: &str, path: &str| format!("http://{host}.test:{}{path}", double.port());
        double.give(&Given {
            answer: Some(("Anna Reed opened the harbour bridge.".into(), String::new())),
            ..Given::results(&[
                ("The bridge", &at("page", "/bridge"), "The harbour bridge was opened."),
                ("The mayor", &at("page", "/mayor"), "Anna Reed was the mayor."),
                ("The inner", &at("inner", "/secret"), "The harbour bridge, from within."),
            ])
        });
        Self { double, folder: tempfile::tempdir().unwrap() }
    }

    fn settings(&self, kind: WebKind) -> WebSettings {
        let allow_private = vec!["page.test".to_owned(), "other.test".to_owned()];
        WebSettings { url: self.double.url(), allow_private, retries: 1, ..WebSettings::new(kind) }
    }

    fn open(&self, settings: &WebSettings, key: Option<&str>) -> Web {
        let local: &[&str] = &["127.0.0.1"];
        let names = Names::new(&[
            ("page.test", local),
            ("other.test", local),
            ("inner.test", local),
            ("metadata.test", &["169.254.169.254"]),
        ]);
        let lookup: Arc<dyn Lookup> = names;
        let folder = self.folder.path().join("web");
        let (key, contact) = (key.map(str::to_owned), "mail@a.example".to_owned());
        let access = WebAccess { key, contact, folder };
        let web = resolving(settings, access, Some(&lookup)).unwrap();
        Web { today: || day(5), ..web }
    }

    fn web(&self, kind: WebKind) -> Web {
        self.open(&self.settings(kind), None)
    }

    /// The paths that were asked for, but for searches.
    fn paths(&self) -> Vec<String> {
        let requests = self.double.requests().into_iter();
        let paths = requests.filter(|r| !r.path.contains("search")).map(|r| r.path);
        paths.collect()
    }
}

fn day(day: u8) -> Date {
    Date::from_calendar_date(2024, Month::May, day).unwrap()
}

#[tokio::test]
async fn every_engine_is_asked_in_its_own_way_with_its_key() {
    for (kind, _) in ALL {
        let world = World::new();
        world.double.want_key("k-1");
        let country = if kind == WebKind::Tavily { "united states" } else { "us" };
        let settings = WebSettings {
            language: "en".into(),
            country: country.into(),
            limit: 2,
            ..world.settings(kind)
        };
        let hits = world.open(&settings, Some("k-1")).search(QUERY, 9).await.unwrap();
        let titles: Vec<&str> = hits.iter().map(|hit| hit.title.as_str()).collect();
        let pages = ["The bridge", "The mayor"];
        // A question of others and a model's summary never stand before the pages.
        match kind {
            WebKind::Brave => assert_eq!(titles, [pages[0], pages[1], "Related question:"]),
            WebKind::Tavily => {
                assert_eq!(titles, [pages[0], pages[1], "Summary by the search engine"]);
            }
            _ => assert_eq!(titles, ["Answer box", pages[0], pages[1]]),
        }
        let answer = hits.iter().find(|hit| !pages.contains(&hit.title.as_str())).unwrap();
        assert!(answer.text.contains("Anna Reed") && answer.document.starts_with("http"));
        assert_eq!(hits[1].section.as_deref(), Some("web, seen 2024-05-05"));
        let request = &world.double.requests()[0];
        let parameters = |names: &[&str]| -> Vec<String> {
            names.iter().map(|&name| request.parameters[name].clone()).collect()
        };
        match kind {
            WebKind::SerpApi => assert_eq!(
                parameters(&["engine", "q", "num", "hl", "gl", "api_key"]),
                ["google", QUERY, "2", "en", "us", "k-1"]
            ),
            WebKind::Brave => assert_eq!(
                parameters(&["q", "count", "search_lang", "country", "extra_snippets"]),
                [QUERY, "2", "en", "US", "true"]
            ),
            WebKind::Tavily => assert_eq!(
                request.body,
                json!({"query": QUERY, "max_results": 2, "include_answer": true,
                       "country": "united states"})
            ),
            WebKind::SearXng => {
                assert_eq!(parameters(&["q", "format", "language"]), [QUERY, "json", "en-US"]);
            }
        }
        // Another key is refused, with what to do, and not shown.
        let settings = WebSettings { key_env: "SEARCH_KEY".into(), ..settings };
        let other = world.open(&settings, Some("secret+key/1")).search("another bridge", 3).await;
        let told = other.unwrap_err().to_string();
        let todo = if kind == WebKind::SearXng { "search.formats" } else { "SEARCH_KEY" };
        assert!(told.contains(kind.name()) && told.contains(todo), "{told}");
        assert!(!told.contains("secret"), "{told}");
    }
}

#[tokio::test]
async fn a_plan_without_extra_snippets_is_asked_for_plain_ones() {
    let world = World::new();
    let web = world.web(WebKind::Brave);
    let body = r#"{"error": {"code": "OPTION_NOT_IN_PLAN", "status": 400}}"#;
    world.double.trouble([EngineFailure::Status(400, body.into())]);
    assert_eq!(web.search(QUERY, 1).await.unwrap()[0].title, "The bridge");
    web.search("Who was the mayor?", 1).await.unwrap();
    let wants_more: Vec<bool> = world
        .double
        .requests()
        .iter()
        .map(|request| request.parameters.contains_key("extra_snippets"))
        .collect();
    assert_eq!(wants_more, [true, false, false]);
}

#[tokio::test]
async fn what_goes_wrong_names_the_engine_and_what_to_do() {
    let world = World::new();
    let html = EngineFailure::Html;
    let status = |status, body: &str| EngineFailure::Status(status, body.to_owned());
    for (trouble, words) in [
        (html, "a web page in the place of JSON"),
        (status(200, "{} no"), "no JSON"),
        (status(200, r#"{"hits": []}"#), "JSON that is not a reply of"),
        (status(404, ""), "check `url` and `kind`"),
        (status(400, r#"{"error": "too long"}"#), "refused the search (400): too long"),
        (status(432, r#"{"detail": {"error": "plan"}}"#), "no searches left"),
        (status(429, r#"{"error": "Your account has run out of searches."}"#), "no searches left"),
        (EngineFailure::Redirect(302, "https://example.org/?api_key=secret".into()), "set `url`"),
        (EngineFailure::Redirect(307, "http://127.0.0.1:1/".into()), "set `url`"),
        (EngineFailure::Endless, "more than"),
        (EngineFailure::Bomb, "more than"),
        (EngineFailure::Brotli, "packed as br"),
    ] {
        for (kind, _) in ALL {
            world.double.trouble([trouble.clone()]);
            let error = world.web(kind).search(QUERY, 3).await.unwrap_err().to_string();
            assert!(error.contains(words) && error.contains(&world.double.url()), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
        // Nothing of it is kept, and none of it was tried again.
        assert_eq!(world.double.troubles_left(), 0);
    }
    assert_eq!(web_searches(&world.folder.path().join("web")).unwrap(), []);
}

#[tokio::test]
async fn what_passes_is_tried_again_a_few_times() {
    let late = EngineFailure::Late(Duration::from_mins(1));
    let server_error = EngineFailure::Status(502, "{}".into());
    let silent = EngineFailure::Status(
        200,
        json!({"results": [], "unresponsive_engines": [["a", "timeout"]]}).to_string(),
    );
    let throttled = EngineFailure::Throttled(Some("0".into()));
    for (trouble, words) in [
        (EngineFailure::Empty, "an empty reply"),
        (EngineFailure::HalfJson, "cut off"),
        (EngineFailure::Cut, "broke the connection"),
        (EngineFailure::Drip, "did not reply in full within 0.2 s"),
        (late, "did not reply in full within 0.2 s"),
        (server_error, "failed (502)"),
        (silent, "a (timeout)"),
    ] {
        let world = World::new();
        let hasty = WebSettings { timeout_seconds: 0.2, ..world.settings(WebKind::SearXng) };
        let web = world.open(&hasty, None);
        world.double.trouble([trouble.clone(), throttled.clone()]);
        assert!(!web.search(QUERY, 3).await.unwrap().is_empty(), "{trouble:?}");
        world.double.trouble(vec![trouble.clone(); 9]);
        let error = web.search("another bridge", 3).await.unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("tried 2 times"), "{error}");
        assert_eq!(world.double.troubles_left(), 7);
    }
}

#[tokio::test]
async fn a_search_is_made_once_a_day() {
    let world = World::new();
    let web = world.web(WebKind::Brave);
    let many = join_all((0..8).map(|_| web.search(QUERY, 9))).await;
    let first = many[0].as_ref().unwrap();
    assert!(many.iter().all(|hits| hits.as_ref().unwrap().len() == first.len()));
    assert_eq!(web.search(&format!("  {QUERY}\n"), 2).await.unwrap().len(), 2);
    // Another process of the same day finds it, too.
    world.web(WebKind::Brave).search(QUERY, 3).await.unwrap();
    assert_eq!(world.double.requests().len(), 1);
    assert!(web.locks.lock().is_empty());

    let kept = web_searches(&world.folder.path().join("web")).unwrap();
    assert_eq!(
        (kept.len(), kept[0].query.as_str(), kept[0].day.as_str()),
        (1, QUERY, "2024-05-05")
    );

    let tomorrow = Web { today: || day(6), ..world.web(WebKind::Brave) };
    let hits = tomorrow.search(QUERY, 9).await.unwrap();
    assert_eq!(hits[0].section.as_deref(), Some("web, seen 2024-05-06"));
    let week = WebSettings { cache_days: 7, ..world.settings(WebKind::Brave) };
    let week = Web { today: || day(12), ..world.open(&week, None) };
    let hits = week.search(QUERY, 9).await.unwrap();
    assert_eq!(hits[0].section.as_deref(), Some("web, seen 2024-05-06"));
    assert_eq!(world.double.requests().len(), 2);

    let never = WebSettings { cache_days: 0, ..world.settings(WebKind::Brave) };
    let never = world.open(&never, None);
    never.search(QUERY, 3).await.unwrap();
    never.search(QUERY, 3).await.unwrap();
    // Other settings are other searches.
    let german = WebSettings { language: "de".into(), ..world.settings(WebKind::Brave) };
    world.open(&german, None).search(QUERY, 3).await.unwrap();
    assert_eq!(world.double.requests().len(), 5);
}

#[tokio::test]
async fn nothing_found_is_no_error_and_no_query_is() {
    let world = World::new();
    for (kind, _) in ALL {
        let web = world.web(kind);
        assert!(web.search("zebra migration patterns", 3).await.unwrap().is_empty());
        let empty = web.search(" \u{200b}\n", 3).await.unwrap_err();
        assert!(empty.to_string().contains("the query is empty"));
    }
    assert_eq!(world.double.requests().len(), 4);
    assert_eq!(shortened(&"harbour ".repeat(200)).chars().count(), 50 * 8 - 1);
    assert_eq!(shortened(&"ä".repeat(900)).chars().count(), 400);
}

#[tokio::test]
async fn replies_that_were_recorded_are_found_by_their_words() {
    let folder = tempfile::tempdir().unwrap();
    let given = Given::results(&[("Comet", "https://example.org/c", "It turned back in 2023.")]);
    for (_, shape) in ALL {
        std::fs::create_dir(folder.path().join(shape.name())).unwrap();
        let file = folder.path().join(shape.name()).join("comet.json");
        std::fs::write(file, shape.reply(&given).to_string()).unwrap();
    }
    let world = World { double: WebDouble::serving(folder.path()), folder };
    for (kind, _) in ALL {
        let web = world.web(kind);
        assert_eq!(web.search("comet turned back", 3).await.unwrap()[0].title, "Comet");
        assert!(web.search("Who painted the ceiling?", 3).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_check_spends_no_search_where_it_costs() {
    for (kind, _) in ALL {
        let world = World::new();
        let told = world.web(kind).check().await.unwrap();
        let searches = world.double.requests().iter().filter(|r| r.path != "/").count();
        assert!(told.starts_with(kind.name()) && searches == usize::from(kind == WebKind::SearXng));
        let gone = WebSettings { url: "http://127.0.0.1:1".into(), ..world.settings(kind) };
        let gone = WebSettings { retries: 0, ..gone };
        let error = world.open(&gone, None).check().await.unwrap_err().to_string();
        assert!(error.contains("cannot be reached"), "{error}");
    }
}

#[test]
fn settings_that_cannot_be_are_configuration_errors() {
    let new = WebSettings::new;
    let brave = new(WebKind::Brave);
    let with = |url: &str| WebSettings { url: url.into(), ..brave.clone() };
    for (settings, key, words) in [
        (new(WebKind::SearXng), "url", "not set"),
        (with("ftp://host"), "url", "http"),
        (with("http://me:pass@host/"), "url", "user name or password"),
        (WebSettings { limit: 0, ..brave.clone() }, "limit", "between 1 and 20"),
        (WebSettings { limit: 21, ..brave.clone() }, "limit", "between 1 and 20"),
        (WebSettings { fetch_pages: 11, ..brave.clone() }, "fetch_pages", "only 10"),
        (WebSettings { timeout_seconds: 0.0, ..brave.clone() }, "timeout_seconds", "above 0"),
        (WebSettings { timeout_seconds: f64::NAN, ..brave.clone() }, "timeout_seconds", "above 0"),
        (WebSettings { concurrency: 0, ..brave.clone() }, "concurrency", "`0`"),
        (
            WebSettings { allow_private: vec!["http://a/".into()], ..brave.clone() },
            "allow_private",
            "not a host",
        ),
    ] {
        let error = web(&settings, WebAccess::default()).err().unwrap();
        assert_eq!((error.key.as_str(), error.file.as_str()), (key, ""));
        assert!(error.reason.contains(words) && !error.hint.is_empty(), "{error}");
        assert!(!error.to_string().contains("pass@"), "{error}");
    }
    let error = web(&brave, WebAccess { key: Some("two words".into()), ..WebAccess::default() })
        .err()
        .unwrap();
    assert!(error.key == "key_env" && !error.to_string().contains("two words"));
    let proxied = with("https://proxy.example/brave?x=y");
    let proxied = web(&proxied, WebAccess::default()).unwrap();
    assert_eq!(proxied.engine.url.as_str(), "https://proxy.example/brave");
    let usual = web(&brave, WebAccess::default()).unwrap();
    assert_eq!(usual.engine.url.as_str(), "https://api.search.brave.com/res/v1/web/search");
}

#[tokio::test]
async fn no_error_ever_shows_the_key() {
    let key = "k3y+with/odd=marks&more";
    for (kind, _) in ALL {
        let world = World::new();
        let settings = WebSettings { retries: 0, ..world.settings(kind) };
        let web = world.open(&settings, Some(key));
        let request = web.engine.kind.api().request(
            &web.engine.url,
            &shape::Ask {
                query: "q",
                limit: 1,
                language: "",
                country: "",
                key: Some(key),
                more: true,
            },
        );
        let encoded = request.url.to_string();
        for body in [
            json!({"error": format!("bad key {key} in {encoded}")}).to_string(),
            json!({"results": key, "organic_results": key, "web": key}).to_string(),
            format!("{key} {encoded}"),
            format!("<p>{key} {encoded}</p>"),
        ] {
            for status in [200, 302, 400, 401, 404, 432, 503] {
                world.double.trouble([EngineFailure::Status(status, body.clone())]);
                let error = web.results(QUERY).await.unwrap_err();
                let told = format!("{error} {error:?}");
                assert!(!told.contains("k3y"), "{kind:?} {status}: {told}");
            }
        }
    }
}
