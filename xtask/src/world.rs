//! The second sample (`demo/world`): every answer lies where its question says that it lies.
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::tidy::{Source, Violation};

const QUESTIONS: &str = "demo/world/questions.jsonl";
const PLANS: &str = "demo/world/graph_questions.jsonl";
const GRAPH: &str = "demo/world/graph.ttl";
const DOCUMENTS: &str = "demo/world/documents/";
const WEB: &str = "demo/world/web/";
const HINT: &str = "see demo/world/README.md";

const KINDS: &[&str] = &["kg-text", "kg-web", "text-web"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorldQuestion {
    index: u64,
    #[serde(rename = "type")]
    kind: String,
    question: String,
    sub_q1: String,
    sub_source1: Place,
    entity: String,
    sub_q2: String,
    sub_source2: Place,
    answers: Vec<String>,
}

/// Where the answer of a sub-question lies.
#[derive(Deserialize)]
#[serde(tag = "source", rename_all = "lowercase")]
enum Place {
    Text { document: String },
    Web { address: String },
    Kg { triples: Vec<(String, String, String, String)> },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Planned {
    id: String,
    question: String,
    plan: Map<String, Value>,
    answers: Vec<String>,
}

pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let mut violations = vec![];
    for source in sources {
        match source.path.as_str() {
            QUESTIONS => violations.extend(questions(source, sources)),
            PLANS => violations.extend(plans(source, sources)),
            _ => {}
        }
    }
    violations
}

fn questions(source: &Source, sources: &[Source]) -> Vec<Violation> {
    let mut ids = BTreeSet::new();
    by_line(source, |line| match serde_json::from_str::<WorldQuestion>(line) {
        Ok(asked) => {
            let mut wrong = question(&asked, sources);
            if !ids.insert(asked.index) {
                wrong.push(format!("question {} is there twice", asked.index));
            }
            wrong
        }
        Err(error) => vec![format!("this line is not a question: {error}")],
    })
}

fn question(asked: &WorldQuestion, sources: &[Source]) -> Vec<String> {
    let mut wrong = vec![];
    let (first, second) = (asked.sub_source1.name(), asked.sub_source2.name());
    let kind = |one: &str, other: &str| asked.kind == format!("{one}-{other}");
    if !KINDS.contains(&asked.kind.as_str()) || !(kind(first, second) || kind(second, first)) {
        wrong.push(format!("`{}` does not fit the sources {first}, {second}", asked.kind));
    }
    if [&asked.question, &asked.sub_q1, &asked.sub_q2].iter().any(|text| text.trim().is_empty()) {
        wrong.push("a question is empty".into());
    }
    if asked.question.contains(&asked.entity) {
        wrong.push(format!("the question names its bridge `{}`", asked.entity));
    }
    let places = [
        (&asked.sub_source1, std::slice::from_ref(&asked.entity)),
        (&asked.sub_source2, asked.answers.as_slice()),
    ];
    wrong.extend(places.into_iter().filter_map(|(place, said)| place.lacks(said, sources)));
    wrong
}

impl Place {
    fn name(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::Web { .. } => "web",
            Self::Kg { .. } => "kg",
        }
    }

    /// Says so when none of these is what the place says.
    fn lacks(&self, said: &[String], sources: &[Source]) -> Option<String> {
        let held = match self {
            Self::Text { document } => {
                let path = format!("{DOCUMENTS}{document}");
                match sources.iter().find(|source| source.path == path) {
                    Some(source) => source.text.clone(),
                    None => return Some(format!("{path} is not there")),
                }
            }
            Self::Web { address } => match result(address, sources) {
                Some(text) => text,
                None => return Some(format!("no web result has the address {address}")),
            },
            Self::Kg { triples } => {
                let graph = graph(sources);
                let unknown = triples.iter().find_map(|(head, relation, tail, _)| {
                    [head, relation, tail].into_iter().find(|part| !in_graph(&graph, part))
                });
                if let Some(unknown) = unknown {
                    return Some(format!("`{unknown}` is not in {GRAPH}"));
                }
                let ends = triples.iter().flat_map(|(head, _, tail, _)| [head, tail]);
                ends.map(String::as_str).collect::<Vec<_>>().join("\n")
            }
        };
        let held = plain(&held);
        let lacking = !said.iter().any(|one| held.contains(&plain(one)));
        lacking.then(|| format!("none of {said:?} is in its source ({})", self.name()))
    }
}

