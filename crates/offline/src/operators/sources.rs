//! Task `sources`: which sources each look-up of a plan asks, by rule.
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::lists::cue;

#[derive(Debug, Deserialize)]
pub(crate) struct SourcesInput {
    leaves: Vec<Leaf>,
    sources: Vec<Source>,
}

#[derive(Debug, Deserialize)]
struct Leaf {
    number: usize,
    #[serde(default, rename = "asked")]
    question: String,
    /// The call as the plan writes it.
    #[serde(default)]
    operator: String,
}

#[derive(Debug, Deserialize)]
struct Source {
    name: String,
    #[serde(default)]
    about: String,
}

/// A relation of more words is a description and not a property of a graph.
const MAX_PROPERTY_WORDS: usize = 4;

/// The texts always; a graph for names and properties; the web for what is recent, for what is not a
/// property, and where there is no other source.
pub(crate) fn reply(input: &SourcesInput) -> String {
    let mut chosen = Map::new();
    for leaf in &input.leaves {
        let asks = |source: &&Source| match kind(source) {
            Kind::Graph => fits_graph(&leaf.operator),
            Kind::Web => cue("recent", &leaf.question).is_some() || !fits_graph(&leaf.operator),
            Kind::Text => true,
        };
        let names: Vec<&str> =
            input.sources.iter().filter(asks).map(|source| source.name.as_str()).collect();
        let all = || input.sources.iter().map(|source| source.name.as_str()).collect();
        let names: Vec<&str> = if names.is_empty() { all() } else { names };
        chosen.insert(leaf.number.to_string(), json!(names));
    }
    json!({ "sources": Value::Object(chosen) }).to_string()
}

enum Kind {
    Graph,
    Web,
    Text,
}

fn kind(source: &Source) -> Kind {
    let about = source.about.to_lowercase();
    let says =
        |words: &[&str]| words.iter().any(|word| about.split_whitespace().any(|w| w == *word));
    match source.name.as_str() {
        "kg" => Kind::Graph,
        "web" => Kind::Web,
        "text" => Kind::Text,
        _ if says(&["graph", "facts", "triples"]) => Kind::Graph,
        _ if says(&["web", "internet"]) => Kind::Web,
        _ => Kind::Text,
    }
}

/// Whether the call asks for something by a name, or for a property.
fn fits_graph(operator: &str) -> bool {
    let Some((name, inside)) = operator.split_once('(') else { return false };
    let arguments: Vec<&str> = inside.trim_end_matches(')').splitn(2, ", ").collect();
    let first = arguments.first().map(|text| text.trim_matches('"')).unwrap_or_default();
    let named = first.starts_with('[') || first.chars().any(char::is_uppercase);
    let words = arguments.get(1).map_or(0, |text| text.split_whitespace().count());
    named && (name != "Relate" || words <= MAX_PROPERTY_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_look_up_gets_fitting_sources() {
        let leaf = |number, question: &str, operator: &str| json!({ "number": number, "asked": question, "operator": operator });
        let variables = json!({
            "sources": [
                { "name": "text", "about": "documents" },
                { "name": "kg", "about": "a graph of facts" },
                { "name": "web", "about": "the web" },
            ],
            "leaves": [
                leaf(1, "Who or what is Varn?", "Search(\"Varn\")"),
                leaf(2, "When was [1] built?", "Relate([1], \"date built\")"),
                leaf(3, "Why?", "Relate([1], \"reason why the keeper of it left the island\")"),
                leaf(4, "Who is its keeper today?", "Search(\"keeper\")"),
            ],
        });
        let input: SourcesInput = serde_json::from_value(variables).unwrap();
        let chosen: Value = serde_json::from_str(&reply(&input)).unwrap();
        assert_eq!(
            chosen["sources"],
            json!({ "1": ["text", "kg"], "2": ["text", "kg"], "3": ["text", "web"], "4": ["text", "web"] })
        );
        let only: SourcesInput = serde_json::from_value(json!({
            "sources": [{ "name": "web" }], "leaves": [leaf(7, "Who?", "")],
        }))
        .unwrap();
        assert_eq!(reply(&only), r#"{"sources":{"7":["web"]}}"#);
    }
}
