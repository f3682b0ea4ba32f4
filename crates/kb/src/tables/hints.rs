//! What to report about a query that cannot be run: what is wrong, and which names are near.
use halma_core::text::similarity::edit_distance;
use rusqlite::{Error, ErrorCode};

use super::SqlLimits;
use super::catalog::{LIST, LIST_COLUMNS, TableCatalog};
use super::query::Query;
use crate::error::{NearNames, SqlError};

pub(super) fn explained(
    source: &Error,
    query: &Query<'_>,
    catalog: &TableCatalog,
    limits: SqlLimits,
) -> SqlError {
    match source.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => {
            return SqlError::Timeout { seconds: limits.time.as_secs_f64() };
        }
        Some(ErrorCode::OutOfMemory | ErrorCode::TooBig | ErrorCode::DiskFull) => {
            return SqlError::OutOfMemory;
        }
        _ => {}
    }
    let message = match source {
        Error::SqlInputError { msg, .. } | Error::SqliteFailure(_, Some(msg)) => msg.as_str(),
        Error::MultipleStatement => {
            return SqlError::NotAllowed { what: "a second statement".into() };
        }
        _ => return SqlError::Invalid { reason: source.to_string() },
    };
    let unknown = |what: &str| {
        let name = message.strip_prefix(what)?;
        let name = name.split(" - should this").next().unwrap_or(name);
        let name = name.rsplit('.').next().unwrap_or(name);
        Some(name.trim_matches(['"', ' ']).to_lowercase())
    };
    if let Some(name) = unknown("no such table: ") {
        let near = nearest(catalog.tables.iter().map(|table| table.name.as_str()), &name);
        SqlError::UnknownTable { name, near }
    } else if let Some(name) = unknown("no such column: ") {
        unknown_column(catalog, query, name)
    } else {
        SqlError::Invalid { reason: source.to_string() }
    }
}

fn unknown_column(catalog: &TableCatalog, query: &Query<'_>, name: String) -> SqlError {
    if name == "_rowid_" || name.starts_with("_row") {
        return SqlError::HiddenColumn { name };
    }
    let columns = |table: usize| {
        let table = &catalog.tables[table];
        let fields = table.fields.iter().map(|field| field.name.as_str());
        (table.name.clone(), nearest(fields, &name))
    };
    let mut columns: Vec<_> = query.tables(catalog).into_iter().map(columns).collect();
    if query.lists() {
        columns.push((LIST.to_owned(), nearest(LIST_COLUMNS.into_iter(), &name)));
    }
    SqlError::UnknownColumn { name, columns }
}

fn nearest<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> NearNames {
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort_by_cached_key(|name| (distance(name, wanted), name.clone()));
    NearNames(names)
}

/// How many letters must be changed; a name inside the other is near.
fn distance(name: &str, wanted: &str) -> usize {
    if !wanted.is_empty() && (name.contains(wanted) || wanted.contains(name)) {
        return 0;
    }
    let wanted: String = wanted.chars().take(100).collect();
    edit_distance(name, &wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first() {
        assert_eq!(distance("maker", "makr"), 1);
        assert_eq!(distance("price_usd", "price"), 0);
        let names = ["name", "first_approval", "maker"];
        let listed = nearest(names.into_iter(), "makr").to_string();
        assert_eq!(listed, "`maker`, `name`, `first_approval`");
    }
}
