//! Task `sql`: a query over one table, for questions that count, add up, or look up a row.
mod conditions;
mod quoting;
mod selected;

use std::collections::HashSet;

use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use self::conditions::conditions;
use self::quoting::name;
use self::selected::selected;
use crate::input::Table;
use crate::lexicon::Lexicon;
use crate::words::split;

#[derive(Debug, Deserialize)]
pub(crate) struct SqlInput {
    question: Question,
    #[serde(default)]
    tables: Vec<Table>,
    failed: Option<Failed>,
}

/// A query that was tried.
#[derive(Debug, Deserialize)]
struct Failed {
    reason: String,
}

/// A question as words, for rules that look for phrases in it.
struct Words {
    text: String,
    lower: Vec<String>,
    stems: HashSet<String>,
}

impl Words {
    fn new(text: &str, lexicon: &Lexicon) -> Self {
        let lower = split(text).into_iter().map(|range| text[range].to_lowercase()).collect();
        let stems = lexicon.content(text).into_iter().collect();
        Self { text: text.to_owned(), lower, stems }
    }

    fn has(&self, words: &[&str]) -> bool {
        self.lower.iter().any(|word| words.contains(&word.as_str()))
    }

    fn says(&self, phrase: &str) -> bool {
        format!(" {} ", self.lower.join(" ")).contains(&format!(" {phrase} "))
    }

    /// Where the question says the phrase, as the place of its first word.
    fn place(&self, phrase: &str) -> Option<usize> {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        self.lower.windows(phrase.len()).position(|window| window == phrase)
    }
}

pub(crate) fn reply(lexicon: &Lexicon, input: &SqlInput) -> String {
    let (sql, reason) = match query(lexicon, input) {
        Ok((sql, reason)) => (sql, reason),
        Err(reason) => (String::new(), reason),
    };
    json!({ "sql": sql, "reason": reason }).to_string()
}

/// The query, or why there is none. A wrong number looks as right as a right one: in doubt there
/// is none.
fn query(lexicon: &Lexicon, input: &SqlInput) -> Result<(String, String), String> {
    if let Some(failed) = &input.failed {
        return Err(format!(
            "There is no second way to ask: {}.",
            failed.reason.trim_end_matches('.')
        ));
    }
    let words = Words::new(&input.question.text, lexicon);
    let table = chosen(&words, &input.tables, lexicon)?;
    let (conditions, used) = conditions(&words, table, lexicon)?;
    let selected = selected(&words, table, &conditions, &used, lexicon)
        .ok_or_else(|| format!("No column of `{}` is surely what is asked for.", table.name))?;
    let filter = if conditions.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.join(" AND "))
    };
    let sql =
        format!("SELECT {} FROM {}{filter}{}", selected.columns, name(&table.name), selected.tail);
    Ok((sql, format!("The words of the question match the table `{}`.", table.name)))
}

/// The one table whose head and values share most with the question.
fn chosen<'t>(words: &Words, tables: &'t [Table], lexicon: &Lexicon) -> Result<&'t Table, String> {
    let score = |table: &Table| {
        let heads = table.stems(lexicon).intersection(&words.stems).count();
        let values = table.samples.iter().flatten().filter_map(|value| value.as_str());
        let told: HashSet<&str> =
            values.filter(|value| crate::links::mentions(&words.text, value)).collect();
        heads * 2 + told.len().min(2)
    };
    let mut scored: Vec<(usize, &Table)> =
        tables.iter().map(|table| (score(table), table)).collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    match scored.as_slice() {
        [] => Err("The base holds no tables.".into()),
        [(score, _), ..] if *score < 3 => Err("No table speaks of what is asked.".into()),
        [(first, one), (second, other), ..] if first == second && !other.is_copy_of(one) => {
            Err(format!("`{}` and `{}` fit alike.", one.name, other.name))
        }
        [(_, table), ..] => Ok(table),
    }
}

#[cfg(test)]
mod tests;
