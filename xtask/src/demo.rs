//! The sample library says the same thing in its notes and in its table, and its questions can be
//! read.
use std::collections::BTreeSet;

use halma_text::dates::spell_day;
use serde::Deserialize;

use crate::tidy::{Source, Violation};

const TABLE: &str = "demo/library/biosimilars.csv";
const QUESTIONS: &str = "demo/questions.jsonl";

const KINDS: &[&str] = &[
    "factual",
    "bridging",
    "comparative",
    "quantitative",
    "summarising",
    "predictive",
    "creative",
];

#[derive(Deserialize)]
struct Row {
    product: String,
    #[serde(rename = "nonproprietary name")]
    substance: String,
    #[serde(rename = "reference product")]
    reference: String,
    #[serde(rename = "approval date")]
    date: String,
    interchangeable: String,
    #[serde(rename = "interchangeable since")]
    since: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DemoQuestion {
    id: String,
    kind: String,
    question: String,
    answers: Option<Vec<String>>,
    needs: String,
    why: String,
}

pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let mut violations = vec![];
    for source in sources {
        match source.path.as_str() {
            TABLE => violations.extend(table(source, sources)),
            QUESTIONS => violations.extend(questions(source)),
            _ => {}
        }
    }
    violations
}

fn table(source: &Source, sources: &[Source]) -> Vec<Violation> {
    let mut violations = vec![];
    for (index, row) in csv::Reader::from_reader(source.text.as_bytes()).deserialize().enumerate() {
        let line = index + 2;
        match row {
            Ok(row) => {
                let wrong = row_alone(&row).into_iter().chain(row_and_note(&row, sources));
                violations.extend(
                    wrong.map(|what| source.violation(line, what, "check it and correct one side")),
                );
            }
            Err(error) => violations.push(source.violation(
                line,
                format!("this row cannot be read: {error}"),
                "give every row all columns",
            )),
        }
    }
    violations
}

fn row_alone(row: &Row) -> Option<String> {
    if spell_day(&row.date).is_none() {
        return Some(format!("`{}` is not a date (YYYY-MM-DD)", row.date));
    }
    let fits = match row.interchangeable.as_str() {
        "yes" => row.since.len() == 4 && row.since.as_str() >= &row.date[..4],
        "no" => row.since.is_empty(),
        _ => false,
    };
    (!fits).then(|| format!("`{}`, `{}` do not fit", row.interchangeable, row.since))
}

/// What the note on the product does not say, though the table does.
fn row_and_note(row: &Row, sources: &[Source]) -> Vec<String> {
    let path = format!("demo/library/products/{}.md", row.product.to_lowercase());
    let Some(note) = sources.iter().find(|source| source.path == path) else { return vec![] };
    let date = spell_day(&row.date).map(|[date, _]| date).unwrap_or_default();
    let said = [&row.product, &row.substance, &row.reference, &date];
    let missing = said.into_iter().filter(|fact| !note.text.contains(fact.as_str()));
    missing.map(|fact| format!("`{fact}` is not in {path}")).collect()
}

fn questions(source: &Source) -> Vec<Violation> {
    let mut violations = vec![];
    let mut kinds = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for (index, line) in source.text.lines().enumerate() {
        let wrong = match serde_json::from_str::<DemoQuestion>(line) {
            Ok(asked) => {
                kinds.insert(asked.kind.clone());
                let repeated = !ids.insert(asked.id.clone());
                question(&asked).or(repeated.then(|| format!("`{}` is there twice", asked.id)))
            }
            Err(error) => Some(format!("this line is not a question: {error}")),
        };
        violations
            .extend(wrong.map(|what| source.violation(index + 1, what, "see demo/README.md")));
    }
    for kind in KINDS.iter().filter(|kind| !kinds.contains(**kind)) {
        let what = format!("there is no question of the kind `{kind}`");
        violations.push(source.violation(1, what, "add one"));
    }
    violations
}

fn question(asked: &DemoQuestion) -> Option<String> {
    if !KINDS.contains(&asked.kind.as_str()) {
        return Some(format!("`{}` is not a known kind", asked.kind));
    }
    if asked.question.is_empty() || asked.why.is_empty() {
        return Some("`question` or `why` is empty".into());
    }
    match (asked.needs.as_str(), &asked.answers) {
        ("offline", Some(answers)) if !answers.is_empty() => None,
        ("offline", _) => Some("an offline question needs an expected answer".into()),
        ("model", _) => None,
        (other, _) => Some(format!("`needs` is `{other}`, not `offline` or `model`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{said, sources};

    const HEAD: &str = "product,nonproprietary name,reference product,company,approval date,\
                        interchangeable,interchangeable since\n";

    #[test]
    fn the_table_and_a_note_must_agree() {
        let rows = format!("{HEAD}Ava,x-abcd,Big,Co,2015-03-06,no,\n");
        let note = "# Ava\n\nAva (x-abcd) is like Big. It was approved on 7 March 2015.\n";
        let files = sources(&[(TABLE, &rows), ("demo/library/products/ava.md", note)]);
        assert_eq!(
            said(&check(&files)),
            [format!("{TABLE}:2: `6 March 2015` is not in demo/library/products/ava.md")]
        );
    }

    #[test]
    fn a_row_must_fit_in_itself() {
        let rows = format!("{HEAD}A,x,B,C,2015-13-06,no,\nA,x,B,C,2015-03-06,yes,2014\nA,x\n");
        let said = said(&check(&sources(&[(TABLE, &rows)])));
        assert_eq!(said[0], format!("{TABLE}:2: `2015-13-06` is not a date (YYYY-MM-DD)"));
        assert_eq!(said[1], format!("{TABLE}:3: `yes`, `2014` do not fit"));
        assert!(said[2].contains(":4: this row cannot be read"), "{said:?}");
    }

    #[test]
    fn a_question_must_be_readable_and_honest() {
        let line = r#"{"id":"a","kind":"factual","question":"q?","answers":null,"needs":"offline","why":"w"}"#;
        let said = said(&check(&sources(&[(QUESTIONS, line)])));
        assert_eq!(said[0], format!("{QUESTIONS}:1: an offline question needs an expected answer"));
        // The other six kinds are missing as well.
        assert_eq!(said.len(), 7);
    }
}
