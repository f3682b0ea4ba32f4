//! Wikidata's form of a graph, over HTTP.
use std::sync::Arc;

use halma_core::{EntityId, Fact, Facts, Tail};

use crate::kg::endpoint::KgAccess;
use crate::kg::endpoint::double::Double;
use crate::kg::settings::{KgProfile, KgSettings};
use crate::kg::sources::over_http;

const PREFIXES: &str = r"
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix psv: <http://www.wikidata.org/prop/statement/value/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
";

const GRAPH: &str = r#"
wd:P31 rdfs:label "instance of"@en .
wd:P2048 rdfs:label "height"@en , "Höhe"@de .
wd:P571 rdfs:label "inception"@en ; skos:altLabel "founded"@en .
wd:P126 rdfs:label "maintained by"@en ; skos:altLabel "keeper"@en .
wd:P1082 rdfs:label "population"@en .
wd:P569 rdfs:label "date of birth"@en .
wd:P22 rdfs:label "father"@en .
wd:P580 rdfs:label "start time"@en . wd:P582 rdfs:label "end time"@en .
wd:P585 rdfs:label "point in time"@en .
wd:Q1 rdfs:label "lighthouse"@en . wd:Q2 rdfs:label "metre"@en .
wd:Q4167410 rdfs:label "Wikimedia disambiguation page"@en .
wd:Q72 rdfs:label "Harbour Office"@en . wd:Q73 rdfs:label "Anna Roe"@en .
wd:Q74 rdfs:label "Ben Roe"@en . wd:Q9 rdfs:label "Cove"@en .

wd:Q70 rdfs:label "Far Light"@en , "Fernes Licht"@de ; skos:altLabel "The Light"@en ;
  wikibase:sitelinks 40 ; wikibase:statements 90 ;
  schema:description "lighthouse on a reef"@en ; wdt:P31 wd:Q1 ; wdt:P126 wd:Q72 ;
  wdt:P571 "1886-01-01T00:00:00Z"^^xsd:dateTime ; wdt:P2048 "+31.5"^^xsd:decimal ;
  wdt:P1082 3 ; p:P571 wd:s1 ; p:P2048 wd:s2 ; p:P126 wd:s3 , wd:s4 , wd:s5 , wd:s6 ;
  p:P1082 wd:s7 , wd:s8 ; p:P31 wd:s9 .
wd:s1 ps:P571 "1886-01-01T00:00:00Z"^^xsd:dateTime ; wikibase:rank wikibase:NormalRank ;
  psv:P571 wd:v1 .
wd:v1 wikibase:timeValue "1886-01-01T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision 9 .
wd:s2 ps:P2048 "+31.5"^^xsd:decimal ; wikibase:rank wikibase:NormalRank ; psv:P2048 wd:v2 .
wd:v2 wikibase:quantityAmount "+31.5"^^xsd:decimal ; wikibase:quantityUnit wd:Q2 .
wd:s3 ps:P126 wd:Q73 ; wikibase:rank wikibase:NormalRank ;
  pq:P580 "1886-01-01T00:00:00Z"^^xsd:dateTime ; pq:P582 "1901-01-01T00:00:00Z"^^xsd:dateTime .
wd:s4 ps:P126 wd:Q74 ; wikibase:rank wikibase:NormalRank ;
  pq:P580 "1901-01-01T00:00:00Z"^^xsd:dateTime ; pq:P582 "1930-01-01T00:00:00Z"^^xsd:dateTime .
wd:s5 ps:P126 wd:Q72 ; wikibase:rank wikibase:PreferredRank ;
  pq:P580 "1930-05-02T00:00:00Z"^^xsd:dateTime .
wd:s6 ps:P126 wd:Q9 ; wikibase:rank wikibase:DeprecatedRank .
wd:s7 ps:P1082 4 ; wikibase:rank wikibase:NormalRank ; pq:P585 "1900-01-01T00:00:00Z"^^xsd:dateTime .
wd:s8 ps:P1082 3 ; wikibase:rank wikibase:NormalRank ; pq:P585 "1990-01-01T00:00:00Z"^^xsd:dateTime .
wd:s9 ps:P31 wd:Q1 ; wikibase:rank wikibase:NormalRank .

wd:Q71 rdfs:label "Far Light"@en ; schema:description "novel"@en ; wikibase:sitelinks 2 .
wd:Q1018504 rdfs:label "Far Light"@en ; schema:description "song"@en ; wikibase:sitelinks 2 .
wd:Q75 rdfs:label "Far Light"@en ; wdt:P31 wd:Q4167410 ; wikibase:sitelinks 60 .
wd:Q76 rdfs:label "Far Light"@en ; schema:description "play"@en ; wikibase:sitelinks 30 .

wd:Q73 wdt:P569 <http://www.wikidata.org/.well-known/genid/a1> ; p:P569 wd:s10 ;
  wdt:P22 <http://www.wikidata.org/.well-known/genid/a2> ; p:P22 wd:s11 .
