//! `halma kg`: loading a graph and asking it.
use crate::program::Program;

const REEF: &str = r#"
@prefix : <http://a.example/> .
@prefix p: <http://a.example/p/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <http://schema.org/> .
:Lighthouse rdfs:label "lighthouse" .
p:keeper rdfs:label "keeper" . p:height rdfs:label "height" ; schema:unitText "m" .
:far a :Lighthouse ; rdfs:label "Far Light" ; p:keeper :anna ; p:height 31 .
:near a :Lighthouse ; rdfs:label "Near Light" ; p:keeper :anna ; p:height 12 .
:anna rdfs:label "Anna Roe" .
"#;

#[test]
fn a_graph_is_loaded_asked_and_removed() {
    let program = Program::new();
    program.write("reef.ttl", REEF);
    let loaded = program.run(&["kg", "load", "reef.ttl", "--json"]).json();
    assert_eq!((&loaded[0]["graph"], &loaded[0]["added"]), (&"reef.ttl".into(), &13.into()));
    let again = program.run(&["kg", "load", "reef.ttl", "--json"]).json();
    assert_eq!((&again[0]["added"], &again[0]["facts"]), (&0.into(), &13.into()));
    let shown = program.run(&["kg", "show", "--json"]).json();
    assert_eq!((&shown["loaded"]["facts"], &shown["base_facts"]), (&13.into(), &0.into()));
    let entities = program.run(&["kg", "find", "far light", "--json"]).json();
    assert_eq!(
        (&entities[0]["label"], &entities[0]["types"][0]),
        (&"Far Light".into(), &"lighthouse".into())
    );
    let facts = program.run(&["kg", "relate", "Anna Roe", "keeper of", "--json"]).json();
    let heads: Vec<_> = facts.as_array().unwrap().iter().map(|f| &f["head"]["label"]).collect();
    assert_eq!(heads, ["Far Light", "Near Light"]);
    let between = program.run(&["kg", "relate", "Anna Roe", "--to", "Far Light"]);
    assert!(between.code == 0 && between.out.contains("keeper"), "{}", between.out);
    let filter = ["kg", "filter", "Far Light", "Near Light", "--json", "--condition"];
    let kept = program.run(&[&filter[..], &["height > 20 m"]].concat()).json();
    assert_eq!((&kept["decided"], kept["facts"].as_array().unwrap().len()), (&true.into(), 1));
    let open = program.run(&[&filter[..], &["beautiful"]].concat()).json();
    assert_eq!(open["decided"], false);
    let typo = ["kg", "filter", "Far Light", "Fra Light", "--condition", "height > 20 m"];
    let typo = program.run(&typo);
    assert!(typo.code == 0 && typo.out.contains("Far Light"), "{}", typo.out);
    assert!(typo.err.contains("no entity named \"Fra Light\""), "{}", typo.err);
    assert_eq!(program.run(&["kg", "unload", "reef.ttl", "--json"]).json()[0], "reef.ttl");
    program.run(&["kg", "find", "Far Light"]).fails(2, &["no knowledge graph", "halma kg load"]);
}

#[test]
fn what_cannot_be_loaded_changes_nothing_and_is_told() {
    let program = Program::new();
    program.write("reef.ttl", REEF);
    program.run(&["kg", "load", "reef.ttl"]);
    program.write("broken.ttl", "<http://a.example/x> <http://a.example/y> 1 .\nno good .\n");
    let load = |file: &str| program.run(&["kg", "load", file]);
    load("broken.ttl").fails(2, &["broken.ttl", "line 2, column", "nothing of it was loaded"]);
    program.run(&["kg", "load", "reef.ttl", "--graph", ""]).fails(2, &["--graph"]);
    load("missing.ttl").fails(2, &["missing.ttl"]);
    program.write("notes.txt", "x");
    load("notes.txt").fails(2, &["notes.txt", "--format"]);
    program.run(&["kg", "unload", "other.ttl"]).fails(2, &["other.ttl", "loaded are `reef.ttl`"]);
    let shown = program.run(&["kg", "show", "--json"]).json();
    assert_eq!(shown["graphs"].as_array().unwrap().len(), 1);
}
