//! Names and values as they stand in a query.

/// An identifier, whatever stands in it.
pub(super) fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\"").replace('\0', ""))
}

/// A text value.
pub(super) fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''").replace('\0', ""))
}
