//! Loaded graphs.
use std::path::Path;

use halma_core::{Fact, Facts, Tail};

use super::samples::{REEF, id, loaded, reef};
use crate::kg::loaded::{KgError, KgGraphs, KgLoad, read};
use crate::kg::operators::Operators;

fn lines(facts: &[Fact]) -> Vec<String> {
    facts.iter().map(|fact| fact.evidence.text.clone()).collect()
}

async fn labels(graph: &Operators, name: &str, descriptor: Option<&str>) -> Vec<(String, f32)> {
    let labels = graph.find(name, descriptor, 9).await.unwrap();
    labels.into_iter().map(|one| (one.label, one.score)).collect()
}

#[tokio::test]
async fn entities_of_one_name_are_all_found_the_best_fit_first() {
    let reef = reef();
    let both = labels(&reef, "the light", None).await;
    assert_eq!(both.len(), 2);
    assert!((both[0].1 - both[1].1).abs() < f32::EPSILON);
    let pier = labels(&reef, "The Light", Some("tower on a pier")).await;
    assert_eq!(pier[0].0, "Near Light");
    assert!(pier[0].1 > pier[1].1 + 0.1);
    // What it is tied to tells it apart as well.
    assert_eq!(labels(&reef, "The Light", Some("Cove")).await[0].0, "Far Light");
    assert_eq!(labels(&reef, "fernes licht", None).await[0].0, "Far Light");
    assert_eq!(labels(&reef, "Roe", None).await.len(), 2);
    assert_eq!(labels(&reef, "Anna Maria Roe", None).await[0].0, "Anna Roe");
    assert_eq!(labels(&reef, "Zebra", Some("striped")).await, []);
    assert_eq!(labels(&reef, "lighthouse", None).await, [("lighthouse".to_owned(), 1.0)]);
}

