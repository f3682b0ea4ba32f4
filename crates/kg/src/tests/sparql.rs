//! An endpoint over HTTP.
use std::sync::Arc;
use std::time::Duration;

use halma_core::{EntityId, Fact, Facts, Tail};

use super::samples::{REEF, id, reef};
use crate::endpoint::double::{Double, Failure};
use crate::settings::{KgProfile, KgSettings};
use crate::sources::over_http;

fn settings(double: &Double) -> KgSettings {
    KgSettings { url: double.url(), timeout_seconds: 5.0, ..KgSettings::default() }
}

fn graph_at(settings: &KgSettings) -> Arc<dyn Facts> {
    over_http(settings, None).unwrap()
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
        let ids = |found: Vec<halma_core::Entity>| -> Vec<(String, String)> {
            found.into_iter().map(|one| (one.label, one.description)).collect()
        };
        let wanted = ids(here.find(name, descriptor, 9).await.unwrap());
        let found = ids(far.find(name, descriptor, 9).await.unwrap());
        // An endpoint that has the name is not searched for its words as well.
        assert!(!found.is_empty() || wanted.is_empty(), "{name} {descriptor:?}");
        assert_eq!(found.first(), wanted.first(), "{name} {descriptor:?}");
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
        let found = far.filter(&all, condition).await.unwrap().map(|facts| lines(&facts));
        assert_eq!(found, wanted, "{condition}");
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
    double.fail(std::iter::repeat_n(Failure::Throttled("0"), 2));
    let error = graph.between(&id("anna"), &id("ben")).await.unwrap_err().to_string();
    assert!(error.contains("fewer queries (429)"), "{error}");
    assert_eq!(double.queries().len(), before + 2);
    // Who asks for an hour is told to the user at once.
    double.fail([Failure::Throttled("3600")]);
    let error = graph.between(&id("anna"), &id("ben")).await.unwrap_err().to_string();
    assert!(error.contains("in 3600 s"), "{error}");
    assert_eq!(double.queries().len(), before + 3);
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
        let error = over_http(&settings, None).err().unwrap();
        assert_eq!(error.key, key);
        assert!(!error.to_string().contains("u:p"), "{error}");
    }
}

const WIKIDATA: &str = r#"
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix psv: <http://www.wikidata.org/prop/statement/value/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

wd:P31 wikibase:directClaim wdt:P31 ; rdfs:label "instance of"@en .
wd:P2048 wikibase:directClaim wdt:P2048 ; rdfs:label "height"@en , "Höhe"@de .
wd:P571 wikibase:directClaim wdt:P571 ; rdfs:label "inception"@en ; skos:altLabel "founded"@en .
wd:P126 wikibase:directClaim wdt:P126 ; rdfs:label "maintained by"@en ; skos:altLabel "keeper"@en .
wd:Q1 rdfs:label "lighthouse"@en .
wd:Q2 rdfs:label "metre"@en .
wd:Q70 rdfs:label "Far Light"@en , "Fernes Licht"@de ; skos:altLabel "The Light"@en ;
  schema:description "lighthouse on a reef"@en ; wdt:P31 wd:Q1 ; wdt:P126 wd:Q72 ;
  wdt:P571 "1886-01-01T00:00:00Z"^^xsd:dateTime ; wdt:P2048 "+31.5"^^xsd:decimal ;
  p:P2048 [ psv:P2048 [ wikibase:quantityAmount "+31.5"^^xsd:decimal ; wikibase:quantityUnit wd:Q2 ] ] .
wd:Q71 rdfs:label "Far Light"@en ; schema:description "novel"@en .
wd:Q72 rdfs:label "Harbour Office"@en .
"#;

#[tokio::test]
async fn wikidata_is_read_by_its_own_words() {
    let double = Double::serving(WIKIDATA);
    let settings = KgSettings { profile: KgProfile::Wikidata, ..settings(&double) };
    let graph = graph_at(&settings);
    let found = graph.find("far light", Some("lighthouse"), 9).await.unwrap();
    let of = |name: &str| EntityId(format!("http://www.wikidata.org/entity/{name}"));
    assert_eq!((found[0].id.clone(), found.len()), (of("Q70"), 2));
    assert_eq!(
        (found[0].label.as_str(), found[0].types.as_slice()),
        ("Far Light", &["lighthouse".to_owned()][..])
    );
    assert_eq!(graph.find("The Light", None, 9).await.unwrap()[0].id, of("Q70"));
    let relate = async |of: &EntityId, words: &str| graph.relate(of, words).await.unwrap();
    assert_eq!(lines(&relate(&of("Q70"), "height").await), ["Far Light – height – 31.5 metre"]);
    assert_eq!(
        lines(&relate(&of("Q70"), "founded in").await),
        ["Far Light – inception – 1886-01-01"]
    );
    assert_eq!(
        lines(&relate(&of("Q72"), "maintained by").await),
        ["Far Light – maintained by – Harbour Office"]
    );
    let Tail::Entity(keeper) = &relate(&of("Q70"), "keeper").await[0].tail else { panic!() };
    assert_eq!(keeper.id, of("Q72"));
    let kept = graph.filter(&[of("Q70"), of("Q71")], "height over 0.03 km").await.unwrap();
    assert_eq!(kept.unwrap().len(), 1);
    assert_eq!(
        graph.filter(&[of("Q70"), of("Q71")], "is a lighthouse").await.unwrap().unwrap().len(),
        1
    );
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