wd:s10 ps:P569 <http://www.wikidata.org/.well-known/genid/a1> ; wikibase:rank wikibase:NormalRank .
wd:s11 ps:P22 <http://www.wikidata.org/.well-known/genid/a2> ; wikibase:rank wikibase:NormalRank .
wd:Q74 wdt:P569 "-0043-03-15T00:00:00Z"^^xsd:dateTime ; p:P569 wd:s12 .
wd:s12 ps:P569 "-0043-03-15T00:00:00Z"^^xsd:dateTime ; wikibase:rank wikibase:NormalRank ;
  psv:P569 wd:v12 .
wd:v12 wikibase:timeValue "-0043-01-01T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision 9 .
"#;

fn graph() -> (Double, Arc<dyn Facts>) {
    let double = Double::serving(&format!("{PREFIXES}{GRAPH}"));
    let settings = KgSettings {
        url: double.url(),
        cache_days: 0,
        profile: KgProfile::Wikidata,
        ..KgSettings::default()
    };
    let graph = over_http(&settings, &KgAccess::default()).unwrap();
    (double, graph)
}

fn item(name: &str) -> EntityId {
    EntityId(format!("http://www.wikidata.org/entity/{name}"))
}

async fn relate(graph: &dyn Facts, of: &str, words: &str) -> Vec<Fact> {
    graph.relate(&item(of), words).await.unwrap()
}

fn lines(facts: &[Fact]) -> Vec<String> {
    facts.iter().map(|fact| fact.evidence.text.clone()).collect()
}

#[tokio::test]
async fn of_namesakes_the_known_ones_come_first() {
    let (_double, graph) = graph();
    let entities = graph.find("far light", None, 9).await.unwrap();
    let ids: Vec<&EntityId> = entities.iter().map(|entity| &entity.id).collect();
    // A page of disambiguation is not a thing; 71 comes before 1018504.
    assert_eq!(ids, [&item("Q70"), &item("Q76"), &item("Q71"), &item("Q1018504")]);
    // Two of about the same fame are equally likely.
    assert!(
        (entities[0].score - entities[1].score).abs() < 1e-6
            && entities[2].score < entities[1].score
    );
    assert_eq!(
        (entities[0].label.as_str(), entities[0].types.as_slice()),
        ("Far Light", &["lighthouse".to_owned()][..])
    );
    let novel = graph.find("far light", Some("novel"), 1).await.unwrap();
    assert_eq!(novel[0].id, item("Q71"));
    assert_eq!(graph.find("The Light", None, 9).await.unwrap()[0].id, item("Q70"));
}

#[tokio::test]
async fn values_have_their_precision_and_unit() {
    let (_double, graph) = graph();
    let graph = graph.as_ref();
    assert_eq!(lines(&relate(graph, "Q70", "height").await), ["Far Light – height – 31.5 metre"]);
    assert_eq!(lines(&relate(graph, "Q70", "founded in").await), ["Far Light – inception – 1886"]);
    assert_eq!(lines(&relate(graph, "Q74", "birthday").await), ["Ben Roe – date of birth – 44 BC"]);
    let both = [item("Q70"), item("Q71")];
    for (condition, kept) in [
        ("height over 0.03 km", 1),
        ("is a lighthouse", 1),
        ("founded in 1886", 1),
        // A year is not known closely enough.
        ("founded before June 1886", 0),
    ] {
        let facts = graph.filter(&both, condition).await.unwrap();
        assert_eq!(facts.unwrap().len(), kept, "{condition}");
    }
    let old = graph.filter(&[item("Q74")], "born before 40 BC").await.unwrap();
    assert_eq!(old.unwrap().len(), 1);
}

#[tokio::test]
async fn what_holds_now_comes_before_what_held_once() {
    let (_double, graph) = graph();
    let keepers = relate(graph.as_ref(), "Q70", "keeper").await;
    assert_eq!(
        lines(&keepers),
        [
            "Far Light – maintained by – Harbour Office (start time: 1930)",
            "Far Light – maintained by – Ben Roe (start time: 1901, end time: 1930)",
            "Far Light – maintained by – Anna Roe (start time: 1886, end time: 1901)",
        ]
    );
    assert!(keepers[0].score > keepers[1].score, "a caller that takes the best takes the present");
    let Tail::Entity(keeper) = &keepers[0].tail else { panic!() };
    assert_eq!(keeper.id, item("Q72"));
    let people = relate(graph.as_ref(), "Q70", "population").await;
    assert!(people[0].tail.shown() == "3" && people[0].score > people[1].score);
    assert_eq!(lines(&relate(graph.as_ref(), "Q72", "maintained by").await).len(), 1);
}

#[tokio::test]
async fn a_value_that_is_not_known_is_no_entity() {
    let (_double, graph) = graph();
    for words in ["date of birth", "father"] {
        assert!(relate(graph.as_ref(), "Q73", words).await.is_empty(), "{words}");
    }
    let all = graph.facts_of(&item("Q73"), 99).await.unwrap();
    assert!(lines(&all).iter().all(|line| !line.contains("genid")), "{all:?}");
}
