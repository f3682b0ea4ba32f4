//! Records whose fields only need to be put in their places: the `[record]` of a data set's file
//! says which field is the question, which the answer, and what is required of it.
use halma_core::AnswerKind;
use serde::Deserialize;
use serde_json::Value;

use crate::data::answers;
use crate::data::item::{Item, Passage};
use crate::data::raw_record::{Fault, RawRecord, parser_message};
use crate::metrics::{GoldPassage, number_in};

/// How a record's fields make an item. In texts, `{source.text}` is the field `text` of the
/// object `source`, `{key?}` one that may be missing, `{key|lines}` a list of texts or a text line
/// by line, and `{#}` the number of the record, from 1.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::data) struct Mapping {
    id: String,
    question: String,
    /// The field with the gold answers: a text, a number, yes or no, or a list of such.
    answer: String,
    #[serde(default = "short")]
    answer_kind: AnswerKind,
    #[serde(default)]
    kind: Option<String>,
    /// What every question offers to choose from; the answer is one of them.
    #[serde(default)]
    options: Vec<String>,
    /// What stands before the answer, with a colon of either width.
    #[serde(default)]
    answer_after: Option<String>,
    /// What stands before the answers of other sets with these keys.
    #[serde(default)]
    answer_not_after: Vec<String>,
    /// What may end the answer without being part of it.
    #[serde(default)]
    answer_without_end: Option<String>,
    /// Another spelling of an answer, and what it stands for.
    #[serde(default)]
    answer_spellings: Vec<[String; 2]>,
    /// The gold passage, which is searched as well.
    #[serde(default)]
    passage: Option<PassageMapping>,
    /// The gold passages among the documents of a corpus.
    #[serde(default)]
    gold: Option<GoldMapping>,
    /// The kinds of questions that the documents do not answer.
    #[serde(default)]
    unanswerable: Vec<String>,
}

/// A list that names passages. `{}` is an element that is a text itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct GoldMapping {
    list: String,
    /// Empty: the passage is found by its text.
    #[serde(default)]
    title: String,
    /// Empty: the passage is found by its title.
    #[serde(default)]
    text: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PassageMapping {
    title: String,
    text: String,
}

fn short() -> AnswerKind {
    AnswerKind::Short
}

impl Mapping {
    pub(in crate::data) fn item(&self, raw: &RawRecord) -> Result<Item, Fault> {
        let value = serde_json::from_str(&raw.json);
        let value = value.map_err(|error| Fault::Record(parser_message(&error)))?;
        let record = MappedRecord { value, number: raw.record };
        let mut answers = answers::read(record.required(&self.answer)?)?;
        answers[0] = self.answer(std::mem::take(&mut answers[0]))?;
        let passage = match &self.passage {
            Some(PassageMapping { title, text }) => {
                Some(Passage::plain(record.fill(title)?, record.fill(text)?))
            }
            None => None,
        };
        let kind = match self.kind.as_deref() {
            Some("{answer}") => Some(answers[0].clone()),
            Some(template) => Some(record.fill(template)?).filter(|kind| !kind.is_empty()),
            None => None,
        };
        let answerable = !kind.as_ref().is_some_and(|kind| self.unanswerable.contains(kind));
        if !answerable {
            answers.clear();
        }
        let mut gold: Vec<GoldPassage> = passage.iter().map(Into::into).collect();
        if let Some(mapping) = &self.gold {
            gold.extend(record.gold(mapping)?);
        }
        let item = Item::new(record.fill(&self.id)?, record.fill(&self.question)?, answers);
        Ok(Item {
            kind,
            gold,
            answerable,
            contexts: passage.into_iter().collect(),
            ..item.with_answer_kind(self.answer_kind).with_options(self.options.iter().cloned())
        })
    }

