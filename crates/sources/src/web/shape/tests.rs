use halma_testkit::web::{Given, GivenResult, Shape};
use proptest::prelude::*;
use serde_json::json;

use super::*;

const ALL: [(WebKind, Shape); 4] = [
    (WebKind::SerpApi, Shape::SerpApi),
    (WebKind::Brave, Shape::Brave),
    (WebKind::Tavily, Shape::Tavily),
    (WebKind::SearXng, Shape::SearXng),
];

fn read(kind: WebKind, body: &Value) -> Result<Vec<WebResult>, Unread> {
    kind.api().read(body.to_string().as_bytes())
}

/// Rank, title, address, text, date.
fn seen(results: &[WebResult]) -> Vec<(WebRank, &str, &str, &str, &str)> {
    results
        .iter()
        .map(|r| (r.rank, r.title.as_str(), r.url.as_str(), r.text.as_str(), r.date.as_str()))
        .collect()
}

#[test]
fn every_shape_gives_the_same_results() {
    let page = |n: u8, date: &str| GivenResult {
        title: format!("Page {n}"),
        url: format!("https://example.org/{n}"),
        text: format!("What page {n} says."),
        date: date.into(),
    };
    let given = Given {
        results: vec![page(1, "2025-03-11T00:00:00"), page(2, ""), page(2, "")],
        answer: Some(("Because.".into(), "https://example.org/why".into())),
        panel: Some(("Saturn".into(), "A planet.".into(), "https://example.org/saturn".into())),
    };
    for (kind, shape) in ALL {
        let results = read(kind, &shape.reply(&given)).unwrap();
        // Tavily knows no panels, and its answer has no address.
        let (why, panel) = match kind {
            WebKind::Tavily => ("", None),
            _ => ("https://example.org/why", Some("https://example.org/saturn")),
        };
        let panel = panel.map(|url| (WebRank::Panel, "Saturn", url, "A planet.", ""));
        // What others ask and what a model writes comes after the pages.
        let rank = match kind {
            WebKind::Brave => WebRank::Question,
            WebKind::Tavily => WebRank::Summary,
            WebKind::SerpApi | WebKind::SearXng => WebRank::Answer,
        };
        let answer = (rank, "", why, "Because.", "");
        let mut expected = vec![];
        expected.extend((rank == WebRank::Answer).then_some(answer));
        expected.extend(panel);
        let one = ("https://example.org/1", "What page 1 says.", "2025-03-11");
        let two = ("https://example.org/2", "What page 2 says.", "");
        expected.push((WebRank::Page, "Page 1", one.0, one.1, one.2));
        expected.push((WebRank::Page, "Page 2", two.0, two.1, two.2));
        expected.extend((rank != WebRank::Answer).then_some(answer));
        assert_eq!(seen(&results), expected, "{kind:?}");
        assert_eq!(read(kind, &shape.reply(&Given::default())).unwrap(), [], "{kind:?}");
    }
}

