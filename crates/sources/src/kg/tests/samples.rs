//! A small graph for tests.
use halma_core::EntityId;

use crate::kg::loaded::{Files, KgLoad, read};
use crate::kg::operators::Operators;

pub(crate) const REEF: &str = r#"
@prefix : <http://a.example/> .
@prefix p: <http://a.example/p/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> .
@prefix qudt: <http://qudt.org/schema/qudt/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

:Lighthouse a rdfs:Class ; rdfs:label "lighthouse"@en, "Leuchtturm"@de ; rdfs:subClassOf :Building .
:Building a rdfs:Class ; rdfs:label "building"@en .
:Person a rdfs:Class ; rdfs:label "person"@en .
:Place a rdfs:Class ; rdfs:label "place"@en .
p:keeper rdfs:label "keeper"@en ; skos:altLabel "kept by"@en .
p:height rdfs:label "height"@en ; schema:unitText "m" .
p:built rdfs:label "date of construction"@en .
p:placeOfBirth rdfs:label "place of birth"@en .
p:child rdfs:label "child"@en .
p:site rdfs:label "located in"@en .
p:depth rdfs:label "depth"@en .

:far a :Lighthouse ; rdfs:label "Far Light"@en, "Fernes Licht"@de ; skos:altLabel "The Light"@en ;
  schema:description "tower on a reef"@en ; p:keeper :anna ; p:height 31.5 ; p:site :cove ;
  p:built "1886-05-01"^^xsd:date ; p:depth [ qudt:numericValue 2.0 ; qudt:unit qudt:M ] .
:near a :Lighthouse ; rdfs:label "Near Light"@en ; skos:altLabel "The Light"@en ;
  schema:description "tower on a pier"@en ; p:keeper :anna, :ben ; p:height 12 ; p:site :town ;
  p:built "1901"^^xsd:gYear .
:anna a :Person ; rdfs:label "Anna Roe"@en ; p:placeOfBirth :cove ; p:child :ben .
:ben a :Person ; rdfs:label "Ben Roe"@en ; p:placeOfBirth :town .
:cove a :Place ; rdfs:label "Cove"@en . :town a :Place ; rdfs:label "Town"@en .
"#;

pub(crate) fn loaded(texts: &[(&str, &str)]) -> (tempfile::TempDir, Files) {
    let dir = tempfile::tempdir().unwrap();
    let files = Files(dir.path().join("kg"));
    for (name, text) in texts {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        files.load(&path, &KgLoad::default()).unwrap();
    }
    (dir, files)
}

pub(crate) fn reef() -> Operators {
    let (_dir, files) = loaded(&[("reef.ttl", REEF)]);
    Operators::new(read(&files, "en").unwrap(), String::new())
}

pub(crate) fn id(name: &str) -> EntityId {
    EntityId(format!("http://a.example/{name}"))
}
