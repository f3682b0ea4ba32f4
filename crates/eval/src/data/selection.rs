//! Which questions of a file are asked: those that pass the filters and are listed, and of them
//! the first ones or a random sample.
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{DataError, DataSet, Item};
use crate::fingerprint;
use crate::random::Random;

/// How the questions of a report were drawn; the list is [`crate::Report::questions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    pub seed: u64,
    pub size: usize,
    /// The number of questions they were drawn from.
    pub of: usize,
}

/// What is asked of a file; the default is all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// A question must pass all of them.
    pub conditions: Vec<Condition>,
    /// A file of ids: a question must be listed in it.
    pub ids: Option<PathBuf>,
    /// At most this many, the first ones.
    pub first: Option<usize>,
    /// At most this many, drawn with the seed.
    pub random: Option<(usize, u64)>,
}

/// `kind=bridge|comparison` or `domain!=finance`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Condition {
    key: String,
    values: Vec<String>,
    negated: bool,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a condition; write for example kind=bridge, hops=2|3 or domain!=finance")]
pub struct ConditionError(String);

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let wrong = || ConditionError(text.to_owned());
        let (key, values) = text.split_once('=').ok_or_else(wrong)?;
        let (key, negated) = key.strip_suffix('!').map_or((key, false), |key| (key, true));
        let values: Vec<String> = values.split('|').map(|value| value.trim().to_owned()).collect();
        if key.trim().is_empty() || values.iter().any(String::is_empty) {
            return Err(wrong());
        }
        Ok(Self { key: key.trim().to_owned(), values, negated })
    }
}

impl TryFrom<String> for Condition {
    type Error = ConditionError;

    fn try_from(text: String) -> Result<Self, ConditionError> {
        text.parse()
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.to_string()
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.negated { "!=" } else { "=" };
        write!(f, "{}{sign}{}", self.key, self.values.join("|"))
    }
}

impl Condition {
    fn holds(&self, item: &Item) -> bool {
        let value = item.property(&self.key).unwrap_or_default();
        self.values.iter().any(|wanted| wanted.eq_ignore_ascii_case(&value)) != self.negated
    }
}

impl Selection {
    /// Removes the questions that are not selected; the others keep the file's order. Returns how
    /// they were drawn, if they were. A condition on a property that no question has, an id that
    /// none has, and a selection of nothing are errors.
    pub fn apply(&self, data: &mut DataSet) -> Result<Option<Sample>, DataError> {
        for condition in &self.conditions {
            if data.items.iter().all(|item| item.property(&condition.key).is_none()) {
                let all: BTreeSet<&str> = data.items.iter().flat_map(Item::properties).collect();
                let occurs = |key: &&str| data.items.iter().any(|one| one.property(key).is_some());
                let keys = all.into_iter().filter(occurs).collect::<Vec<_>>().join(", ");
                return Err(DataError::NoProperty { key: condition.key.clone(), keys });
            }
        }
        if let Some(file) = &self.ids {
            let mut ids = read_ids(file)?;
            data.items.retain(|item| ids.remove(&item.question.id));
            if let Some(id) = ids.first() {
                let (file, missing) = (file.clone(), ids.len());
                return Err(DataError::UnknownIds { file, missing, id: id.clone() });
            }
        }
        // After the ids, which are looked for in the whole file.
        data.items.retain(|item| self.conditions.iter().all(|condition| condition.holds(item)));
        let sample = self.random.map(|(size, seed)| sample(data, size, seed));
        data.items.truncate(self.first.unwrap_or(usize::MAX));
        if data.items.is_empty() {
            return Err(DataError::NothingSelected { selection: self.describe().join(", ") });
        }
        Ok(sample)
    }

    /// The parts of it except a sample, each in words.
    pub fn describe(&self) -> Vec<String> {
        let mut parts: Vec<String> = self.conditions.iter().map(ToString::to_string).collect();
        let file = self.ids.as_ref().and_then(|file| file.file_name());
        parts.extend(file.map(|file| format!("the ids of {}", file.to_string_lossy())));
        parts.extend(self.first.map(|first| format!("the first {first} of the file")));
        parts
    }

    /// A name for the selected questions of `data`, after [`Selection::apply`].
    pub fn name(data: &DataSet) -> String {
        fingerprint(data.items.iter().map(|item| &item.question.id))[..8].to_owned()
    }
}

/// The ids of a file: one a line, or JSON records with an id; a list of either.
fn read_ids(file: &Path) -> Result<BTreeSet<String>, DataError> {
    let unreadable = |source| DataError::Unreadable { file: file.into(), source };
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    // Editors on Windows write a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let values: Vec<Value> = if let Ok(Value::Array(values)) = serde_json::from_str(text) {
        values
    } else {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let value = |line: &str| match serde_json::from_str(line) {
            Ok(value @ (Value::Object(_) | Value::String(_))) => value,
            _ => Value::from(line),
        };
        lines.map(value).collect()
    };
    let ids: Option<BTreeSet<String>> = values.iter().map(id).collect();
    match ids {
        Some(ids) if !ids.is_empty() => Ok(ids),
        _ => Err(DataError::NoIds { file: file.into() }),
    }
}

fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        Value::Object(record) => {
            let keys = ["_id", "id", "question_id", "qid", "interaction_id"];
            keys.iter().find_map(|key| id(record.get(*key)?))
        }
        _ => None,
    }
}