#[tokio::test]
async fn all_facts_about_an_entity_are_listed_whichever_end_it_is() {
    let all = lines(&reef().facts_of(&id("anna"), 99).await.unwrap());
    for line in ["Near Light – keeper – Anna Roe", "Anna Roe – child – Ben Roe"] {
        assert!(all.contains(&line.to_owned()), "{all:?}");
    }
    assert!(all.len() > 2);
    assert_eq!(reef().facts_of(&id("anna"), 2).await.unwrap().len(), 2);
    assert!(reef().facts_of(&id("nobody"), 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_relation_is_read_both_ways_and_an_attribute_with_its_unit() {
    let reef = reef();
    let relate = async |of: &str, words: &str| lines(&reef.relate(&id(of), words).await.unwrap());
    assert_eq!(
        relate("near", "kept by").await,
        ["Near Light – keeper – Anna Roe", "Near Light – keeper – Ben Roe"]
    );
    assert_eq!(
        relate("anna", "keeper of").await,
        ["Far Light – keeper – Anna Roe", "Near Light – keeper – Anna Roe"]
    );
    assert_eq!(relate("far", "height").await, ["Far Light – height – 31.5 m"]);
    assert_eq!(relate("far", "depth").await, ["Far Light – depth – 2 M"]);
    assert_eq!(
        relate("far", "year built").await,
        ["Far Light – date of construction – 1886-05-01"]
    );
    assert_eq!(relate("cove", "birthplace of").await, ["Anna Roe – place of birth – Cove"]);
    assert_eq!(relate("ben", "mother").await, ["Anna Roe – child – Ben Roe"]);
    assert_eq!(relate("anna", "type").await, ["Anna Roe – type – person"]);
}

#[tokio::test]
async fn what_the_graph_does_not_say_is_not_answered_by_something_else() {
    let reef = reef();
    for (of, words) in [
        ("ben", "child"),
        ("anna", "parent"),
        ("far", "width"),
        ("anna", "date of birth"),
        ("x y", "height"),
    ] {
        assert_eq!(
            lines(&reef.relate(&id(of), words).await.unwrap()),
            Vec::<String>::new(),
            "{words}"
        );
    }
}

#[tokio::test]
async fn what_ties_two_entities_is_found_either_way_round() {
    let reef = reef();
    for (a, b) in [("anna", "ben"), ("ben", "anna")] {
        let facts = reef.between(&id(a), &id(b)).await.unwrap();
        assert_eq!(lines(&facts), ["Anna Roe – child – Ben Roe"]);
        assert_eq!(facts[0].relation, "child");
    }
    assert!(reef.between(&id("anna"), &id("cove")).await.unwrap().len() == 1);
    assert!(reef.between(&id("far"), &id("ben")).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_filter_keeps_those_that_meet_it_with_the_fact_that_shows_it() {
    let reef = reef();
    let all = [id("near"), id("far"), id("anna")];
    let filter = async |condition: &str| {
        let kept = reef.filter(&all, condition).await.unwrap();
        kept.map(|facts| lines(&facts))
    };
    let some = |lines: &[&str]| Some(lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>());
    let near = some(&["Near Light – height – 12 m"]);
    assert_eq!(filter("height below 20 m").await, near);
    assert_eq!(filter("height < 0.02 km").await, near);
    assert_eq!(
        filter("built before 1900").await,
        some(&["Far Light – date of construction – 1886-05-01"])
    );
    assert_eq!(filter("located in Cove").await, some(&["Far Light – located in – Cove"]));
    assert_eq!(filter("keeper is Ben Roe").await, some(&["Near Light – keeper – Ben Roe"]));
    assert_eq!(
        filter("are buildings").await,
        some(&["Near Light – type – building", "Far Light – type – building"])
    );
    assert_eq!(filter("height over 900 m").await, some(&[]));
    for open in ["beautiful", "height over 5 kg", "located in Atlantis", "is a windmill", "tallest"]
    {
        assert_eq!(filter(open).await, None, "{open}");
    }
}

#[tokio::test]
async fn evidence_names_its_graph() {
    let reef = reef();
    let fact = reef.relate(&id("far"), "height").await.unwrap().remove(0);
    assert_eq!(
        (fact.evidence.document.as_str(), fact.evidence.title.as_str()),
        ("kg:reef.ttl", "Far Light")
    );
    assert!(matches!(&fact.tail, Tail::Value(value) if value.unit == "m"));
}

#[tokio::test]
async fn graphs_side_by_side_tell_a_shared_fact_once() {
    let more = "<http://a.example/far> <http://a.example/p/height> 31.5 , 32 .";
    let (_dir, files) = loaded(&[("a.ttl", REEF), ("b.ttl", more)]);
    let both = Operators::new(read(&files, "en").unwrap(), String::new());
    let facts = both.relate(&id("far"), "height").await.unwrap();
    assert_eq!(lines(&facts), ["Far Light – height – 31.5 m", "Far Light – height – 32 m"]);
    assert_eq!(facts[1].evidence.document, "kg:b.ttl");
}

#[test]
fn the_same_file_twice_changes_nothing_and_a_broken_one_neither() {
    let (dir, files) = loaded(&[("reef.ttl", REEF)]);
    let path = dir.path().join("reef.ttl");
    let again = files.load(&path, &KgLoad::default()).unwrap();
    assert_eq!((again.added, again.removed), (0, 0));
    assert_eq!(again.read, again.facts);
    let before = files.list();
    std::fs::write(&path, "<http://a.example/x> <http://a.example/y> 1 .\n<oh no> .").unwrap();
    let error = files.load(&path, &KgLoad::default()).unwrap_err();
    assert!(matches!(error, KgError::Broken { line: 2, column: 1.., .. }), "{error:?}");
    assert!(error.to_string().contains("nothing of it was loaded"), "{error}");
    assert_eq!(files.list(), before);
    std::fs::write(&path, "<http://a.example/x> <http://a.example/y> 1 .").unwrap();
    let more = files.load(&path, &KgLoad::default()).unwrap();
    assert_eq!((more.added, more.removed, more.facts), (1, 0, again.facts + 1));
    let only = files.load(&path, &KgLoad { replace: true, ..KgLoad::default() }).unwrap();
    assert_eq!((only.added, only.removed, only.facts), (0, again.facts, 1));
    assert_eq!(files.unload(Some("reef.ttl")).unwrap(), ["reef.ttl"]);
    assert!(files.list().is_empty());
}

#[test]
fn a_graph_that_cannot_be_loaded_is_told_by_what_to_do() {
    let (dir, files) = loaded(&[]);
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        files.load(&path, &KgLoad::default()).unwrap_err().to_string()
    };
    assert!(write("a.bin", "x").contains("--format"));
    assert!(write("empty.ttl", "# nothing\n").contains("no facts"));
    assert!(write("a.rdf", "<rdf:RDF").contains("line 1"));
    let missing = files.load(Path::new("/no/such.ttl"), &KgLoad::default()).unwrap_err();
    assert!(missing.to_string().contains("/no/such.ttl"));
    assert!(files.unload(Some("a")).unwrap_err().to_string().contains("none is loaded"));
}

#[test]
fn every_notation_gives_the_same_facts() {
    let fact = "<http://a.example/s> <http://a.example/p> <http://a.example/o>";
    let xml = r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://a.example/">
        <rdf:Description rdf:about="http://a.example/s"><e:p rdf:resource="http://a.example/o"/></rdf:Description>
        </rdf:RDF>"#;
    let of = |name: &str, text: &str| {
        let (_dir, files) = loaded(&[(name, text)]);
        std::fs::read_to_string(&files.list()[0].path).unwrap()
    };
    let plain = of("a.nt", &format!("{fact} ."));
    assert_eq!(plain, format!("{fact} .\n"));
    assert_eq!(of("a.ttl", "@prefix e: <http://a.example/> . e:s e:p e:o ."), plain);
    assert_eq!(of("a.nq", &format!("{fact} <http://a.example/g> .")), plain);
    assert_eq!(of("a.trig", &format!("<http://a.example/g> {{ {fact} }}")), plain);
    assert_eq!(of("a.rdf", xml), plain);
}

#[tokio::test]
async fn loaded_graphs_are_read_when_asked_and_again_when_they_change() {
    let dir = tempfile::tempdir().unwrap();
    let graphs = KgGraphs::at(dir.path().join("kg"), "en");
    assert!(graphs.is_empty());
    let empty = graphs.fingerprint().unwrap();
    let path = dir.path().join("reef.ttl");
    std::fs::write(&path, REEF).unwrap();
    graphs.load(&path, &KgLoad::default()).unwrap();
    assert_ne!(graphs.fingerprint().unwrap(), empty);
    let facts = graphs.facts();
    assert!(
        facts.about().contains("person") && facts.about().contains("keeper"),
        "{}",
        facts.about()
    );
    assert_eq!(facts.find("Far Light", None, 5).await.unwrap().len(), 1);
    let more = dir.path().join("more.nt");
    let label = "<http://www.w3.org/2000/01/rdf-schema#label>";
    std::fs::write(&more, format!("<http://a.example/new> {label} \"New Light\" .\n")).unwrap();
    graphs.load(&more, &KgLoad { graph: Some("two words/ü".into()), ..KgLoad::default() }).unwrap();
    assert_eq!(facts.find("New Light", None, 5).await.unwrap().len(), 1);
    let names: Vec<String> = graphs.list().into_iter().map(|graph| graph.name).collect();
    assert_eq!(names, ["reef.ttl", "two words/ü"]);
    let figures = graphs.figures().unwrap();
    assert_eq!((figures.unlabelled, figures.classes[0].1), (0, 2));
    assert_eq!(graphs.unload(None).unwrap().len(), 2);
    assert!(facts.find("Far Light", None, 5).await.unwrap().is_empty());
    assert_eq!(graphs.fingerprint().unwrap(), empty);
}
