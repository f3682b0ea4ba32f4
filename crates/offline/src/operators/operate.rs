//! Task `operate`: the results of `Search`, `Relate` and `Filter` in passages and facts.
use halma_core::text::normalise_name;
use halma_core::{AnswerKind, Question};
use serde::Deserialize;
use serde_json::json;

use crate::input::Passage;
use crate::links::{mentions, plain_title};
use crate::read::{ReadInput, Reader};

#[derive(Debug, Deserialize)]
pub(crate) struct OperateInput {
    #[serde(rename = "asked")]
    question: String,
    operator: Operator,
    #[serde(default)]
    entities: Vec<String>,
    #[serde(default)]
    context: Vec<Passage>,
    /// `head – relation – tail`, as the graph fitted them; of a Search `label: what it is`.
    #[serde(default)]
    facts: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Operator {
    name: String,
    #[serde(default)]
    arguments: Vec<String>,
}

pub(crate) fn reply(reader: &Reader<'_>, input: &OperateInput) -> String {
    let answers = match input.operator.name.as_str() {
        "Search" => search(reader, input),
        "Filter" => filter(reader, input),
        _ => relate(reader, input),
    };
    json!({ "answer": answers.join(", "), "answers": answers }).to_string()
}

/// The titles and names that match the entity; without any, the question is read.
fn search(reader: &Reader<'_>, input: &OperateInput) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for name in &input.entities {
        let same = |title: &&str| normalise_name(title) == normalise_name(name);
        let titles = || input.context.iter().map(|passage| plain_title(&passage.title));
        let heads = || input.facts.iter().map(|fact| head(fact));
        let names_it = |passage: &Passage| mentions(&passage.text, name);
        if let Some(title) = heads().chain(titles()).find(same) {
            names.push(title.to_owned());
        } else if input.context.iter().any(names_it) {
            names.push(name.clone());
        }
    }
    if names.is_empty() { answer(&input.question, input.passages(), reader) } else { names }
}

/// The subject of a line of facts.
fn head(fact: &str) -> &str {
    let end = fact.find(" – ").or_else(|| fact.find(": ")).unwrap_or(fact.len());
    &fact[..end]
}

/// The other ends of the facts, which the graph chose for the relation; only those with the same
/// words for it, if there are any. Without facts, the question is read.
fn relate(reader: &Reader<'_>, input: &OperateInput) -> Vec<String> {
    let lexicon = reader.lexicon;
    let relation_stems = input.operator.arguments.get(1).map(|text| lexicon.content(text));
    let fits = |relation: &str| {
        let stems = lexicon.content(relation);
        relation_stems.as_ref().is_some_and(|wanted| !stems.is_empty() && stems == *wanted)
    };
    let ours =
        |end: &str| input.entities.iter().any(|one| normalise_name(one) == normalise_name(end));
    let end = |fact: &String| {
        let mut parts = fact.splitn(3, " – ");
        let (head, relation, tail) = (parts.next()?, parts.next()?, parts.next()?);
        let other = if ours(head) { tail } else { Some(head).filter(|_| ours(tail))? };
        Some((fits(relation), other.to_owned()))
    };
    let ends: Vec<(bool, String)> = input.facts.iter().filter_map(end).collect();
    let same_words = ends.iter().any(|(fits, _)| *fits);
    let chosen = ends.into_iter().filter(|(fits, _)| *fits || !same_words);
    let mut ends: Vec<String> = chosen.map(|(_, end)| end).collect();
    ends.dedup();
    if ends.is_empty() { answer(&input.question, input.passages(), reader) } else { ends }
}

/// The entities that meet the condition according to the passages that name them.
fn filter(reader: &Reader<'_>, input: &OperateInput) -> Vec<String> {
    let Some(condition) = input.operator.arguments.last() else { return vec![] };
    let meets = |name: &&String| {
        let about =
            |passage: &Passage| mentions(&passage.title, name) || mentions(&passage.text, name);
        let context: Vec<Passage> = input.passages().into_iter().filter(about).collect();
        let question = format!("Is {name} {condition}?");
        let kind = AnswerKind::YesNo;
        let question = Question { answer_kind: kind, ..Question::new(&question) };
        reader.read(&ReadInput::new(question, context)).text == "yes"
    };
    input.entities.iter().filter(meets).cloned().collect()
}

impl OperateInput {
    /// The facts as passages about their heads, before the others.
    fn passages(&self) -> Vec<Passage> {
        let fact = |text: &String| Passage {
            title: head(text).to_owned(),
            text: format!("{}.", text.replace(" – ", " ")),
            ..Passage::default()
        };
        self.facts.iter().map(fact).chain(self.context.iter().cloned()).collect()
    }
}

/// The answers that are read from the passages.
fn answer(question: &str, context: Vec<Passage>, reader: &Reader<'_>) -> Vec<String> {
    let answer = reader.read(&ReadInput::new(Question::new(question), context)).text;
    let each = answer.split([';', '|']).map(str::trim).filter(|one| !one.is_empty());
    each.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::lexicon::Lexicon;

    fn answers(operator: &str, arguments: &[&str], entities: &[&str], facts: &[&str]) -> Value {
        let question = match operator {
            "Search" => format!("Who or what is {}?", entities[0]),
            "Relate" => "Who directed Low Tide?".to_owned(),
            _ => "Which of them?".to_owned(),
        };
        let variables = json!({
            "asked": question,
            "operator": { "name": operator, "arguments": arguments },
            "entities": entities,
            "facts": facts,
            "context": [
                { "title": "Low Tide", "text": "Low Tide is a film of 1974. It was directed by Mara Quill." },
                { "title": "Mara Quill", "text": "Mara Quill was a Danish painter." },
                { "title": "Orla Finch", "text": "Orla Finch was a Welsh singer." },
            ],
        });
        let input: OperateInput = serde_json::from_value(variables).unwrap();
        let reader = Reader { lexicon: &Lexicon::new(), trained: None };
        let reply: Value = serde_json::from_str(&reply(&reader, &input)).unwrap();
        reply["answers"].clone()
    }

    #[test]
    fn each_operator_finds_what_it_is_for() {
        assert_eq!(answers("Search", &["low tide"], &["low tide"], &[]), json!(["Low Tide"]));
        assert_eq!(
            answers("Relate", &["Low Tide", "director"], &["Low Tide"], &[]),
            json!(["Mara Quill"])
        );
        let facts = ["Low Tide – director – Ben Orr", "Low Tide – director – Ada Orr"];
        let directors = answers("Relate", &["Low Tide", "director"], &["Low Tide"], &facts);
        assert_eq!(directors, json!(["Ben Orr", "Ada Orr"]));
        // The graph's words for a relation are its own, and it reads both ways.
        let facts = ["Ada Orr – films directed – Low Tide"];
        let directors = answers("Relate", &["Low Tide", "director"], &["Low Tide"], &facts);
        assert_eq!(directors, json!(["Ada Orr"]));
        let named = ["Orin: moon of a planet; moon"];
        assert_eq!(answers("Search", &["orin"], &["orin"], &named), json!(["Orin"]));
        let painters = ["Mara Quill", "Orla Finch", "Nobody Else"];
        assert_eq!(answers("Filter", &["", "a painter"], &painters, &[]), json!(["Mara Quill"]));
    }
}
