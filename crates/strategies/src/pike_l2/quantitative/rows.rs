//! What a query gave: as text for a reader, and as citations.
use futures::future::try_join_all;
use halma_core::text::numbers::{cardinal, thousands};
use halma_core::{Citation, Cx, Hit, Layer, NodeId, Result, Span, SqlResult};
use serde_json::Value;

use super::query::Offered;

/// How far a rounded number may be from the exact one, as a share of it.
const ROUNDED: f64 = 0.01;

/// Whether a result has no rows, or nothing in them: what a sum over nothing gives.
pub(super) fn says_nothing(computed: &SqlResult) -> bool {
    computed.rows.iter().all(|row| row.values.iter().all(Value::is_null))
}

/// Whether a result is one row of zeros: a count of what fits no row.
pub(super) fn counts_nothing(computed: &SqlResult) -> bool {
    let zero = |value: &Value| value.is_null() || value.as_f64() == Some(0.0);
    matches!(computed.rows.as_slice(), [row] if row.values.iter().all(zero))
}

/// The number, where a result is a single number.
pub(super) fn single_number(computed: &SqlResult) -> Option<f64> {
    let [row] = computed.rows.as_slice() else { return None };
    let [value] = row.values.as_slice() else { return None };
    value.as_f64()
}

/// Whether a text names other numbers than the given one, which may be rounded or a word.
pub(super) fn names_other_number(text: &str, number: f64) -> bool {
    // A share may be a percentage.
    let same = [number, if text.contains('%') { 100.0 * number } else { number }];
    let is_close = |read: f64| same.iter().any(|n| (read - n).abs() <= ROUNDED * n.abs());
    let is_one = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
        let point = bare.replace(',', "").parse().ok();
        let comma = bare.replace('.', "").replace(',', ".").parse().ok();
        let named = cardinal(&bare.to_lowercase()).and_then(|whole| u32::try_from(whole).ok());
        let named = named.map(f64::from);
        [point, comma, named].into_iter().flatten().any(is_close)
    };
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    !digits.is_empty()
        && !text.split_whitespace().any(is_one)
        && !digits.parse().is_ok_and(is_close)
}

/// The first rows of a result as passages, each with the names of its columns.
pub(super) fn shown(computed: &SqlResult, tables: &[Offered], limit: usize) -> Vec<Hit> {
    let read = |offered: &&Offered| computed.documents.contains(&offered.table.document);
    let caption = |offered: &Offered| match offered.table.caption.as_str() {
        "" => offered.table.name.clone(),
        caption => caption.to_owned(),
    };
    let title: Vec<String> = tables.iter().filter(read).map(caption).collect();
    let rows = computed.rows.iter().take(limit).enumerate().map(|(i, row)| {
        let cell = |(column, value): (&String, &Value)| format!("{column}: {}", plain(value));
        let cells: Vec<String> = computed.columns.iter().zip(&row.values).map(cell).collect();
        let text = cells.join("; ");
        Hit {
            id: NodeId(format!("result:{}", i + 1)),
            layer: Layer::Row,
            parent: None,
            document: computed.documents.first().cloned().unwrap_or_default(),
            title: title.join(", "),
            section: None,
            page: None,
            score: 1.0,
            cosine: None,
            parts: vec![],
            span: Span { start: 0, end: text.chars().count() },
            text,
        }
    });
    rows.collect()
}

pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "–".into(),
        // A sum of amounts is 10250, not 10250.0.
        Value::Number(number) => match number.as_f64() {
            Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => format!("{whole:.0}"),
            _ => number.to_string(),
        },
        value => value.to_string(),
    }
}

/// The rows of tables that the result comes from, each once. A count may rest on thousands: the
/// first are cited, and their number is noted.
pub(super) async fn cited(computed: &SqlResult, limit: usize, cx: &Cx) -> Result<Vec<Citation>> {
    let mut sources: Vec<&NodeId> = vec![];
    let mut seen = std::collections::HashSet::new();
    for source in computed.rows.iter().flat_map(|row| &row.sources) {
        if seen.insert(source) {
            sources.push(source);
        }
    }
    if sources.len() > limit {
        let rows = thousands(sources.len() as u64);
        cx.note(format!("the result is based on {rows} rows: citing the first {limit}"));
        sources.truncate(limit);
    }
    let hits = try_join_all(sources.into_iter().map(|id| cx.get(id))).await?;
    Ok(hits.iter().map(Citation::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_as_people_write_it() {
        for text in ["10,250", "10.250 €", "10 250", "about 10,300.", "It is 10250."] {
            assert!(!names_other_number(text, 10250.0), "{text}");
        }
        assert!(!names_other_number("25 %", 0.25) && names_other_number("25", 0.25));
        for text in ["Four contracts", "4", "Yes", ""] {
            assert!(!names_other_number(text, 4.0), "{text}");
        }
        assert!(names_other_number("0", 4.0) && names_other_number("12 of 13 contracts", 4.0));
    }
}