    fn answer(&self, given: String) -> Result<String, String> {
        if let Some(word) = self.answer_not_after.iter().find(|word| after(&given, word).is_ok()) {
            return Err(format!("the answer begins with `{word}:`; is it another task's file?"));
        }
        let mut answer = match &self.answer_after {
            Some(word) => after(&given, word)?.to_owned(),
            None => given,
        };
        if let Some(end) = &self.answer_without_end {
            answer = answer.trim_end_matches(end.as_str()).trim().to_owned();
        }
        if let Some([_, meant]) = self.answer_spellings.iter().find(|[from, _]| *from == answer) {
            answer.clone_from(meant);
        }
        if !self.options.is_empty() && !self.options.contains(&answer) {
            return Err(format!("the answer `{answer}` is not one of {}", self.options.join(", ")));
        }
        if self.answer_kind == AnswerKind::Number {
            answer = answers::plain(&answer);
            if number_in(&answer).is_none() {
                return Err(format!("the answer `{answer}` is not a number"));
            }
        }
        Ok(answer)
    }
}

/// What follows `word` and its colon, which is of either width.
pub(super) fn after<'a>(answer: &'a str, word: &str) -> Result<&'a str, String> {
    let rest = answer.trim().strip_prefix(word).and_then(|rest| rest.strip_prefix([':', '：']));
    match rest.map(str::trim) {
        Some(rest) if !rest.is_empty() => Ok(rest),
        _ => Err(format!("the answer does not begin with `{word}:`; is it another task's file?")),
    }
}

struct MappedRecord {
    value: Value,
    /// From 1.
    number: usize,
}

impl MappedRecord {
    fn required(&self, path: &str) -> Result<&Value, String> {
        let mut value = &self.value;
        for key in path.split('.').filter(|key| !key.is_empty()) {
            value = value.get(key).ok_or_else(|| format!("missing field `{key}`"))?;
        }
        Ok(value)
    }

    /// The passages that a list names, each once.
    fn gold(&self, mapping: &GoldMapping) -> Result<Vec<GoldPassage>, String> {
        let mut gold: Vec<GoldPassage> = vec![];
        let Ok(list) = self.required(&mapping.list) else { return Ok(gold) };
        let list = list.as_array().ok_or_else(|| format!("`{}` is not a list", mapping.list))?;
        for value in list {
            let element = Self { value: value.clone(), number: self.number };
            let (title, text) = (element.fill(&mapping.title)?, element.fill(&mapping.text)?);
            let passage = GoldPassage { title, text };
            if !gold.contains(&passage) {
                gold.push(passage);
            }
        }
        Ok(gold)
    }

    fn fill(&self, template: &str) -> Result<String, String> {
        let mut filled = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let (path, after) = after.split_once('}').ok_or("the mapping has an open brace")?;
            filled.push_str(before);
            filled.push_str(&self.text(path)?);
            rest = after;
        }
        Ok(filled + rest)
    }

    /// A field as text.
    fn text(&self, path: &str) -> Result<String, String> {
        if path == "#" {
            return Ok(self.number.to_string());
        }
        if let Some(path) = path.strip_suffix("|lines") {
            return self.lines(path);
        }
        let (path, optional) = path.strip_suffix('?').map_or((path, false), |path| (path, true));
        match self.required(path) {
            Err(_) | Ok(Value::Null) if optional => Ok(String::new()),
            Err(reason) => Err(reason),
            Ok(Value::String(text)) => Ok(text.clone()),
            Ok(Value::Number(number)) => Ok(number.to_string()),
            Ok(_) => Err(format!("`{path}` is not a text")),
        }
    }

    /// A list of texts, or the lines of one text, each without the white space around it.
    fn lines(&self, path: &str) -> Result<String, String> {
        let lines: Option<Vec<&str>> = match self.required(path)? {
            Value::String(text) => Some(text.lines().collect()),
            Value::Array(values) => values.iter().map(Value::as_str).collect(),
            _ => None,
        };
        let lines = lines.ok_or_else(|| format!("`{path}` is not a list of texts"))?;
        if lines.is_empty() {
            return Err(format!("`{path}` is empty"));
        }
        Ok(lines.into_iter().map(str::trim).collect::<Vec<_>>().join("\n"))
    }
}
