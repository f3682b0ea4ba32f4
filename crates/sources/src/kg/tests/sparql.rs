//! An endpoint over HTTP.
use std::sync::Arc;
use std::time::Duration;

use halma_core::{EntityId, Fact, Facts};

use super::samples::{REEF, id, reef};
use crate::kg::endpoint::KgAccess;
use crate::kg::endpoint::double::{Double, Failure};
use crate::kg::settings::KgSettings;
use crate::kg::sources::over_http;

fn settings(double: &Double) -> KgSettings {
    KgSettings { url: double.url(), timeout_seconds: 5.0, cache_days: 0, ..KgSettings::default() }
}

fn graph_at(settings: &KgSettings) -> Arc<dyn Facts> {
    over_http(settings, &KgAccess::default()).unwrap()
}

fn lines(facts: &[Fact]) -> Vec<String> {
    facts.iter().map(|fact| fact.evidence.text.clone()).collect()
}

#[tokio::test]
async fn an_endpoint_answers_as_the_same_graph_in_memory_does() {
    let double = Double::serving(REEF);
    let (far, here) = (graph_at(&settings(&double)), reef());
    for (name, descriptor) in [
        ("the light", None),
        ("The Light", Some("tower on a pier")),
        ("The Light", Some("Cove")),
        ("far light", None),
        ("Anna Roe", Some("person")),
        ("Roe", None),
        ("Zebra", Some("striped")),
    ] {
        let ids = |entities: Vec<halma_core::Entity>| -> Vec<(String, String)> {
            entities.into_iter().map(|one| (one.label, one.description)).collect()
        };
        let wanted = ids(here.find(name, descriptor, 9).await.unwrap());
        let actual = ids(far.find(name, descriptor, 9).await.unwrap());
        // An endpoint that has the name is not searched for its words as well.
        assert!(!actual.is_empty() || wanted.is_empty(), "{name} {descriptor:?}");
        assert_eq!(actual.first(), wanted.first(), "{name} {descriptor:?}");
    }
    for (of, words) in [
        ("near", "kept by"),
        ("anna", "keeper of"),
        ("far", "height"),
        ("far", "depth"),
        ("far", "year built"),
        ("cove", "birthplace of"),
        ("ben", "mother"),
        ("ben", "child"),
        ("anna", "parent"),
        ("anna", "type"),
        ("far", "width"),
    ] {
        let wanted = lines(&here.relate(&id(of), words).await.unwrap());
        assert_eq!(lines(&far.relate(&id(of), words).await.unwrap()), wanted, "{of} {words}");
    }
    let between = far.between(&id("ben"), &id("anna")).await.unwrap();
    assert_eq!(lines(&between), ["Anna Roe – child – Ben Roe"]);
    assert_eq!(between[0].evidence.document, "kg:127.0.0.1");
    let all = [id("near"), id("far"), id("anna")];
    for condition in [
        "height below 20 m",
        "built before 1900",
        "located in Cove",
        "are buildings",
        "height over 900 m",
        "beautiful",
        "located in Atlantis",
        "is a windmill",
    ] {
        let wanted = here.filter(&all, condition).await.unwrap().map(|facts| lines(&facts));
        let actual = far.filter(&all, condition).await.unwrap().map(|facts| lines(&facts));
        assert_eq!(actual, wanted, "{condition}");
    }
}

#[tokio::test]
async fn words_never_become_syntax() {
    let double = Double::serving(REEF);
    let before = double.facts();
    let graph = graph_at(&settings(&double));
    let evil = [
        r#"x" . } ; DROP ALL #"#,
        r#"x\" } UNION { ?s ?p ?o } #"#,
        "x'''\n} INSERT DATA { <a:b> <a:b> <a:b> } #",
        "\u{0}\u{7f}\u{202e}\"\\",
        "> ?p ?o } # <",
        "${e} %s ?e",
    ];
    for words in evil {
        assert!(graph.find(words, Some(words), 9).await.unwrap().is_empty(), "{words:?}");
        assert!(graph.relate(&id("far"), words).await.unwrap().is_empty());
        let bent = EntityId(format!("http://a.example/far{words}"));
        assert!(graph.relate(&bent, "height").await.unwrap().is_empty());
        assert!(graph.between(&bent, &id("far")).await.unwrap().is_empty());
        let kept = graph.filter(&[bent, id("far")], &format!("located in {words}")).await.unwrap();
        assert!(kept.is_none_or(|facts| facts.is_empty()));
    }
    assert_eq!(double.facts(), before);
    for query in double.queries() {
        let parsed = spargebra::SparqlParser::new().parse_query(&query).unwrap();
        assert!(matches!(parsed, spargebra::Query::Select { .. }));
    }
    // The first of them went in whole, as one literal.
    let whole = oxigraph::model::Literal::new_simple_literal(evil[0]).to_string();
    assert!(double.queries().iter().any(|query| query.contains(&whole)));
}