/// Keeps `size` questions of the set, every choice of them equally likely, in the file's order.
/// The same seed, size and file give the same ones; `size` beyond the set keeps all.
fn sample(data: &mut DataSet, size: usize, seed: u64) -> Sample {
    let of = data.items.len();
    let size = size.min(of);
    let mut order: Vec<usize> = (0..of).collect();
    let mut random = Random::new(seed);
    for i in 0..size {
        order.swap(i, i + random.below(of - i));
    }
    let mut keep = vec![false; of];
    for &i in &order[..size] {
        keep[i] = true;
    }
    let mut keep = keep.into_iter();
    data.items.retain(|_| keep.next().unwrap_or(false));
    Sample { seed, size, of }
}

impl Item {
    /// What a [`Condition`] can ask for; `None` where the file does not say.
    fn property(&self, key: &str) -> Option<String> {
        match key {
            "id" => Some(self.question.id.clone()),
            "kind" => self.kind.clone(),
            "hops" => self.hops.map(|hops| hops.to_string()),
            "answerable" => Some(self.answerable.to_string()),
            other => self.tags.get(other).cloned(),
        }
    }

    fn properties(&self) -> impl Iterator<Item = &str> {
        let common = ["id", "kind", "hops", "answerable"];
        common.into_iter().chain(self.tags.keys().map(String::as_str))
    }
}

/// Further properties of a question, as the file names them.
pub(super) fn tags<const N: usize>(tags: [(&str, Option<String>); N]) -> BTreeMap<String, String> {
    tags.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::data;

    fn drawn(size: usize, seed: u64) -> Vec<String> {
        let mut data = data(40);
        let random = Selection { random: Some((size, seed)), ..Selection::default() };
        let sample = random.apply(&mut data).unwrap().unwrap();
        assert_eq!((sample.size, sample.of), (data.items.len(), 40));
        ids(&data)
    }

    fn ids(data: &DataSet) -> Vec<String> {
        data.items.iter().map(|item| item.question.id.clone()).collect()
    }

    fn select(selection: &Selection) -> Result<Vec<String>, DataError> {
        let mut data = data(6);
        for (i, item) in data.items.iter_mut().enumerate() {
            item.hops = Some(if i < 4 { 2 } else { 3 });
            item.tags = tags([("domain", (i % 2 == 0).then(|| "Film".to_owned()))]);
        }
        selection.apply(&mut data).map(|_| ids(&data))
    }

    #[test]
    fn a_seed_names_its_questions() {
        assert_eq!(drawn(9, 7), drawn(9, 7));
        assert_ne!(drawn(9, 7), drawn(9, 8));
        assert_eq!(drawn(9, 7).len(), 9);
        let mut sorted = drawn(9, 7);
        sorted.sort_by_key(|id| id[1..].parse::<usize>().unwrap());
        assert_eq!(sorted, drawn(9, 7), "the file's order is kept");
        assert_eq!(drawn(99, 1).len(), 40);
    }

    #[test]
    fn conditions_are_on_what_the_file_says() {
        let by = |conditions: &[&str]| {
            let conditions = conditions.iter().map(|one| one.parse().unwrap()).collect();
            select(&Selection { conditions, ..Selection::default() })
        };
        assert_eq!(by(&["hops=2", "domain=film"]).unwrap(), ["q0", "q2"]);
        assert_eq!(by(&["domain!=film"]).unwrap(), ["q1", "q3", "q5"]);
        assert_eq!(by(&["id=q1|q4"]).unwrap(), ["q1", "q4"]);
        let error = by(&["colour=red"]).unwrap_err().to_string();
        assert!(error.contains("`colour`") && error.contains("domain"), "{error}");
        let error = by(&["kind=bridge"]).unwrap_err().to_string();
        assert!(error.ends_with("there are answerable, domain, hops, id"), "{error}");
        assert!(by(&["hops=9"]).unwrap_err().to_string().contains("hops=9"));
        for bad in ["hops", "=2", "hops=", "a=b||c"] {
            assert!(bad.parse::<Condition>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ids_come_as_lines_records_or_a_list() {
        let folder = tempfile::tempdir().unwrap();
        let by = |text: &str| {
            let file = folder.path().join("ids.txt");
            std::fs::write(&file, text).unwrap();
            select(&Selection { ids: Some(file), ..Selection::default() })
        };
        for text in [
            "q3\n\nq1\n",
            "\u{feff}q1\r\nq3\r\n",
            "[\"q1\", \"q3\"]",
            "{\"question_id\": \"q1\"}\n{\"id\": \"q3\"}",
        ] {
            assert_eq!(by(text).unwrap(), ["q1", "q3"], "{text}");
        }
        let file = folder.path().join("both.txt");
        std::fs::write(&file, "q1\nq3\nq4\n").unwrap();
        let conditions = vec!["hops=2".parse().unwrap()];
        let both = Selection { ids: Some(file), conditions, ..Selection::default() };
        assert_eq!(select(&both).unwrap(), ["q1", "q3"], "ids and conditions go together");
        let error = by("q1\nq77\nq78").unwrap_err().to_string();
        assert!(error.contains("2 of its ids") && error.contains("q77"), "{error}");
        assert!(by("[[1]]").unwrap_err().to_string().contains("no ids"));
    }
}
