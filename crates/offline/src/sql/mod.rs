//! Task `sql`: a query over one table, for questions that count, add up, or look up a row.
mod comparison;
pub(crate) mod conditions;
mod selection;

use std::collections::HashSet;

use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use self::conditions::{Rows, conditions};
use crate::input::{Column, Table};
use crate::lexicon::Lexicon;
use crate::links::mentions;
use crate::lists::{is_listed, list};
use crate::words::split;

#[derive(Debug, Deserialize)]
pub(crate) struct SqlInput {
    question: Question,
    #[serde(default)]
    tables: Vec<Table>,
    failed: Option<FailedQuery>,
}

/// An earlier query without a usable result.
#[derive(Debug, Deserialize)]
pub(crate) struct FailedQuery {
    pub(crate) reason: String,
}

/// A question about one table.
pub(crate) struct TableQuestion<'a> {
    pub(crate) text: &'a str,
    /// Its words in lower case.
    pub(crate) words: Vec<String>,
    pub(crate) stems: HashSet<String>,
    pub(crate) table: &'a Table,
    pub(crate) lexicon: &'a Lexicon,
}

impl TableQuestion<'_> {
    fn has(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }

    fn has_listed(&self, list: &str) -> bool {
        // A column `minimum` is no end of an order.
        let is_column = |word: &str| {
            self.table.columns.iter().any(|column| column.name.eq_ignore_ascii_case(word))
        };
        self.words.iter().any(|word| is_listed(list, word) && !is_column(word))
    }

    /// The index after the first occurrence of the phrase.
    fn after(&self, phrase: &str) -> Option<usize> {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        let at = self.words.windows(phrase.len()).position(|window| window == phrase);
        at.map(|at| at + phrase.len())
    }

    /// A content word of the question that is in no head and in no value of the table that the query
    /// uses.
    fn unaccounted(&self, rows: &Rows) -> Option<String> {
        let table = self.table;
        let heads = [table.name.replace('_', " "), table.caption.clone()];
        let columns = table.columns.iter().map(|column| column.name.replace('_', " "));
        let accounted = heads.into_iter().chain(columns).chain(rows.values.iter().cloned());
        let mut accounted: HashSet<String> =
            accounted.flat_map(|text| self.lexicon.content(&text)).collect();
        accounted.extend(list("of queries").map(|word| self.lexicon.stem(word)));
        if table.lists_people() {
            accounted.extend(list("people").map(|word| self.lexicon.stem(word)));
        }
        for compared in ["more", "less", "early", "late"] {
            accounted.extend(list(compared).map(|word| self.lexicon.stem(word)));
        }
        let mut left = self.stems.iter().filter(|stem| !stem.chars().all(char::is_numeric));
        // `approved` is in `approval date`.
        let is_known = |stem: &String| {
            accounted.contains(stem)
                || (stem.len() > 3 && accounted.iter().any(|one| one.starts_with(stem.as_str())))
        };
        left.find(|stem| !is_known(stem)).cloned()
    }

    /// The stems of a column's name.
    fn stems_of(&self, column: &Column) -> Vec<String> {
        self.lexicon.content(&column.name.replace('_', " "))
    }
}

pub(crate) fn reply(lexicon: &Lexicon, input: &SqlInput) -> String {
    let (sql, reason) = match query(lexicon, input) {
        Ok(query) => (query.sql, query.reason),
        Err(reason) => (String::new(), reason),
    };
    json!({ "sql": sql, "reason": reason }).to_string()
}

#[derive(Debug)]
struct Query {
    sql: String,
    reason: String,
}