#[test]
fn serpapi_boxes_and_panels() {
    let body = json!({
        "search_metadata": {"status": "Success"},
        "answer_box": {
            "type": "organic_result", "title": "How many moons has Saturn?", "answer": "274",
            "snippet": "As of 2025, Saturn has 274 known moons.", "link": "https://example.org/m",
            "date": "Mar 11, 2025", "snippet_highlighted_words": ["274"],
        },
        "knowledge_graph": {
            "title": "Saturn", "type": "Planet", "kgmid": "/m/06nsb", "orbital_period": "29.4 years",
            "description": "Saturn is the sixth planet.", "distance_links": [{"text": "x"}],
            "source": {"name": "an encyclopaedia", "link": "https://example.org/saturn"},
            "knowledge_graph_search_link": "https://serpapi.com/search.json?kgmid=1",
            "header_images": [], "mass_link": "x",
        },
        "organic_results": [{"position": 1, "title": "Moons", "link": "http://example.org/1"}],
    });
    assert_eq!(
        seen(&read(WebKind::SerpApi, &body).unwrap()),
        [
            (
                WebRank::Answer,
                "How many moons has Saturn?",
                "https://example.org/m",
                "274\nAs of 2025, Saturn has 274 known moons.",
                "Mar 11, 2025"
            ),
            (
                WebRank::Panel,
                "Saturn",
                "https://example.org/saturn",
                "Planet\nSaturn is the sixth planet.\norbital period: 29.4 years",
                ""
            ),
            (WebRank::Page, "Moons", "http://example.org/1", "", ""),
        ]
    );
    let list = json!({"answer_box": {"title": "Steps", "list": ["one", "two"]}});
    assert_eq!(read(WebKind::SerpApi, &list).unwrap()[0].text, "one\ntwo");
    let sum = json!({"answer_box": {"type": "calculator_result", "result": 4}});
    assert_eq!(read(WebKind::SerpApi, &sum).unwrap()[0].text, "4");
    let table = json!({"answer_box": {"type": "organic_result", "title": "Winners",
        "contents": {"table": [["Year", "Team"], ["1990", "Reds"]]}, "thumbnail": "http://x.example/"}});
    assert_eq!(read(WebKind::SerpApi, &table).unwrap()[0].text, "Year; Team\n1990; Reds");
    let weather = json!({"answer_box": {"type": "weather_result", "temperature": "7", "unit": "Celsius",
        "forecast": [{"day": "Friday", "weather": "Rain"}]}});
    let weather = &read(WebKind::SerpApi, &weather).unwrap()[0].text;
    assert!(weather.contains("temperature: 7") && weather.contains("weather: Rain"), "{weather}");
    let marked = json!({"answer_box": {"title": "t", "snippet_highlighted_words": ["274"]}});
    assert_eq!(read(WebKind::SerpApi, &marked).unwrap()[0].text, "274");
    let steps = json!({"answer_box": {"expanded_list": [{"title": "One", "snippet": "Do."}, {"title": "Two"}]}});
    assert_eq!(read(WebKind::SerpApi, &steps).unwrap()[0].text, "One, Do.\nTwo");
    let albums = json!({"knowledge_graph": {"title": "A singer",
        "albums": [{"name": "Blue", "link": "http://x.example/", "extensions": ["1971"]}, {"name": "Hejira"}]}});
    assert_eq!(read(WebKind::SerpApi, &albums).unwrap()[0].text, "albums: Blue, 1971; Hejira");
    let none = json!({"error": "Google hasn't returned any results for this query."});
    assert_eq!(read(WebKind::SerpApi, &none).unwrap(), []);
    let failed = read(WebKind::SerpApi, &json!({"error": "the search was blocked"}));
    assert!(matches!(failed, Err(Unread::Failed(reason)) if reason.contains("blocked")));
}

#[test]
fn brave_texts_are_html_and_dates_may_be_ages() {
    let body = json!({
        "type": "search",
        "query": {"original": "q"},
        "infobox": {"type": "graph", "results": [{
            "title": "Halley&#x27;s Comet", "label": "Comet", "description": "Seen every 75 years.",
            "long_desc": "Seen every 75 years. Next in 2061.",
            "attributes": [["Next return", "<strong>July</strong> 2061"], ["odd"]],
        }]},
        "web": {"results": [
            {"title": "A &amp; B", "url": "https://example.org/1", "description": "<strong>A</strong> b",
             "age": "3 days ago", "extra_snippets": ["more", "A b"]},
        ]},
        "videos": {"results": [{}]},
    });
    let results = read(WebKind::Brave, &body).unwrap();
    assert_eq!(
        seen(&results),
        [
            (
                WebRank::Panel,
                "Halley's Comet",
                "",
                "Comet\nSeen every 75 years.\nSeen every 75 years. Next in 2061.\nNext return: July 2061",
                ""
            ),
            (WebRank::Page, "A & B", "https://example.org/1", "A b\nmore", "3 days ago"),
        ]
    );
}