/// Small letters and single blanks: a line break is none in a sentence.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the results of an address say.
fn result(address: &str, sources: &[Source]) -> Option<String> {
    let mut texts = vec![];
    for source in sources.iter().filter(|source| source.path.starts_with(WEB)) {
        if let Ok(value) = serde_json::from_str(&source.text) {
            gather(&value, address, &mut texts);
        }
    }
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn gather(value: &Value, address: &str, texts: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if fields.values().any(|field| field.as_str() == Some(address)) {
                texts.extend(fields.values().filter_map(Value::as_str).map(str::to_owned));
            }
            fields.values().for_each(|field| gather(field, address, texts));
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, address, texts)),
        _ => {}
    }
}

fn graph(sources: &[Source]) -> String {
    let found = sources.iter().find(|source| source.path == GRAPH);
    found.map(|source| source.text.clone()).unwrap_or_default()
}

/// A label, or a value with or without its unit.
fn in_graph(graph: &str, part: &str) -> bool {
    let value = part.split(' ').next().unwrap_or(part);
    let number = value.parse::<f64>().is_ok() && graph.contains(&format!(" {value} "));
    graph.contains(&format!("\"{part}\"")) || number
}

fn plans(source: &Source, sources: &[Source]) -> Vec<Violation> {
    let graph = graph(sources);
    let mut ids = BTreeSet::new();
    by_line(source, |line| match serde_json::from_str::<Planned>(line) {
        Ok(planned) => {
            let mut wrong = plan(&planned, &graph);
            if !ids.insert(planned.id.clone()) {
                wrong.push(format!("`{}` is there twice", planned.id));
            }
            wrong
        }
        Err(error) => vec![format!("this line is not a planned question: {error}")],
    })
}

fn plan(planned: &Planned, graph: &str) -> Vec<String> {
    let mut wrong = vec![];
    if planned.answers.is_empty() {
        wrong.push("it has no answers".into());
    }
    let unknown = planned.answers.iter().filter(|answer| !in_graph(graph, answer));
    wrong.extend(unknown.map(|answer| format!("`{answer}` is not in {GRAPH}")));
    let steps = planned.plan.get(&planned.question).and_then(Value::as_array);
    let Some(steps) = steps else {
        wrong.push("its plan does not begin with its question".into());
        return wrong;
    };
    for step in steps.iter().filter_map(Value::as_str) {
        if !planned.plan.contains_key(step) {
            wrong.push(format!("its plan does not say how to do `{step}`"));
        }
    }
    for (step, call) in planned.plan.iter().filter(|(step, _)| **step != planned.question) {
        let call = call.as_str().unwrap_or_default();
        let operator = ["Search(", "Relate(", "Filter("].iter().any(|name| call.starts_with(name));
        if !operator {
            wrong.push(format!("`{call}` is not a call of an operator"));
        }
        let number = |text: &str| text.split(". ").next()?.parse::<usize>().ok();
        let (own, known) = (number(step), planned.plan.keys().filter_map(|key| number(key)));
        let known: BTreeSet<usize> = known.collect();
        let unmet = |asked: &usize| !known.contains(asked) || own.is_none_or(|own| *asked >= own);
        let unmet = references(call).into_iter().find(unmet);
        wrong.extend(unmet.map(|asked| format!("`{call}` asks for [{asked}] too early")));
    }
    wrong
}

/// The numbers in brackets.
fn references(call: &str) -> Vec<usize> {
    let opened = call.split('[').skip(1);
    opened.filter_map(|rest| rest.split_once(']')?.0.parse().ok()).collect()
}

