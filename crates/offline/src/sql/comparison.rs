//! Which of two rows, or of two groups of rows, that a question offers: `Is the oak bench or the pine
//! bench cheaper?`
use halma_core::ColumnKind;

use super::conditions::Rows;
use super::{TableQuestion, quote_name, quote_text};
use crate::input::Column;
use crate::lists::is_listed;

/// A column with the two of its values that a question offers.
pub(super) struct Sides<'t> {
    column: &'t Column,
    values: [&'t str; 2],
}

impl<'t> TableQuestion<'t> {
    /// The only column of which a question with `or` names two values; none where it denies something
    /// or has a number, which says more of the rows.
    pub(super) fn sides(&self) -> Option<Sides<'t>> {
        let table = self.table;
        let columns = table.columns.iter().enumerate();
        let texts = columns.filter(|(_, column)| column.kind == ColumnKind::Text);
        let mut pairs = texts.filter_map(|(at, column)| {
            let values = table.samples.iter().filter_map(|row| row.get(at)?.as_str());
            let mut named: Vec<&str> = values.filter(|value| self.names(value)).collect();
            named.sort_unstable();
            named.dedup();
            let values = <[&str; 2]>::try_from(named).ok()?;
            Some(Sides { column, values })
        });
        let has_number = self.stems.iter().any(|stem| stem.parse::<f64>().is_ok());
        let only = pairs.next().filter(|_| self.has(&["or"]) && !self.denies() && !has_number)?;
        pairs.next().is_none().then_some(only)
    }

    /// The rows that are compared, with the columns and the tail of the query.
    pub(super) fn comparison(&self, sides: &Sides<'_>) -> Option<(Rows, String, String)> {
        let Sides { column, values } = sides;
        let mut rows = Rows::default();
        let listed = values.map(quote_text).join(", ");
        rows.add(column, format!("{} IN ({listed})", quote_name(&column.name)));
        rows.values = values.map(str::to_owned).to_vec();
        let any = |list: &str| self.words.iter().any(|word| is_listed(list, word));
        let mut dates = self.table.columns.iter().filter(|c| c.kind == ColumnKind::Date);
        let date = dates.next().filter(|_| dates.next().is_none());
        let is_early = any("early") || self.has(&["longer", "longest"]);
        let costs = self.has(&["cheaper", "dearer", "expensive"]) || any("money");
        let number = self.number(&rows).or_else(|| self.only_amount().filter(|_| costs));
        let (by, order) = match (number, date) {
            (Some(number), _) if any("more") => (Some(number), "DESC"),
            (Some(number), _) if any("less") => (Some(number), "ASC"),
            (None, Some(date)) if is_early => (Some(date), "ASC"),
            (None, Some(date)) if any("late") => (Some(date), "DESC"),
            (None, _) if self.counts_after(&["more", "most"], &rows) => (None, "DESC"),
            (None, _) if self.counts_after(&["fewer", "less"], &rows) => (None, "ASC"),
            _ => return None,
        };
        let name = quote_name(&column.name);
        let value = by.map_or_else(|| "COUNT(*)".to_owned(), |by| quote_name(&by.name));
        let group = if by.is_none() { format!(" GROUP BY {name}") } else { String::new() };
        let tail = format!("{group} ORDER BY {value} IS NULL, {value} {order}, {name} LIMIT 1");
        Some((rows, format!("{name}, {value}"), tail))
    }

    /// Whether a noun for the rows follows one of the words: `more articles`.
    fn counts_after(&self, words: &[&str], rows: &Rows) -> bool {
        let at = self.words.iter().position(|word| words.contains(&word.as_str()));
        let noun = at.and_then(|at| self.words.get(at + 1));
        noun.is_some_and(|noun| self.row_nouns(rows).contains(&self.lexicon.stem(noun)))
    }
}
