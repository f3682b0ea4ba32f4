//! Tables that the settings ask for: of a relation that facts state, or of things with typed columns
//! that a model is asked for.
use std::fmt;

use halma_core::ColumnKind;
use halma_core::text::dates::{DateOrder, Period, marked_dates, parse_day};
use serde::{Deserialize, Serialize};

use crate::store::{Id, hash};
use crate::tables::{ColumnReading, Value};

/// An entry of `tables_of`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a relation such as \"founder of\", or a table with `relation`, `head`, \
                 `tail` and `columns`, each of which has a `name` and a `type`: text, integer, \
                 number, date or boolean"
)]
pub enum TableOf {
    /// A relation, as `founder of`, whose facts become rows.
    Relation(String),
    /// A table that the model is asked for, passage by passage.
    Target(TableTarget),
}

/// A table of things with what is said of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableTarget {
    /// What ties head and tail, as `approved by`; the name of the table.
    pub relation: String,
    /// What kind of thing a row is about, as `medicine`.
    pub head: String,
    /// What kind of thing it is tied to, as `agency`; empty where it is tied to none.
    #[serde(default)]
    pub tail: String,
    /// What else is asked about it.
    #[serde(default)]
    pub columns: Vec<TargetColumn>,
}

/// A column of a [`TableTarget`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetColumn {
    pub name: String,
    /// What its values are.
    #[serde(default, rename = "type")]
    pub kind: ColumnKind,
}

impl fmt::Display for TableOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relation(relation) => write!(f, "{relation}"),
            Self::Target(target) => {
                let sides = [target.head.clone(), target.tail.clone()].into_iter();
                let column =
                    |column: &TargetColumn| format!("{} {}", column.name, column.kind.name());
                let columns = target.columns.iter().map(column);
                let all: Vec<String> =
                    sides.filter(|side| !side.is_empty()).chain(columns).collect();
                write!(f, "{} ({})", target.relation, all.join(", "))
            }
        }
    }
}

impl TableOf {
    /// The relation, which names the table.
    fn relation(&self) -> &str {
        match self {
            Self::Relation(relation) => relation,
            Self::Target(target) => &target.relation,
        }
    }

    /// What is wrong with the entries of `tables_of`, if anything: a table is found by its relation,
    /// and a column by its name.
    pub fn problem(tables: &[Self]) -> Option<String> {
        let alike = |name: &str| name.trim().to_lowercase();
        let mut relations: Vec<String> = vec![];
        for (number, table) in (1..).zip(tables) {
            let relation = alike(table.relation());
            if relation.is_empty() {
                return Some(format!("the relation of entry {number} is empty"));
            }
            if relations.contains(&relation) {
                let relation = table.relation();
                return Some(format!("`{relation}` is the relation of two entries"));
            }
            relations.push(relation);
            let Self::Target(target) = table else { continue };
            if alike(&target.head).is_empty() {
                return Some(format!("the `head` of `{}` is empty", target.relation));
            }
            let mut columns = vec![alike(&target.head), alike(&target.tail)];
            for column in &target.columns {
                let name = alike(&column.name);
                if name.is_empty() || columns.contains(&name) {
                    let (column, relation) = (&column.name, &target.relation);
                    return Some(format!(
                        "the column `{column}` of `{relation}` has no name of its own"
                    ));
                }
                columns.push(name);
            }
        }
        None
    }
}

impl From<&str> for TableOf {
    fn from(relation: &str) -> Self {
        Self::Relation(relation.to_owned())
    }
}

impl TableTarget {
    /// What it is asked with: rows of another table are asked for again.
    pub(crate) fn id(&self) -> Id {
        let mut parts: Vec<&[u8]> =
            vec![self.relation.as_bytes(), self.head.as_bytes(), self.tail.as_bytes()];
        for column in &self.columns {
            // As the first bases spelled it: their rows are found by this id.
            let kind = match column.kind {
                ColumnKind::Boolean => "truth",
                kind => kind.name(),
            };
            parts.extend([column.name.as_bytes(), kind.as_bytes()]);
        }
        hash(&parts)
    }
}

/// The tables that a model is asked for.
pub(crate) fn targets(tables: &[TableOf]) -> Vec<TableTarget> {
    let target = |table: &TableOf| match table {
        TableOf::Target(target) => Some(target.clone()),
        TableOf::Relation(_) => None,
    };
    tables.iter().filter_map(target).collect()
}

/// The relations whose facts become tables.
pub(crate) fn relations(tables: &[TableOf]) -> Vec<String> {
    let relation = |table: &TableOf| match table {
        TableOf::Relation(relation) => Some(relation.clone()),
        TableOf::Target(_) => None,
    };
    tables.iter().filter_map(relation).collect()
}

impl TargetColumn {
    /// A value as it is stored, so that SQL compares it: dates as `2023-01-31` or as much of it as
    /// is known, numbers as the machine writes them. `None` for what is none of this type.
    pub(crate) fn normalise(&self, value: &str) -> Option<String> {
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        match self.kind {
            ColumnKind::Text => (!value.is_empty()).then_some(value),
            ColumnKind::Date => date(&value),
            ColumnKind::Integer | ColumnKind::Number | ColumnKind::Boolean => {
                let reading = ColumnReading::of(&std::iter::once(value.as_str()));
                match (self.kind, reading.read(&value)) {
                    (ColumnKind::Boolean, Value::Truth(truth)) => {
                        Some(if truth { "yes" } else { "no" }.to_owned())
                    }
                    (ColumnKind::Integer | ColumnKind::Number, Value::Integer(number)) => {
                        Some(number.to_string())
                    }
                    (ColumnKind::Number, Value::Number(number)) => Some(number.to_string()),
                    _ => None,
                }
            }
        }
    }
}