fn by_line(source: &Source, mut wrong: impl FnMut(&str) -> Vec<String>) -> Vec<Violation> {
    let lines = source.text.lines().enumerate();
    let found = lines.flat_map(|(index, line)| {
        wrong(line).into_iter().map(move |what| source.violation(index + 1, what, HINT))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{said, sources};

    const TURTLE: &str = "w:titan rdfs:label \"Titan\"@en ; p:radius 2575 . \
                          p:radius rdfs:label \"mean radius\"@en .";
    const NOTE: (&str, &str) = ("demo/world/documents/titan.md", "Kraken Mare lies\non Titan.");

    fn asked(index: u64, kind: &str, bridge: &str, triple: &str) -> String {
        format!(
            r#"{{"index":{index},"type":"{kind}","question":"How large?","sub_q1":"Where?","sub_source1":{{"source":"text","document":"titan.md"}},"entity":"{bridge}","sub_q2":"Size?","sub_source2":{{"source":"kg","triples":[{triple}]}},"answers":["2575 km"]}}"#
        )
    }

    fn violations(lines: &str) -> Vec<String> {
        said(&check(&sources(&[(QUESTIONS, lines), NOTE, (GRAPH, TURTLE)])))
    }

    const RADIUS: &str = r#"["Titan","mean radius","2575 km","forward"]"#;

    #[test]
    fn what_lies_in_its_sources_is_fine() {
        assert!(violations(&asked(1, "kg-text", "Titan", RADIUS)).is_empty());
    }

    #[test]
    fn what_lies_elsewhere_is_named() {
        let wrong = r#"["Titan","mean radius","2576 km","forward"]"#;
        let lines = [
            asked(1, "kg-text", "Rhea", RADIUS),
            asked(1, "kg-web", "Titan", RADIUS),
            asked(3, "kg-text", "Titan", wrong),
        ];
        assert_eq!(
            violations(&lines.join("\n")),
            [
                format!("{QUESTIONS}:1: none of [\"Rhea\"] is in its source (text)"),
                format!("{QUESTIONS}:2: `kg-web` does not fit the sources text, kg"),
                format!("{QUESTIONS}:2: question 1 is there twice"),
                format!("{QUESTIONS}:3: `2576 km` is not in {GRAPH}"),
            ]
        );
    }

    #[test]
    fn a_web_result_is_found_by_its_address() {
        let line = r#"{"index":1,"type":"text-web","question":"Who?","sub_q1":"Where?","sub_source1":{"source":"text","document":"titan.md"},"entity":"Titan","sub_q2":"Who?","sub_source2":{"source":"web","address":"https://a.example/1"},"answers":["Ann"]}"#;
        let page = |said: &str| {
            format!(r#"{{"results":[{{"url":"https://a.example/1","content":"{said}"}}]}}"#)
        };
        let told = |text: &str| {
            said(&check(&sources(&[(QUESTIONS, line), NOTE, ("demo/world/web/a.json", text)])))
        };
        assert!(told(&page("By Ann.")).is_empty());
        let lacking = format!("{QUESTIONS}:1: none of [\"Ann\"] is in its source (web)");
        assert_eq!(told(&page("By Bob.")), [lacking]);
        let missing = format!("{QUESTIONS}:1: no web result has the address https://a.example/1");
        assert_eq!(told("{}"), [missing]);
    }

    #[test]
    fn a_plan_refers_backwards_only() {
        let line = r#"{"id":"a","question":"Q?","plan":{"Q?":["1. a","2. b"],"1. a":"Search(\"Titan\")","2. b":"Relate([2], \"x\")"},"answers":["Titan","Hyperion"]}"#;
        let files = sources(&[(PLANS, line), (GRAPH, TURTLE)]);
        assert_eq!(
            said(&check(&files)),
            [
                format!("{PLANS}:1: `Hyperion` is not in {GRAPH}"),
                format!("{PLANS}:1: `Relate([2], \"x\")` asks for [2] too early"),
            ]
        );
    }
}
