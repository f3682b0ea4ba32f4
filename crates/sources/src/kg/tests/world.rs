//! The questions of the demo's graph, answered by the operators alone: no model, no text.
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use halma_core::{Entity, Facts, Tail};
use serde_json::Value;

use crate::kg::loaded::{Files, KgLoad, read};
use crate::kg::operators::Operators;

/// What a step of a plan came to.
#[derive(Clone)]
enum Answer {
    Entity(Entity),
    Value(String),
}

impl Answer {
    fn text(&self) -> String {
        match self {
            Self::Entity(entity) => entity.label.clone(),
            Self::Value(text) => text.clone(),
        }
    }
}

fn world() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/world")
}

fn graph() -> Operators {
    let dir = tempfile::tempdir().unwrap();
    let files = Files(dir.path().join("kg"));
    files.load(&world().join("graph.ttl"), &KgLoad::default()).unwrap();
    Operators::new(read(&files, "en").unwrap(), String::new())
}

/// `Relate([1], "mean radius")`: the operator and its arguments, the quotes taken off.
fn call(text: &str) -> (String, Vec<String>) {
    let (operator, rest) = text.split_once('(').unwrap();
    let mut arguments: Vec<String> = vec![];
    let (mut quoted, mut current) = (false, String::new());
    for c in rest.trim_end_matches(')').chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => arguments.push(std::mem::take(&mut current).trim().to_owned()),
            c => current.push(c),
        }
    }
    arguments.push(current.trim().to_owned());
    (operator.to_owned(), arguments)
}

/// Those whose score is the best.
fn best(entities: Vec<Entity>) -> Vec<Entity> {
    let top = entities.first().map_or(0.0, |first| first.score);
    entities.into_iter().filter(|entity| (entity.score - top).abs() < 1e-6).collect()
}

async fn entities(
    graph: &Operators,
    argument: &str,
    done: &BTreeMap<String, Vec<Answer>>,
) -> Vec<Entity> {
    if let Some(answers) = done.get(argument) {
        let entity = |answer: &Answer| match answer {
            Answer::Entity(entity) => entity.clone(),
            Answer::Value(text) => panic!("`{text}` is not an entity"),
        };
        return answers.iter().map(entity).collect();
    }
    best(graph.find(argument, None, 9).await.unwrap())
}

async fn step(
    graph: &Operators,
    call_text: &str,
    done: &BTreeMap<String, Vec<Answer>>,
) -> Vec<Answer> {
    let (operator, arguments) = call(call_text);
    let mut answers = vec![];
    match operator.as_str() {
        "Search" => {
            let descriptor = arguments.get(1).map(String::as_str);
            let entities = graph.find(&arguments[0], descriptor, 9).await.unwrap();
            answers.extend(best(entities).into_iter().map(Answer::Entity));
        }
        "Relate" => {
            for entity in entities(graph, &arguments[0], done).await {
                for fact in graph.relate(&entity.id, &arguments[1]).await.unwrap() {
                    answers.push(match fact.tail {
                        Tail::Entity(tail) if fact.head.id == entity.id => Answer::Entity(tail),
                        Tail::Entity(_) => Answer::Entity(fact.head),
                        tail @ Tail::Value(_) => Answer::Value(tail.shown()),
                    });
                }
            }
        }
        "Filter" => {
            let all = entities(graph, &arguments[0], done).await;
            let ids: Vec<_> = all.iter().map(|entity| entity.id.clone()).collect();
            let kept = graph.filter(&ids, &arguments[1]).await.unwrap();
            let kept = kept.unwrap_or_else(|| panic!("`{}` is undecided", arguments[1]));
            answers.extend(kept.into_iter().map(|fact| Answer::Entity(fact.head)));
        }
        other => panic!("unknown operator {other}"),
    }
    answers
}

#[tokio::test]
async fn the_graph_alone_answers_its_questions_exactly() {
    let graph = graph();
    let questions = std::fs::read_to_string(world().join("graph_questions.jsonl")).unwrap();
    let mut count = 0;
    let mut wrong = vec![];
    for line in questions.lines() {
        let question: Value = serde_json::from_str(line).unwrap();
        let mut done: BTreeMap<String, Vec<Answer>> = BTreeMap::new();
        let mut last = vec![];
        for (node, call) in question["plan"].as_object().unwrap() {
            let Some(call) = call.as_str() else { continue };
            last = step(&graph, call, &done).await;
            let number = node.split('.').next().unwrap();
            done.insert(format!("[{number}]"), last.clone());
        }
        let answers: BTreeSet<String> = last.iter().map(Answer::text).collect();
        let wanted = question["answers"].as_array().unwrap().iter();
        let wanted: BTreeSet<String> = wanted.map(|a| a.as_str().unwrap().to_owned()).collect();
        count += 1;
        if answers != wanted {
            wrong.push(format!("{}: {answers:?} for {wanted:?}", question["id"]));
        }
    }
    assert!(count >= 20 && wrong.is_empty(), "{}", wrong.join("\n"));
}
