//! What to report about a query that cannot be run: what is wrong, and which names are near.
use halma_core::text::similarity::edit_distance;
use rusqlite::ErrorCode;

use super::SqlLimits;
use super::catalogue::{Catalogue, LIST};
use super::query::Query;
use crate::KbError;

/// At most this many names are listed.
const NAMES: usize = 12;

pub(super) fn explained(
    error: &rusqlite::Error,
    (query, named): (&Query<'_>, &[usize]),
    catalogue: &Catalogue,
    limits: SqlLimits,
) -> KbError {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => {
            return KbError::SqlTooLong { seconds: limits.time.as_secs_f64() };
        }
        Some(ErrorCode::OutOfMemory | ErrorCode::TooBig | ErrorCode::DiskFull) => {
            return KbError::SqlTooLarge;
        }
        _ => {}
    }
    let reason = match error {
        rusqlite::Error::SqlInputError { msg, .. }
        | rusqlite::Error::SqliteFailure(_, Some(msg)) => msg.clone(),
        rusqlite::Error::MultipleStatement => {
            return KbError::SqlNotRead { what: "a second statement".into() };
        }
        other => other.to_string(),
    };
    let unknown = |what: &str| {
        let name = reason.strip_prefix(what)?;
        let name = name.split(" - should this").next().unwrap_or(name);
        let name = name.rsplit('.').next().unwrap_or(name);
        Some(name.trim_matches(['"', ' ']).to_lowercase())
    };
    let hint = if let Some(name) = unknown("no such table: ") {
        tables(catalogue, &name)
    } else if let Some(name) = unknown("no such column: ") {
        columns(catalogue, (query, named), &name)
    } else {
        "the query is read as SQLite's SQL".to_owned()
    };
    KbError::Sql { reason, hint }
}

fn tables(catalogue: &Catalogue, name: &str) -> String {
    if catalogue.tables.is_empty() {
        return "the base holds no tables".into();
    }
    let names = catalogue.tables.iter().map(|table| table.name.as_str());
    format!("tables: {}; `SELECT * FROM {LIST}` says more", nearest(names, name))
}

fn columns(catalogue: &Catalogue, (query, named): (&Query<'_>, &[usize]), name: &str) -> String {
    if name == "_rowid_" || name.starts_with("_row") {
        return "`_row`, `_document` and `_page` can be asked of tables only; in an inner query give \
                them a name: `_document AS document`"
            .into();
    }
    if named.is_empty() {
        let lists = if query.lists() { "name, caption, document, rows, columns" } else { "none" };
        return format!("columns: {lists}");
    }
    let said = |table: &usize| {
        let table = &catalogue.tables[*table];
        let fields = table.fields.iter().map(|field| field.name.as_str());
        format!("columns of `{}`: {}", table.name, nearest(fields, name))
    };
    let said: Vec<String> = named.iter().map(said).collect();
    format!("{}; texts stand in single quotes", said.join("; "))
}

/// The names, nearest first.
fn nearest<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_by_cached_key(|name| (distance(name, wanted), (*name).to_owned()));
    let more = names.len().saturating_sub(NAMES);
    let listed: Vec<String> = names.iter().take(NAMES).map(|name| format!("`{name}`")).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", listed.join(", "))
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
        assert_eq!(nearest(names.into_iter(), "makr"), "`maker`, `name`, `first_approval`");
    }
}
