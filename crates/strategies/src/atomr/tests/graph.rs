//! What the graph says to each operator, and what it leaves to a reader.
use halma_core::{Meter, Models, Prompts, Setup};

use super::super::answers::Thing;
use super::super::graph::{self, GraphResult};
use super::super::operators::Operation;
use super::*;

fn family() -> ToyFacts {
    ToyFacts::new(&[
        ("ann", "Ann Lie", "keeper", "person"),
        ("bo", "Bo Lie", "sailor", "person"),
        ("cy", "Cy Lie", "baker", "person"),
        ("bo2", "Bo Lie", "painter", "person"),
        ("oslo", "Oslo", "capital of Norway", "city"),
    ])
    .with_alias("oslo", "Kristiania")
    .with_facts(&[
        ("ann", "child", "bo"),
        ("bo", "child", "cy"),
        ("bo", "born", "1901-05-02"),
        ("bo2", "born", "1950"),
        ("cy", "born", "1930"),
        ("cy", "height", "171 cm"),
    ])
}

async fn ask_graph(operation: &Operation) -> GraphResult {
    let models = Models::new(Script::new([]));
    let prompts = Arc::new(Prompts::shipped(&[]).unwrap());
    let facts = Some(family().shared() as Arc<dyn Facts>);
    let setup = Setup { facts, ..Setup::new(models, Toy::empty(), prompts) };
    let cx = Cx::new(Arc::new(setup), Arc::new(Meter::unlimited()), None);
    graph::ask(operation, &Atomr::default(), &cx.facts().unwrap()).await.unwrap()
}

fn thing(name: &str) -> Thing {
    Thing { name: name.into(), entities: vec![] }
}

fn relate(head: &str, relation: &str, tails: &[&str]) -> Operation {
    let tails = tails.iter().map(|tail| thing(tail)).collect();
    Operation::Relate { heads: vec![thing(head)], relation: relation.into(), tails }
}

async fn answers(operation: &Operation) -> Vec<String> {
    ask_graph(operation).await.answers.unwrap_or_default()
}

#[tokio::test]
async fn a_search_is_decided_by_name_and_descriptor() {
    let search = |name: &str, descriptor: Option<&str>| Operation::Search {
        names: vec![name.into()],
        descriptor: descriptor.map(str::to_owned),
    };
    let result = ask_graph(&search("Bo Lie", Some("painter"))).await;
    assert_eq!(result.answers.unwrap(), ["Bo Lie"]);
    assert_eq!(result.entities.len(), 1);
    assert_eq!(result.lines, ["Bo Lie: painter; person"]);
    // Both, where nothing tells them apart: one name, two entities.
    let result = ask_graph(&search("Bo Lie", None)).await;
    assert_eq!((result.answers.unwrap().len(), result.entities.len()), (1, 2));
    assert_eq!(answers(&search("Kristiania", None)).await, ["Oslo"]);
    assert!(ask_graph(&search("Bergen", None)).await.answers.is_none());
}

#[tokio::test]
async fn an_entitys_own_facts_count_before_those_that_lead_to_it() {
    assert_eq!(answers(&relate("Ann Lie", "child", &[])).await, ["Bo Lie"]);
    // Bo has a child and is one.
    assert_eq!(answers(&relate("Bo Lie", "child", &[])).await, ["Cy Lie"]);
    assert_eq!(answers(&relate("Cy Lie", "child", &[])).await, ["Bo Lie"]);
    assert_eq!(answers(&relate("Cy Lie", "height", &[])).await, ["171 cm"]);
    assert!(answers(&relate("Cy Lie", "currency", &[])).await.is_empty());
    assert!(answers(&relate("Nobody", "child", &[])).await.is_empty());
}

#[tokio::test]
async fn what_relates_two_things_is_asked_in_three_ways() {
    assert_eq!(answers(&relate("Cy Lie", "", &["Bo Lie"])).await, ["child"]);
    assert_eq!(answers(&relate("Cy Lie", "Bo Lie", &[])).await, ["child"]);
    assert!(answers(&relate("Cy Lie", "", &["Oslo"])).await.is_empty());
    // Whether a third thing is what was found is for the reader to say.
    let third = ask_graph(&relate("Cy Lie", "child", &["Ann Lie"])).await;
    assert!(third.answers.is_none());
    assert_eq!(third.lines, ["Bo Lie – child – Cy Lie"]);
}

#[tokio::test]
async fn comparisons_are_decided_and_other_conditions_left_to_the_reader() {
    let filter = |condition: &str| Operation::Filter {
        entities: ["Ann Lie", "Bo Lie", "Cy Lie"].map(thing).to_vec(),
        condition: condition.into(),
    };
    let kept = ask_graph(&filter("born before 1940")).await;
    assert_eq!(kept.answers.unwrap(), ["Bo Lie", "Cy Lie"]);
    assert_eq!(kept.lines, ["Bo Lie – born – 1901-05-02", "Cy Lie – born – 1930"]);
    assert!(ask_graph(&filter("born after 1990")).await.answers.is_none());
    let left = ask_graph(&filter("has a child")).await;
    assert!(left.answers.is_none());
    assert!(left.lines.contains(&"Ann Lie – child – Bo Lie".to_owned()), "{:?}", left.lines);
}

#[test]
fn an_operation_is_written_as_in_a_plan() {
    assert_eq!(relate("Ann", "child", &[]).to_string(), r#"Relate("Ann", "child")"#);
    assert_eq!(relate("Ann", "", &["Bo"]).to_string(), r#"Relate("Ann", "Bo")"#);
    let search = Operation::Search { names: vec!["Oslo".into()], descriptor: Some("city".into()) };
    assert_eq!(search.to_string(), r#"Search("Oslo", "city")"#);
    let entities = (0..9).map(|i| thing(&format!("t{i}"))).collect();
    let filter = Operation::Filter { entities, condition: "old".into() };
    let written = r#"Filter(["t0", "t1", "t2", "t3", "t4" and 4 more], "old")"#;
    assert_eq!(filter.to_string(), written);
}