/// The query, or why there is none. A wrong number looks as right as a right one: in doubt there
/// is none.
fn query(lexicon: &Lexicon, input: &SqlInput) -> Result<Query, String> {
    if let Some(failed) = &input.failed {
        let reason = failed.reason.trim_end_matches('.');
        return Err(format!("There is no other query to try: {reason}."));
    }
    let text = input.question.text.as_str();
    let stems: HashSet<String> = lexicon.content(text).into_iter().collect();
    let queries = input.tables.iter().map(|table| (table, of_table(text, table, lexicon)));
    let mut fitting: Vec<(&Table, Query)> = vec![];
    let mut refusal = None;
    for (table, query) in queries {
        match query {
            Ok(query) => fitting.push((table, query)),
            Err(reason) => refusal = refusal.or(Some(reason)),
        }
    }
    let Some(best) = fitting.iter().map(|(table, _)| score(text, &stems, table, lexicon)).max()
    else {
        return Err(refusal.unwrap_or_else(|| "The base holds no tables.".into()));
    };
    fitting.retain(|(table, _)| score(text, &stems, table, lexicon) == best);
    let (table, query) = fitting.swap_remove(0);
    // A union of the same rows several times is no table of its own.
    let copies = 1 + fitting.iter().filter(|(other, _)| other.is_copy_of(table)).count();
    fitting.retain(|(other, _)| copies == 1 || other.rows != table.rows * copies);
    match fitting.iter().find(|(other, _)| !other.is_copy_of(table)) {
        Some((other, _)) => Err(format!("`{}` and `{}` fit equally well.", other.name, table.name)),
        None => Ok(query),
    }
}

/// The query over one table, if every word of the question is about it.
fn of_table(text: &str, table: &Table, lexicon: &Lexicon) -> Result<Query, String> {
    let stems: HashSet<String> = lexicon.content(text).into_iter().collect();
    let words = split(text).into_iter().map(|range| text[range].to_lowercase()).collect();
    let question = TableQuestion { text, words, stems, table, lexicon };
    if question.stems.iter().all(|stem| question.is_of_queries(stem)) {
        return Err(format!("The question names nothing of `{}`.", table.name));
    }
    let unclear = || format!("No column of `{}` clearly answers the question.", table.name);
    let (rows, columns, tail) = if let Some(sides) = question.sides() {
        question.comparison(&sides).ok_or_else(unclear)?
    } else {
        let rows = conditions(&question)?;
        let selection = question.selection(&rows).ok_or_else(unclear)?;
        (rows, selection.columns, selection.tail)
    };
    if let Some(word) = question.unaccounted(&rows) {
        return Err(format!("`{word}` is not in `{}`.", table.name));
    }
    let filter = match rows.conditions.as_slice() {
        [] => String::new(),
        conditions => format!(" WHERE {}", conditions.join(" AND ")),
    };
    let sql = format!("SELECT {columns} FROM {}{filter}{tail}", quote_name(&table.name));
    let reason = format!("The words of the question match the table `{}`.", table.name);
    Ok(Query { sql, reason })
}

/// How much of a question the head and the values of a table share; twice for the head.
fn score(question: &str, stems: &HashSet<String>, table: &Table, lexicon: &Lexicon) -> usize {
    let heads = table.stems(lexicon).intersection(stems).count();
    let values = table.samples.iter().flatten().filter_map(|value| value.as_str());
    let named: HashSet<&str> = values.filter(|value| mentions(question, value)).collect();
    heads * 2 + named.len().min(2)
}

/// The only table whose head and values share most with the question.
pub(crate) fn best_table<'t>(
    question: &str,
    stems: &HashSet<String>,
    tables: &'t [Table],
    lexicon: &Lexicon,
) -> Result<&'t Table, String> {
    let mut scored: Vec<(usize, &Table)> =
        tables.iter().map(|table| (score(question, stems, table, lexicon), table)).collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    match scored.as_slice() {
        [] => Err("The base holds no tables.".into()),
        [(score, _), ..] if *score < 3 => Err("No table is about the question.".into()),
        [(first, one), (second, other), ..] if first == second && !other.is_copy_of(one) => {
            Err(format!("`{}` and `{}` fit equally well.", one.name, other.name))
        }
        [(_, table), ..] => Ok(table),
    }
}

/// An identifier in quotation marks.
pub(crate) fn quote_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\"").replace('\0', ""))
}

/// A text value in quotation marks.
fn quote_text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''").replace('\0', ""))
}

#[cfg(test)]
mod tests;
