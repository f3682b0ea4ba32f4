//! KQA Pro's form of a knowledge base.
use halma_core::{EntityId, Facts as _};

use crate::kg::loaded::{Files, KgError, KgLoad, read};
use crate::kg::operators::Operators;

const KB: &str = r#"{
  "concepts": {
    "Q1": {"name": "lighthouse", "instanceOf": ["Q2"]},
    "Q2": {"name": "building", "instanceOf": []},
    "Q3": {"name": "person", "instanceOf": []}
  },
  "entities": {
    "Q70": {"name": "Far Light", "instanceOf": ["Q1"],
      "attributes": [
        {"key": "height", "value": {"type": "quantity", "value": 31.5, "unit": "metre"}, "qualifiers": {}},
        {"key": "number of lamps", "value": {"type": "quantity", "value": 12.0, "unit": "1"}},
        {"key": "inception", "value": {"type": "year", "value": 1886}, "qualifiers": {}},
        {"key": "official website", "value": {"type": "string", "value": "http://far.example/ \"x\""}}
      ],
      "relations": [
        {"predicate": "keeper", "object": "Q71", "direction": "forward",
         "qualifiers": {"start time": [{"type": "year", "value": 1901}],
                        "end time": [{"type": "date", "value": "1930-05-01"}]}},
        {"predicate": "keeper", "object": "Q72", "direction": "forward", "qualifiers": {}}
      ]},
    "Q71": {"name": "Anna Roe", "instanceOf": ["Q3"],
      "attributes": [{"key": "date of birth", "value": {"type": "date", "value": "1870/03/02"}}],
      "relations": [
        {"predicate": "keeper", "object": "Q70", "direction": "backward",
         "qualifiers": {"start time": [{"type": "year", "value": 1901}],
                        "end time": [{"type": "date", "value": "1930-05-01"}]}}
      ]},
    "Q72": {"name": "Ben Roe", "instanceOf": ["Q3"], "attributes": [], "relations": []}
  }
}"#;

fn files(kb: &str) -> (tempfile::TempDir, Files, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kb.json");
    std::fs::write(&path, kb).unwrap();
    let files = Files(dir.path().join("kg"));
    (dir, files, path)
}

#[tokio::test]
async fn attributes_relations_and_qualifiers_are_facts() {
    let (_dir, files, path) = files(KB);
    files.load(&path, &KgLoad::default()).unwrap();
    let graph = Operators::new(read(&files, "en").unwrap(), String::new());
    let far = graph.find("far light", Some("building"), 9).await.unwrap();
    assert_eq!((far.len(), far[0].types.as_slice()), (1, &["lighthouse".to_owned()][..]));
    let lines = async |of: &EntityId, words: &str| -> Vec<String> {
        let facts = graph.relate(of, words).await.unwrap();
        facts.into_iter().map(|fact| fact.evidence.text).collect()
    };
    let far = &far[0].id;
    assert_eq!(lines(far, "height").await, ["Far Light – height – 31.5 metre"]);
    assert_eq!(lines(far, "number of lamps").await, ["Far Light – number of lamps – 12"]);
    assert_eq!(lines(far, "founded").await, ["Far Light – inception – 1886"]);
    assert_eq!(
        lines(far, "keeper").await,
        [
            "Far Light – keeper – Ben Roe",
            "Far Light – keeper – Anna Roe (end time: 1930-05-01, start time: 1901)",
        ]
    );
    let anna = graph.find("Anna Roe", None, 9).await.unwrap().remove(0).id;
    assert_eq!(lines(&anna, "date of birth").await, ["Anna Roe – date of birth – 1870-03-02"]);
    assert_eq!(lines(&anna, "keeper of").await, ["Far Light – keeper – Anna Roe"]);
    let both = [far.clone(), anna];
    for condition in ["height over 20 m", "is a building", "inception before 1890"] {
        let kept = graph.filter(&both, condition).await.unwrap().unwrap();
        assert_eq!(kept.len(), 1, "{condition}");
    }
    // What only holds a graph together is neither a relation nor a thing.
    let store = graph.graph.endpoint.in_process().unwrap();
    assert_eq!((store.entities.len(), store.unlabelled), (6, 0));
    assert_eq!(graph.graph.properties(&[]).await.unwrap().len(), 7);
}

#[test]
fn what_is_not_such_a_file_is_told_where() {
    let (_dir, files, path) = files("{\n \"questions\": []}");
    let KgError::Broken { line, reason, .. } = files.load(&path, &KgLoad::default()).unwrap_err()
    else {
        panic!()
    };
    assert!(line == 2 && reason.contains("concepts"), "{line} {reason}");
}