/// The last year of four digits.
const LAST_YEAR: i32 = 9999;

/// A day, month or year in ISO order.
fn date(value: &str) -> Option<String> {
    let value = value.trim();
    let is_compact = value.len() == 8 && value.bytes().all(|byte| byte.is_ascii_digit());
    if is_compact {
        let dashed = format!("{}-{}-{}", &value[..4], &value[4..6], &value[6..]);
        return parse_day(&dashed, DateOrder::DayFirst);
    }
    if let Some(day) = parse_day(value, DateOrder::DayFirst)
        && parse_day(value, DateOrder::MonthFirst).is_none_or(|other| other == day)
    {
        return Some(day);
    }
    if let Some(period) = Period::from_value(value) {
        // A day that is in no calendar has not been read above.
        let is_day = period.first == period.last;
        return iso(period).filter(|_| !is_day && period.first.0 <= LAST_YEAR);
    }
    if let [marked] = marked_dates(value).as_slice() {
        return Some(marked.clone());
    }
    let lower = value.to_lowercase().replace(',', " ");
    let words: Vec<&str> = lower.split_whitespace().collect();
    let (period, used) = Period::parse_prefix(&words)?;
    (used == words.len()).then(|| iso(period))?
}

/// A day, a month or a year of our era in ISO order; `None` for longer or earlier periods.
pub(crate) fn iso(period: Period) -> Option<String> {
    let ((year, month, day), last) = (period.first, period.last);
    match (period.first == last, year == last.0, month == last.1) {
        _ if year <= 0 => None,
        (true, ..) => Some(format!("{year:04}-{month:02}-{day:02}")),
        (_, true, true) => Some(format!("{year:04}-{month:02}")),
        (_, true, false) => Some(format!("{year:04}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_columns_have_names_of_their_own() {
        let problem = |json: &str| TableOf::problem(&serde_json::from_str::<Vec<_>>(json).unwrap());
        let target = |relation: &str, head: &str, columns: &str| {
            format!(r#"{{"relation": "{relation}", "head": "{head}", "columns": [{columns}]}}"#)
        };
        let year = r#"{"name": "year"}"#;
        let right = target("approved by", "medicine", year);
        assert_eq!(problem(&format!(r#"["founder of", {right}]"#)), None);
        for (json, said) in [
            (
                format!(r#"["Approved by", {right}]"#),
                "`approved by` is the relation of two entries",
            ),
            (r#"[" "]"#.to_owned(), "the relation of entry 1 is empty"),
            (format!("[{}]", target("a", "", year)), "the `head` of `a` is empty"),
            (format!("[{}]", target("a", "Year", year)), "the column `year` of `a` has no name"),
            (
                format!("[{}]", target("a", "b", &format!("{year}, {year}"))),
                "the column `year` of `a` has no name",
            ),
        ] {
            assert!(problem(&json).is_some_and(|problem| problem.starts_with(said)), "{json}");
        }
        let wrong =
            serde_json::from_str::<TableOf>(&target("a", "b", r#"{"name": "c", "type": "day"}"#));
        assert!(wrong.unwrap_err().to_string().contains("integer, number, date or boolean"));
    }

    #[test]
    fn a_boolean_under_its_former_name_is_the_same_column_of_the_same_table() {
        let read = |kind: &str| {
            let column = format!(r#"{{"name": "sold", "type": "{kind}"}}"#);
            let json = format!(r#"{{"relation": "a", "head": "b", "columns": [{column}]}}"#);
            serde_json::from_str::<TableTarget>(&json).unwrap()
        };
        let (former, named) = (read("truth"), read("boolean"));
        assert_eq!(former, named);
        let parts: [&[u8]; 5] = [b"a", b"b", b"", b"sold", b"truth"];
        assert_eq!(named.id(), hash(&parts), "rows of existing bases are found");
    }

    #[test]
    fn values_are_stored_so_that_they_compare() {
        for (kind, value, stored) in [
            (ColumnKind::Date, "14 September 2017", Some("2017-09-14")),
            (ColumnKind::Date, "2017-09", Some("2017-09")),
            (ColumnKind::Date, "July 2019", Some("2019-07")),
            (ColumnKind::Date, "in the summer", None),
            (ColumnKind::Date, "1885", Some("1885")),
            (ColumnKind::Date, "2017-9", Some("2017-09")),
            (ColumnKind::Date, "20170914", Some("2017-09-14")),
            (ColumnKind::Date, "20171314", None),
            (ColumnKind::Date, "2012-02-31", None),
            (ColumnKind::Date, "12017", None),
            (ColumnKind::Date, "2017年9月", Some("2017-09")),
            (ColumnKind::Integer, "1,200", Some("1200")),
            (ColumnKind::Integer, "1.5", None),
            (ColumnKind::Number, "1.5", Some("1.5")),
            (ColumnKind::Number, "about five", None),
            (ColumnKind::Boolean, "Yes", Some("yes")),
            (ColumnKind::Boolean, "perhaps", None),
            (ColumnKind::Text, " a  b ", Some("a b")),
            (ColumnKind::Text, " ", None),
        ] {
            let column = TargetColumn { name: "c".into(), kind };
            assert_eq!(column.normalise(value).as_deref(), stored, "{kind:?} {value}");
        }
    }
}
