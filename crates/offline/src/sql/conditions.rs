//! Which rows are meant: values of the table that the question names, and bounds of numbers.
use halma_core::text::{Words as Plain, quotes};

use super::Words;
use super::quoting::{name, text};
use crate::decompose::tokens::{Token, tokens};
use crate::input::{Column, Table};
use crate::lexicon::Lexicon;
use crate::links::mentions;

/// Phrases before a number that make a bound of it.
const BOUNDS: &[(&str, &str)] = &[
    ("more than", ">"),
    ("greater than", ">"),
    ("larger than", ">"),
    ("over", ">"),
    ("above", ">"),
    ("after", ">"),
    ("at least", ">="),
    ("since", ">="),
    ("less than", "<"),
    ("fewer than", "<"),
    ("smaller than", "<"),
    ("under", "<"),
    ("below", "<"),
    ("before", "<"),
    ("at most", "<="),
    ("until", "<="),
    ("exactly", "="),
    ("in", "="),
    ("of", "="),
    ("from", "="),
    ("for", "="),
];

/// The conditions and the names of the columns they use up; an error where the question names
/// something that no condition covers.
pub(super) fn conditions(
    words: &Words,
    table: &Table,
    lexicon: &Lexicon,
) -> Result<(Vec<String>, Vec<String>), String> {
    let (mut found, mut used): (Vec<String>, Vec<String>) = (vec![], vec![]);
    let mut covered: Vec<String> = vec![table.name.replace('_', " "), table.caption.clone()];
    for (at, column) in table.columns.iter().enumerate().filter(|(_, column)| column.kind == "text")
    {
        let values = table.samples.iter().filter_map(|row| row.get(at)?.as_str());
        // `North Varn` is not `Varn`: the longest value that is said counts.
        let said =
            values.filter(|value| mentions(&words.text, value)).max_by_key(|value| value.len());
        if let Some(value) =
            said.filter(|value| !covered.iter().any(|known| mentions(known, value)))
        {
            found.push(format!("{} = {}", name(&column.name), text(value)));
            used.push(column.name.clone());
            covered.push(value.to_owned());
        }
    }
    let label = table.columns.iter().find(|column| column.kind == "text");
    let plain = Plain::new(words.text.as_str());
    for quote in quotes(&plain) {
        let said = plain.slice(&quote);
        let label = label.filter(|label| !used.contains(&label.name));
        if let Some(label) = label.filter(|_| !covered.iter().any(|known| mentions(known, said))) {
            found.push(format!("LOWER({}) = LOWER({})", name(&label.name), text(said)));
            used.push(label.name.clone());
            covered.push(said.to_owned());
        }
    }
    for at in 0..words.lower.len() {
        if let Some((column, condition)) = bound(words, at, table, lexicon)? {
            found.push(condition);
            used.push(column);
        }
    }
    let heads: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let told = |thing: &String| {
        covered.iter().any(|known| mentions(known, thing) || mentions(thing, known))
            || heads.iter().any(|head| mentions(head, thing))
    };
    match named(&words.text, lexicon).into_iter().find(|thing| !told(thing)) {
        Some(thing) => {
            Err(format!("`{thing}` stands in no row that was shown of `{}`.", table.name))
        }
        None => Ok((found, used)),
    }
}

/// What the question names, single words as well; what opens it is no name.
fn named(question: &str, lexicon: &Lexicon) -> Vec<String> {
    let names = tokens(question, lexicon).into_iter().skip(1).filter(Token::names);
    names.map(|token| token.text.trim_matches(['"', '“', '”']).to_owned()).collect()
}

/// The condition of the number at word `at`.
fn bound(
    words: &Words,
    at: usize,
    table: &Table,
    lexicon: &Lexicon,
) -> Result<Option<(String, String)>, String> {
    let Ok(number) = words.lower[at].replace(',', "").parse::<f64>() else { return Ok(None) };
    let before = |phrase: &str| {
        let length = phrase.split(' ').count();
        at.checked_sub(length).is_some_and(|from| words.lower[from..at].join(" ") == phrase)
    };
    let sign = BOUNDS.iter().find(|(phrase, _)| before(phrase)).map_or("=", |(_, sign)| sign);
    let is_year = number.fract() == 0.0 && (1000.0..2200.0).contains(&number);
    let named = |column: &&Column| lexicon.content(&column.name.replace('_', " "));
    let next = words.lower.get(at + 1).map(|word| lexicon.stem(word)).unwrap_or_default();
    let counted =
        table.columns.iter().find(|column| column.is_number() && named(column).contains(&next));
    let year = || {
        table.columns.iter().find(|column| {
            column.is_number()
                && column.name.to_lowercase().split(['_', ' ']).any(|word| word == "year")
        })
    };
    let dates: Vec<&Column> = table.columns.iter().filter(|column| column.kind == "date").collect();
    let figure = &words.lower[at].replace(',', "");
    if let Some(column) = counted.or_else(|| is_year.then(year).flatten()) {
        return Ok(Some((column.name.clone(), format!("{} {sign} {figure}", name(&column.name)))));
    }
    match dates.as_slice() {
        [date] if is_year => {
            let year = format!("CAST(SUBSTR({}, 1, 4) AS INTEGER)", name(&date.name));
            Ok(Some((date.name.clone(), format!("{year} {sign} {figure}"))))
        }
        _ => Err(format!("No column of `{}` is surely what {figure} counts.", table.name)),
    }
}