#[tokio::test]
async fn what_passes_is_tried_again_and_no_more_often_than_that() {
    let double = Double::serving(REEF);
    let graph = graph_at(&settings(&double));
    double.fail([Failure::Throttled("0"), Failure::Half]);
    assert_eq!(graph.between(&id("anna"), &id("ben")).await.unwrap().len(), 1);
    let graph = graph_at(&KgSettings { retries: 1, ..settings(&double) });
    let before = double.queries().len();
    double.fail(std::iter::repeat_n(Failure::Status(503), 2));
    let error = graph.between(&id("anna"), &id("ben")).await.unwrap_err().to_string();
    assert!(error.contains("failed (503)") && error.contains("tried 2 times"), "{error}");
    assert_eq!(double.queries().len(), before + 2);
    // Who asks for an hour is told to the user at once.
    double.fail([Failure::Throttled("3600")]);
    let error = graph.between(&id("anna"), &id("ben")).await.unwrap_err().to_string();
    assert!(error.contains("fewer queries (429)"), "{error}");
    assert_eq!(double.queries().len(), before + 3);
}

#[tokio::test]
async fn a_retry_after_holds_for_all_queries_and_few_are_asked_at_once() {
    let double = Double::serving(REEF);
    let graph = graph_at(&KgSettings { concurrency: 3, ..settings(&double) });
    double.fail([Failure::Throttled("1")]);
    let began = std::time::Instant::now();
    assert!(graph.between(&id("anna"), &id("ben")).await.is_ok());
    assert!(began.elapsed() >= Duration::from_secs(1));
    let questions = (0..24).map(|_| graph.find("Far Light", Some("tower on a pier"), 9));
    assert!(futures::future::join_all(questions).await.iter().all(Result::is_ok));
    assert!(double.max_concurrent() <= 3, "{}", double.max_concurrent());
}

#[tokio::test]
async fn a_query_is_asked_once_a_day_and_says_who_asks() {
    let (double, folder) = (Double::serving(REEF), tempfile::tempdir().unwrap());
    let (contact, folder) = ("mail@a.example".to_owned(), folder.path().to_owned());
    let access = KgAccess { contact, folder, ..KgAccess::default() };
    let settings = KgSettings { cache_days: 1, ..settings(&double) };
    let ask = async || {
        let graph = over_http(&settings, &access).unwrap();
        lines(&graph.relate(&id("far"), "height").await.unwrap())
    };
    let first = ask().await;
    let count = double.queries().len();
    assert!(count > 0 && first == ["Far Light – height – 31.5 m"]);
    assert_eq!((ask().await, double.queries().len()), (first, count));
    assert!(double.agent().starts_with("halma/") && double.agent().contains("mail@a.example"));
    let odd = KgAccess { contact: "a\nb".into(), ..KgAccess::default() };
    assert_eq!(over_http(&settings, &odd).err().unwrap().key, "contact");
}

#[tokio::test]
async fn what_is_no_endpoint_is_told_by_what_to_do() {
    let double = Double::serving(REEF);
    let graph = graph_at(&KgSettings { retries: 0, timeout_seconds: 0.5, ..settings(&double) });
    let other = Double::serving(REEF);
    for (failure, words) in [
        (Failure::Html, "web page"),
        (Failure::Half, "half a result"),
        (Failure::Json(r#"{"error": 1}"#), "half a result"),
        (Failure::Json("[]"), "no SPARQL results"),
        (Failure::Json(""), "no SPARQL results"),
        (Failure::Late(Duration::from_secs(3)), "within 0.5 s"),
        (Failure::Status(500), "failed (500)"),
        (Failure::Status(400), "refused the query (400)"),
        (Failure::Status(401), "kg.key_env"),
        (Failure::Status(403), "sources.contact"),
        (Failure::Redirect(other.url()), "is not followed"),
        (Failure::Redirect("http://10.0.0.1/sparql".into()), "is not followed"),
        (Failure::Redirect("http://169.254.169.254/latest".into()), "is not followed"),
    ] {
        double.fail([failure.clone()]);
        let error = graph.between(&id("anna"), &id("ben")).await.unwrap_err().to_string();
        assert!(error.contains(words), "{failure:?}: {error}");
    }
    assert!(other.queries().is_empty(), "nothing goes where a reply points");
}

#[test]
fn a_wrong_setting_is_told_before_anything_is_asked() {
    for (url, timeout, key) in [
        ("", 5.0, "url"),
        ("ftp://a.example", 5.0, "url"),
        ("http://u:p@a.example", 5.0, "url"),
        ("https://a.example/sparql", 0.0, "timeout_seconds"),
    ] {
        let settings =
            KgSettings { url: url.into(), timeout_seconds: timeout, ..KgSettings::default() };
        let error = over_http(&settings, &KgAccess::default()).err().unwrap();
        assert_eq!(error.key, key);
        assert!(!error.to_string().contains("u:p"), "{error}");
    }
}

#[tokio::test]
async fn ten_thousand_entities_are_filtered_in_few_queries() {
    use std::fmt::Write as _;
    let mut turtle = String::from(
        "@prefix p: <http://a.example/p/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n\
         p:height rdfs:label \"height\" .\n",
    );
    for number in 0..10_000 {
        let _ = writeln!(turtle, "<http://a.example/{number}> p:height {number} .");
    }
    let double = Double::serving(&turtle);
    let graph = graph_at(&KgSettings { timeout_seconds: 60.0, ..settings(&double) });
    let all: Vec<EntityId> = (0..10_000).map(|number| id(&number.to_string())).collect();
    let kept = graph.filter(&all, "height at least 9990").await.unwrap().unwrap();
    assert_eq!(kept.len(), 10);
    assert!(kept.windows(2).all(|pair| pair[0].head.id < pair[1].head.id));
    assert!(double.queries().len() < 40, "{}", double.queries().len());
}
