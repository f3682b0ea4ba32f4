//! Tables that the settings ask for: of things with typed columns that a model is asked for.
use std::fmt;

use crate::values::{ColumnReading, Value, iso};
use halma_core::ColumnKind;
use halma_core::text::dates::{DateOrder, Period, marked_dates, parse_day};
use serde::{Deserialize, Serialize};

/// An entry of `tables_of`: a table of things with what is said of them.
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

impl fmt::Display for TableTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides = [self.head.clone(), self.tail.clone()].into_iter();
        let column = |column: &TargetColumn| format!("{} {}", column.name, column.kind.name());
        let columns = self.columns.iter().map(column);
        let all: Vec<String> = sides.filter(|side| !side.is_empty()).chain(columns).collect();
        write!(f, "{} ({})", self.relation, all.join(", "))
    }
}

impl TableTarget {
    /// What is wrong with the entries of `tables_of`, if anything: a table is found by its relation,
    /// and a column by its name.
    pub fn problem(tables: &[Self]) -> Option<String> {
        let alike = |name: &str| name.trim().to_lowercase();
        let mut relations: Vec<String> = vec![];
        for (number, target) in (1..).zip(tables) {
            let relation = alike(&target.relation);
            if relation.is_empty() {
                return Some(format!("the relation of entry {number} is empty"));
            }
            if relations.contains(&relation) {
                let relation = &target.relation;
                return Some(format!("`{relation}` is the relation of two entries"));
            }
            relations.push(relation);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_columns_have_names_of_their_own() {
        let problem =
            |json: &str| TableTarget::problem(&serde_json::from_str::<Vec<_>>(json).unwrap());
        let target = |relation: &str, head: &str, columns: &str| {
            format!(r#"{{"relation": "{relation}", "head": "{head}", "columns": [{columns}]}}"#)
        };
        let year = r#"{"name": "year"}"#;
        let right = target("approved by", "medicine", year);
        assert_eq!(problem(&format!("[{right}]")), None);
        for (json, said) in [
            (
                format!("[{}, {right}]", target("Approved by", "drug", year)),
                "`approved by` is the relation of two entries",
            ),
            (format!("[{}]", target(" ", "a", year)), "the relation of entry 1 is empty"),
            (format!("[{}]", target("a", "", year)), "the `head` of `a` is empty"),
            (format!("[{}]", target("a", "Year", year)), "the column `year` of `a` has no name"),
            (
                format!("[{}]", target("a", "b", &format!("{year}, {year}"))),
                "the column `year` of `a` has no name",
            ),
        ] {
            assert!(problem(&json).is_some_and(|problem| problem.starts_with(said)), "{json}");
        }
        let wrong = serde_json::from_str::<TableTarget>(&target(
            "a",
            "b",
            r#"{"name": "c", "type": "day"}"#,
        ));
        assert!(wrong.is_err());
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
