//! Why a query may find nothing: the texts that it filters by are spelled differently in the table.
use std::fmt::Write as _;

use halma_core::text::similarity::edit_distance;
use halma_core::{ColumnKind, Cx, Error, Result};
use serde_json::Value;

use super::offered::Offered;

/// Values of a column that are compared with a text, and those that are shown, the most similar
/// first; longer ones are cut.
const COMPARED: usize = 500;
const SHOWN: usize = 8;
const CHARS: usize = 60;

/// For each text that a query compares with: what the columns it names hold instead. Empty when it
/// compares with no text.
pub(super) async fn similar_values(sql: &str, tables: &[Offered], cx: &Cx) -> Result<String> {
    let texts = texts(sql);
    let mut out = String::new();
    if texts.is_empty() {
        return Ok(out);
    }
    let names = |name: &str| sql.to_lowercase().contains(&name.to_lowercase());
    for table in tables.iter().map(|offered| &offered.table).filter(|table| names(&table.name)) {
        let columns = table.columns.iter().filter(|column| column.kind == ColumnKind::Text);
        for column in columns.filter(|column| names(&column.name)) {
            let values = values(&table.name, &column.name, cx).await?;
            if let Some(values) = most_similar(values, &texts) {
                let _ = write!(out, "; `{}` holds {values}", column.name);
            }
        }
    }
    Ok(out)
}

async fn values(table: &str, column: &str, cx: &Cx) -> Result<Vec<String>> {
    let (table, column) = (table.replace('"', "\"\""), column.replace('"', "\"\""));
    let sql = format!("SELECT DISTINCT \"{column}\" FROM \"{table}\" LIMIT {COMPARED}");
    let rows = match cx.run_sql(&sql).await {
        Ok(computed) => computed.rows,
        Err(Error::Knowledge(_)) => return Ok(vec![]),
        Err(error) => return Err(error),
    };
    let text = |value: Value| value.as_str().map(str::to_owned);
    Ok(rows.into_iter().flat_map(|row| row.values).filter_map(text).collect())
}

/// The values most like one of the texts; `None` where the column holds none.
fn most_similar(mut values: Vec<String>, texts: &[String]) -> Option<String> {
    let distance = |value: &String| {
        let value = value.to_lowercase();
        let within = |text: &String| value.contains(text) || text.contains(&value);
        let to = |text: &String| if within(text) { 0 } else { edit_distance(&value, text) };
        texts.iter().map(to).min()
    };
    values.sort_by_cached_key(distance);
    let short = |value: &String| format!("'{}'", value.chars().take(CHARS).collect::<String>());
    let shown: Vec<String> = values.iter().take(SHOWN).map(short).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// The texts in quotation marks, in lower case and without wildcards; a date or a number is spelled
/// in one way only.
fn texts(sql: &str) -> Vec<String> {
    let mut texts = vec![];
    // A quotation mark in a text is written twice, so that the text is two texts here.
    for text in sql.split('\'').skip(1).step_by(2) {
        let text = text.trim_matches(['%', '_', ' ']).to_lowercase();
        if text.chars().any(char::is_alphabetic) && !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_filter_are_found_and_dates_are_not() {
        let sql = "SELECT COUNT(*) FROM t WHERE LOWER(a) LIKE '%Sea Fog%' AND d < '2020-01-31' \
                   AND b = 'x'";
        assert_eq!(texts(sql), ["sea fog", "x"]);
        assert_eq!(texts("SELECT 1"), Vec::<String>::new());
    }

    #[test]
    fn the_most_similar_values_come_first() {
        let values = ["Dry dock", "Lighthouse", "Light house (old)"].map(str::to_owned).to_vec();
        let shown = most_similar(values, &["light-house".into()]).unwrap();
        assert_eq!(shown, "'Lighthouse', 'Light house (old)', 'Dry dock'");
        assert_eq!(most_similar(vec![], &["a".into()]), None);
    }
}
