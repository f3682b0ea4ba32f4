//! What a question asks of the rows: a count, a sum, the row at one end of an order, or a value.
use halma_core::ColumnKind;

use super::conditions::Rows;
use super::{TableQuestion, quote_name};
use crate::input::Column;
use crate::lists::{is_listed, list};

/// The columns and the tail of a query.
pub(super) struct SelectClause {
    pub(super) columns: String,
    pub(super) tail: String,
}

impl SelectClause {
    fn new(columns: String) -> Self {
        Self { columns, tail: String::new() }
    }

    fn function(name: &str, column: &Column) -> Self {
        Self::new(format!("{name}({})", quote_name(&column.name)))
    }
}

/// One end of an order.
struct Extreme {
    order: &'static str,
    function: &'static str,
}

impl TableQuestion<'_> {
    /// `None` where no column clearly answers the question.
    pub(super) fn selection(&self, rows: &Rows) -> Option<SelectClause> {
        let number = self.number(rows);
        let counts_all = self.names_rows(rows) && !self.names_unused(rows);
        let count = || counts_all.then(|| SelectClause::new("COUNT(*)".into()));
        // `What does it mean?` asks for no mean.
        if self.has(&["average"]) || self.after("the mean").is_some() {
            return number.map(|number| SelectClause::function("AVG", number));
        }
        if self.has(&["total", "sum", "altogether"]) {
            let number = number.or_else(|| self.only_amount());
            let number = number.filter(|number| !self.table.holds_years(number));
            return number.map(|number| SelectClause::function("SUM", number)).or_else(count);
        }
        if self.has_listed("descending") {
            return self.extreme(&Extreme { order: "DESC", function: "MAX" }, number, rows);
        }
        if self.has_listed("ascending") {
            return self.extreme(&Extreme { order: "ASC", function: "MIN" }, number, rows);
        }
        let all_rows = rows.conditions.is_empty();
        let counts = ["how many", "number of", "count"];
        if counts.iter().any(|phrase| self.after(phrase).is_some()) {
            // `How many customers are there?` in a table of orders.
            let other = || self.column_after(&["many"]).filter(|column| !self.is_head(column));
            let distinct = self.column_after(&["different", "distinct"]).or_else(other);
            if let Some(distinct) = distinct {
                let name = quote_name(&distinct.name);
                return Some(SelectClause::new(format!("COUNT(DISTINCT {name})")));
            }
            return match number {
                Some(number) if self.table.holds_years(number) => None,
                // `How many beds does X have?` reads the row of X.
                Some(number) if self.label().is_some_and(|l| rows.columns.contains(&l.name)) => {
                    Some(SelectClause::new(quote_name(&number.name)))
                }
                // Times and shares of several rows do not add up.
                Some(number) if !all_rows && Self::is_time(number) => None,
                Some(number) => Some(SelectClause::function("SUM", number)),
                None => count(),
            };
        }
        let which = self.has(&["which", "who", "what", "list"]);
        let label = self
            .label()
            .filter(|label| which && !rows.columns.contains(&label.name) && self.names_rows(rows));
        let value = number.or_else(|| self.best_column(rows, |column| !column.is_number()));
        let column = value.or(label).filter(|_| !all_rows)?;
        Some(SelectClause::new(quote_name(&column.name)))
    }

    /// The column of numbers that is named.
    pub(super) fn number(&self, rows: &Rows) -> Option<&Column> {
        self.best_column(rows, |column| column.is_number() && !self.is_key(column))
    }

    /// The stems of what the table is called.
    fn heads(&self) -> Vec<String> {
        let heads = [self.table.name.replace('_', " "), self.table.caption.clone()];
        heads.iter().flat_map(|head| self.lexicon.content(head)).collect()
    }

    /// Whether the table is called by the name of a column.
    fn is_head(&self, column: &Column) -> bool {
        let heads = self.heads();
        self.stems_of(column).iter().any(|stem| heads.contains(stem))
    }

    fn is_time(column: &Column) -> bool {
        let name = column.name.to_lowercase();
        let mut words = name.split(|c: char| !c.is_alphabetic());
        words
            .any(|word| is_listed("times", word.trim_end_matches('s')) || is_listed("shares", word))
    }

    /// The row, the value or the group at one end of an order.
    fn extreme(
        &self,
        extreme: &Extreme,
        number: Option<&Column>,
        rows: &Rows,
    ) -> Option<SelectClause> {
        let Extreme { order, function } = extreme;
        let head = self.column_after(&["which", "what"]);
        let which = self.has(&["which", "who", "whose", "where"])
            || self.after("what is the name").is_some();
        let number = number.or_else(|| self.only_date()).or_else(|| self.only_amount());
        let which = which || number.is_some_and(|number| self.orders_rows(number, rows));
        if let Some(number) = number {
            let Some(label) = head.or(self.label().filter(|_| which)) else {
                return Some(SelectClause::function(function, number));
            };
            let (label, number) = (quote_name(&label.name), quote_name(&number.name));
            return Some(SelectClause {
                columns: format!("{label}, {number}"),
                // Rows without a value are at neither end.
                tail: format!(" ORDER BY {number} IS NULL, {number} {order}, {label} LIMIT 1"),
            });
        }
        let group = head.filter(|head| self.label().is_some_and(|l| l.name != head.name))?;
        let group = quote_name(&group.name);
        Some(SelectClause {
            columns: format!("{group}, COUNT(*)"),
            tail: format!(" GROUP BY {group} ORDER BY COUNT(*) {order}, {group} LIMIT 1"),
        })
    }

    /// Whether a superlative stands before a noun for the rows, and not before the column that they
    /// are ordered by: `the cheapest chair`, but `the lowest price`.
    fn orders_rows(&self, number: &Column, rows: &Rows) -> bool {
        let ends = |word: &String| is_listed("descending", word) || is_listed("ascending", word);
        let Some(at) = self.words.iter().position(ends) else { return false };
        let of_number = self.stems_of(number);
        let next: Vec<String> =
            self.words[at + 1..].iter().take(2).map(|word| self.lexicon.stem(word)).collect();
        !next.iter().any(|stem| of_number.contains(stem))
            && next.iter().any(|stem| self.row_nouns(rows).contains(stem))
    }

    /// The stems of nouns for the rows: of the table's head, of the column that names them, and of
    /// the values by which they are chosen.
    pub(super) fn row_nouns(&self, rows: &Rows) -> Vec<String> {
        let label = self.label().map(|label| label.name.replace('_', " "));
        let heads = [self.table.name.replace('_', " "), self.table.caption.clone()];
        let nouns = heads.into_iter().chain(label).chain(rows.values.iter().cloned());
        nouns.flat_map(|noun| self.lexicon.content(&noun)).collect()
    }

    /// Whether a column numbers the rows: `order` of a table `orders`.
    fn is_key(&self, column: &Column) -> bool {
        let heads = self.lexicon.content(&self.table.name.replace('_', " "));
        let stems = self.stems_of(column);
        let named =
            ["id", "no", "no.", "nr", "number", "#"].contains(&column.name.to_lowercase().as_str());
        named
            || (column.kind == ColumnKind::Integer && stems.iter().all(|stem| heads.contains(stem)))
    }

    pub(super) fn is_of_queries(&self, stem: &str) -> bool {
        list("of queries").any(|word| self.lexicon.stem(word) == stem)
    }

    /// The only column of amounts of money, where the question names no column of numbers.
    pub(super) fn only_amount(&self) -> Option<&Column> {
        let is_named = |column: &Column| {
            let stems = self.stems_of(column);
            stems.iter().any(|stem| self.stems.contains(stem) && !self.is_of_queries(stem))
        };
        let mut numbers = self.table.columns.iter().filter(|c| c.is_number() && !self.is_key(c));
        if numbers.any(is_named) {
            return None;
        }
        let is_money = |column: &&Column| {
            let text = column.name.to_lowercase();
            let mut words = text.split([' ', '_', '(', ')']);
            column.is_number()
                && words.any(|word| is_listed("currencies", word) || is_listed("money", word))
        };
        let mut amounts = self.table.columns.iter().filter(is_money);
        amounts.next().filter(|_| amounts.next().is_none())
    }

    /// The first column of texts, which names the rows.
    fn label(&self) -> Option<&Column> {
        self.table.columns.iter().find(|column| column.kind == ColumnKind::Text)
    }

    /// The column of texts that is named right after one of the words: `which old town`.
    fn column_after(&self, words: &[&str]) -> Option<&Column> {
        let at = self.words.iter().position(|word| words.contains(&word.as_str()))?;
        let next = self.words[at + 1..].iter().take(2);
        let stems: Vec<String> = next.map(|word| self.lexicon.stem(word)).collect();
        let mut texts = self.table.columns.iter().filter(|column| column.kind == ColumnKind::Text);
        texts.find(|column| stems.iter().any(|stem| self.stems_of(column).contains(stem)))
    }

    /// The only column of dates, for `oldest` and the like.
    fn only_date(&self) -> Option<&Column> {
        let timely = ["latest", "newest", "youngest", "earliest", "oldest", "first"];
        let mut dates = self.table.columns.iter().filter(|column| column.kind == ColumnKind::Date);
        dates.next().filter(|_| self.has(&timely) && dates.next().is_none())
    }

    /// The unused column of a kind whose name shares most words with the question; `None` where two
    /// share equally many.
    fn best_column(&self, rows: &Rows, is_kind: impl Fn(&Column) -> bool) -> Option<&Column> {
        let used = self.stems_of_used(rows);
        let shared = |column: &Column| {
            let stems = self.stems_of(column);
            let named = stems.iter().filter(|stem| self.stems.contains(*stem));
            let named = named.filter(|stem| !used.contains(*stem));
            // `total` asks for a sum, before it names a column.
            named.map(|stem| if self.is_of_queries(stem) { 1 } else { 10 }).sum::<usize>()
        };
        let columns = self.table.columns.iter();
        let columns =
            columns.filter(|column| is_kind(column) && !rows.columns.contains(&column.name));
        let scored = columns.map(|column| (shared(column), column));
        let mut scored: Vec<(usize, &Column)> = scored.filter(|(count, _)| *count > 0).collect();
        scored.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        match scored.as_slice() {
            [(first, _), (second, _), ..] if first == second => None,
            [(_, column), ..] => Some(column),
            [] => None,
        }
    }

    /// The stems of the columns by which the rows are chosen: `interchangeable` names no column
    /// `interchangeable since` besides.
    fn stems_of_used(&self, rows: &Rows) -> Vec<String> {
        let used = self.table.columns.iter().filter(|column| rows.columns.contains(&column.name));
        used.flat_map(|column| self.stems_of(column)).collect()
    }

    /// Whether the question names a column that neither its rows are chosen by nor names them.
    fn names_unused(&self, rows: &Rows) -> bool {
        let label = self.label().map(|label| &label.name);
        let mut heads = self.heads();
        heads.extend(self.stems_of_used(rows));
        let mut unused =
            self.table.columns.iter().filter(|column| {
                Some(&column.name) != label && !rows.columns.contains(&column.name)
            });
        unused.any(|column| {
            let stems = self.stems_of(column);
            stems.iter().any(|stem| self.stems.contains(stem) && !heads.contains(stem))
        })
    }

    /// Whether the question names the rows.
    fn names_rows(&self, rows: &Rows) -> bool {
        let stems = self.row_nouns(rows);
        match self.after("how many").and_then(|at| self.words.get(at)) {
            Some(noun) if self.table.lists_people() && is_listed("people", noun) => true,
            Some(noun) => stems.contains(&self.lexicon.stem(noun)),
            None => stems.iter().any(|stem| self.stems.contains(stem)),
        }
    }
}
