//! Which rows a question means: values of the table that it names, and bounds of numbers.
use halma_core::ColumnKind;
use halma_core::text::{Words, quotes};

use super::{TableQuestion, quote_name, quote_text};
use crate::decompose::tokens::{Token, tokens};
use crate::input::Column;
use crate::links::mentions;
use crate::lists::{is_listed, list};
use crate::words::split;

/// The conditions of a query, with the columns that they use.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) conditions: Vec<String>,
    pub(crate) columns: Vec<String>,
    /// The values that the question names.
    pub(crate) values: Vec<String>,
}

impl Rows {
    pub(super) fn add(&mut self, column: &Column, condition: String) {
        self.columns.push(column.name.clone());
        self.conditions.push(condition);
    }
}

/// The lists of phrases before a number, with the operator of each.
const BOUNDS: [(&str, &str); 4] =
    [("above", ">"), ("at least", ">="), ("below", "<"), ("at most", "<=")];

/// An error where the question names something that no condition covers.
pub(crate) fn conditions(question: &TableQuestion<'_>) -> Result<Rows, String> {
    let table = question.table;
    let mut rows = Rows::default();
    let mut covered: Vec<String> = vec![table.name.replace('_', " "), table.caption.clone()];
    let is_covered =
        |covered: &[String], value: &str| covered.iter().any(|text| mentions(text, value));
    let texts =
        || table.columns.iter().enumerate().filter(|(_, column)| column.kind == ColumnKind::Text);
    for (at, column) in texts() {
        let values = table.samples.iter().filter_map(|row| row.get(at)?.as_str());
        // `North Varn` is not `Varn`: the longest value that is named counts.
        let named = values.filter(|value| question.names(value));
        let longest = named.max_by_key(|value| value.len());
        if let Some(value) = longest.filter(|value| !is_covered(&covered, value)) {
            rows.add(column, format!("{} = {}", quote_name(&column.name), quote_text(value)));
            covered.push(value.to_owned());
            rows.values.push(value.to_owned());
        }
    }
    let words = Words::new(question.text);
    for quote in quotes(&words) {
        let value = words.slice(&quote);
        let label = texts().next().filter(|(_, label)| !rows.columns.contains(&label.name));
        if let Some((_, label)) = label.filter(|_| !is_covered(&covered, value)) {
            let (name, text) = (quote_name(&label.name), quote_text(value));
            rows.add(label, format!("LOWER({name}) = LOWER({text})"));
            covered.push(value.to_owned());
            rows.values.push(value.to_owned());
        }
    }
    question.add_truths(&mut rows);
    if question.denies() {
        // `have no more than two wheels`, and of several conditions any may be meant.
        let is_number = question.words.iter().any(|word| word.parse::<f64>().is_ok());
        match rows.conditions.as_mut_slice() {
            [condition] if !is_number => {
                *condition = match condition.strip_suffix(" = 1") {
                    Some(truth) => format!("{truth} = 0"),
                    None => condition.replacen(" = ", " <> ", 1),
                };
            }
            _ => return Err("What the question denies is not clear.".into()),
        }
    }
    for (at, word) in question.words.iter().enumerate() {
        let figure = word.replace(',', "");
        if let Ok(number) = figure.parse::<f64>() {
            let (column, expression) = question.column_of(number, at)?;
            let operator = question.operator(at);
            rows.add(column, format!("{expression} {operator} {figure}"));
        }
    }
    covered.extend(table.columns.iter().map(|column| column.name.clone()));
    let is_known =
        |name: &String| covered.iter().any(|text| mentions(text, name) || mentions(name, text));
    // The first word of a question is capitalised without being a name.
    let names = tokens(question.text, question.lexicon).into_iter().skip(1).filter(Token::names);
    let mut names = names.map(|token| token.text.trim_matches(['"', '“', '”']).to_owned());
    match names.find(|name| !is_known(name)) {
        Some(name) => Err(format!("`{name}` is in none of the sample rows of `{}`.", table.name)),
        None => Ok(rows),
    }
}

impl TableQuestion<'_> {
    /// Whether it has a value word by word, in the singular or plural.
    pub(super) fn names(&self, value: &str) -> bool {
        let stems = split(value).into_iter().map(|range| self.lexicon.stem(&value[range]));
        let stems: Vec<String> = stems.collect();
        let mut question =
            self.words.iter().map(|word| self.lexicon.stem(word)).collect::<Vec<_>>();
        question.retain(|stem| !stem.is_empty());
        value.chars().count() > 2 && question.windows(stems.len().max(1)).any(|run| run == stems)
    }

    pub(super) fn denies(&self) -> bool {
        self.words.iter().any(|word| is_listed("denial", word))
            || self.words.iter().any(|word| word.ends_with("n't") || word.ends_with("n’t"))
    }

    /// A column of yes and no that the question names is true of the rows that it means.
    fn add_truths(&self, rows: &mut Rows) {
        for column in self.table.columns.iter().filter(|column| column.kind == ColumnKind::Boolean)
        {
            let stems = self.stems_of(column);
            if !stems.is_empty() && stems.iter().all(|stem| self.stems.contains(stem)) {
                rows.add(column, format!("{} = 1", quote_name(&column.name)));
            }
        }
    }

    /// The operator that the phrase before word `at` means.
    fn operator(&self, at: usize) -> &'static str {
        let precedes = |phrase: &str| {
            let length = phrase.split(' ').count();
            at.checked_sub(length).is_some_and(|from| self.words[from..at].join(" ") == phrase)
        };
        let bound = BOUNDS.iter().find(|(name, _)| list(name).any(precedes));
        bound.map_or("=", |(_, operator)| operator)
    }

    /// The column of a number at word `at`, with the expression to compare: the column named after
    /// the number, or for a year the only column of years or dates.
    fn column_of(&self, number: f64, at: usize) -> Result<(&Column, String), String> {
        let columns = &self.table.columns;
        let next = self.words.get(at + 1).map(|word| self.lexicon.stem(word)).unwrap_or_default();
        let is_year = number.fract() == 0.0 && (1000.0..2200.0).contains(&number);
        let of_years = |column: &Column| {
            column.name.to_lowercase().split(['_', ' ']).any(|word| word == "year")
        };
        let mut numbers = columns.iter().filter(|column| column.is_number());
        let counted = numbers.clone().find(|column| self.stems_of(column).contains(&next));
        if let Some(column) = counted.or_else(|| numbers.find(|column| is_year && of_years(column)))
        {
            return Ok((column, quote_name(&column.name)));
        }
        let dates: Vec<&Column> =
            columns.iter().filter(|column| column.kind == ColumnKind::Date).collect();
        let is_named = |date: &Column| {
            let stems = self.stems_of(date);
            let bare = ["date", "year"].contains(&date.name.to_lowercase().as_str());
            bare || stems
                .iter()
                .any(|part| self.stems.iter().any(|stem| part.starts_with(stem.as_str())))
        };
        match dates.as_slice() {
            [date] if is_year && is_named(date) => {
                Ok((date, format!("CAST(SUBSTR({}, 1, 4) AS INTEGER)", quote_name(&date.name))))
            }
            _ => Err(format!("No column of `{}` clearly holds {number}.", self.table.name)),
        }
    }
}