#[test]
fn searxng_answers_have_two_forms_and_silence_is_no_result() {
    let body = json!({
        "results": [],
        "answers": ["Forty-two", {"answer": "Sixty-six", "url": "https://example.org/a", "engine": "x"}],
        "infoboxes": [{"infobox": "Saturn", "id": "https://example.org/s", "content": "A planet.",
                       "attributes": [{"label": "Moons", "value": "274"}], "urls": []}],
        "unresponsive_engines": [["google", "timeout"]],
    });
    assert_eq!(
        seen(&read(WebKind::SearXng, &body).unwrap()),
        [
            (WebRank::Answer, "", "", "Forty-two", ""),
            (WebRank::Answer, "", "https://example.org/a", "Sixty-six", ""),
            (WebRank::Panel, "Saturn", "https://example.org/s", "A planet.\nMoons: 274", ""),
        ]
    );
    let silent = json!({"results": [], "unresponsive_engines": [["google", "timeout"], ["bing"]]});
    let failed = read(WebKind::SearXng, &silent);
    assert!(
        matches!(failed, Err(Unread::Failed(reason)) if reason.contains("google (timeout), bing"))
    );
}

#[test]
fn addresses_and_dates_are_brought_into_one_form() {
    for (url, kept) in [
        ("https://example.org/a#b", "https://example.org/a"),
        ("https://me:pass@example.org/", "https://example.org/"),
        ("javascript:alert(1)", ""),
        ("file:///etc/passwd", ""),
        ("/relative", ""),
        ("", ""),
    ] {
        assert_eq!(address(url), kept);
    }
    for (told, kept) in [
        ("2025-03-11", "2025-03-11"),
        ("2025-03-11T10:00:00Z", "2025-03-11"),
        ("Tue, 11 Mar 2025 10:00:00 GMT", "2025-03-11"),
        ("Mar 11, 2025", "Mar 11, 2025"),
        ("2025-March", "2025-March"),
        ("ääääääääää", "ääääääääää"),
        ("", ""),
    ] {
        assert_eq!(date(told), kept);
    }
    let long = json!({"results": [{"title": "t".repeat(9_000), "content": "c\u{1b}".repeat(9_000),
                                   "url": "https://example.org/"}]});
    let results = read(WebKind::Tavily, &long).unwrap();
    assert!(results[0].title.len() < 400 && results[0].text.len() < 2_100);
    assert!(!results[0].text.contains('\u{1b}'));
}

#[test]
fn another_shape_is_told_from_no_results() {
    for (kind, _) in ALL {
        for body in [json!({}), json!([]), json!("no"), json!({"detail": "no"}), json!(null)] {
            assert!(matches!(read(kind, &body), Err(Unread::Shape(_))), "{kind:?} {body}");
        }
        assert!(matches!(kind.api().read(b"<html>"), Err(Unread::Json(_))));
        assert!(matches!(kind.api().read(b""), Err(Unread::Json(_))));
    }
    for (kind, body) in [
        (WebKind::SerpApi, json!({"organic_results": "no"})),
        (WebKind::Brave, json!({"web": {"results": 3}})),
        (WebKind::Tavily, json!({"results": {"a": 1}})),
        (WebKind::SearXng, json!({"results": [1]})),
    ] {
        assert!(matches!(read(kind, &body), Err(Unread::Shape(_))), "{kind:?} {body}");
    }
}

/// Any JSON at all.
fn anything() -> impl Strategy<Value = Value> {
    let fields = "(results|web|infobox|faq|answers|infoboxes|answer_box|knowledge_graph|title|url|\
                  organic_results|content|attributes|list)";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(?s).{0,8}".prop_map(Value::from),
        Just(json!("https://example.org/")),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((fields, inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_reply_is_too_odd(body in anything()) {
        for (kind, _) in ALL {
            for result in read(kind, &body).unwrap_or_default() {
                prop_assert!(result.rank != WebRank::Page || result.url.starts_with("http"));
            }
        }
    }
}
