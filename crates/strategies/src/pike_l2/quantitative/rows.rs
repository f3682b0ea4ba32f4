//! What a query gave: as text for a reader, and as citations.
use futures::future::try_join_all;
use halma_core::text::thousands;
use halma_core::{Citation, Cx, Hit, Layer, NodeId, Result, Span, SqlResult};
use serde_json::Value;

use super::offered::Offered;

/// Whether a result has no rows, or nothing in them: what a sum over nothing gives.
pub(super) fn says_nothing(computed: &SqlResult) -> bool {
    computed.rows.iter().all(|row| row.values.iter().all(Value::is_null))
}

/// Whether a result is one row of zeros: a count of what fits no row.
pub(super) fn counts_nothing(computed: &SqlResult) -> bool {
    let zero = |value: &Value| value.is_null() || value.as_f64() == Some(0.0);
    matches!(computed.rows.as_slice(), [row] if row.values.iter().all(zero))
}

/// The first rows of a result as passages, each with the names of its columns.
pub(super) fn shown(computed: &SqlResult, tables: &[Offered], most: usize) -> Vec<Hit> {
    let read = |offered: &&Offered| computed.documents.contains(&offered.table.document);
    let caption = |offered: &Offered| match offered.table.caption.as_str() {
        "" => offered.table.name.clone(),
        caption => caption.to_owned(),
    };
    let title: Vec<String> = tables.iter().filter(read).map(caption).collect();
    let rows = computed.rows.iter().take(most).enumerate().map(|(i, row)| {
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

fn plain(value: &Value) -> String {
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
pub(super) async fn cited(computed: &SqlResult, most: usize, cx: &Cx) -> Result<Vec<Citation>> {
    let mut sources: Vec<&NodeId> = vec![];
    let mut seen = std::collections::HashSet::new();
    for source in computed.rows.iter().flat_map(|row| &row.sources) {
        if seen.insert(source) {
            sources.push(source);
        }
    }
    if sources.len() > most {
        let rows = thousands(sources.len() as u64);
        cx.note(format!("the result is based on {rows} rows: citing the first {most}"));
        sources.truncate(most);
    }
    let hits = try_join_all(sources.into_iter().map(|id| cx.get(id))).await?;
    Ok(hits.iter().map(Citation::from).collect())
}
