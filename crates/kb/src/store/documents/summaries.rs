//! Summaries that come with a document: of its chunks, by the model that cut it, and of its tables.
use halma_core::{Edge, Layer};

use super::outline::{ChunkDraft, TableDraft};
use crate::store::{At, Id, Link, Row, StoreWriter, SummaryRecord, forward_id, summary_id};

/// Columns of a table that its summary names, values of each, and characters of a value.
const COLUMNS: usize = 24;
const EXAMPLES: usize = 4;
const EXAMPLE_CHARS: usize = 40;

/// Rows that the examples are taken from.
const ROWS: usize = 200;

impl StoreWriter<'_> {
    /// Puts in what the cutting model said of a chunk.
    pub(in crate::store) fn put_chunk_summaries(
        &mut self,
        document: Row,
        chunk: Row,
        id: Id,
        draft: &ChunkDraft,
    ) -> heed::Result<()> {
        let node = (Layer::Chunk, chunk);
        if let Some(text) = draft.summary.clone() {
            self.put_summary(&SummaryRecord { id: summary_id(id), document, text }, node)?;
        }
        if let Some(text) = draft.forward.clone() {
            self.put_summary(&SummaryRecord { id: forward_id(id), document, text }, node)?;
        }
        Ok(())
    }

    /// Puts in a summary of a node.
    pub(in crate::store) fn put_summary(
        &mut self,
        summary: &SummaryRecord,
        node: At,
    ) -> heed::Result<()> {
        let row = self.take_rows(Layer::Summary, 1)?;
        self.put_node(row, summary)?;
        self.put_edge(Link::new((Layer::Summary, row), Edge::DerivedFrom, node))
    }
}

/// What a table is about, in words that no model has written: its heading, its caption, and for
/// each column some of its values.
pub(crate) fn table_summary(heading: Option<&str>, draft: &TableDraft) -> String {
    let mut lines: Vec<String> = vec![];
    for line in [heading, draft.caption.as_deref()].into_iter().flatten() {
        if !line.is_empty() && lines.iter().all(|written| !written.contains(line)) {
            lines.push(line.to_owned());
        }
    }
    for (at, column) in draft.columns.iter().take(COLUMNS).enumerate() {
        let mut values: Vec<&str> = vec![];
        for row in draft.rows.iter().take(ROWS) {
            let value = row.cells.get(at).map_or("", |cell| cell.trim());
            let fits = !value.is_empty() && value.chars().count() <= EXAMPLE_CHARS;
            if fits && values.len() < EXAMPLES && !values.contains(&value) {
                values.push(value);
            }
        }
        let name = column.name.trim();
        match (name.is_empty(), values.is_empty()) {
            (true, true) => {}
            (true, false) => lines.push(values.join(", ")),
            (false, true) => lines.push(name.to_owned()),
            (false, false) => lines.push(format!("{name}: {}", values.join(", "))),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use halma_core::ColumnKind;

    use crate::store::{Column, RowDraft, TextPlace};

    #[test]
    fn a_table_is_summed_up_by_its_columns_and_some_of_their_values() {
        let column = |name: &str| Column { name: name.into(), kind: ColumnKind::Text };
        let row = |cells: [&str; 2]| RowDraft {
            chunk: 0,
            place: TextPlace::default(),
            cells: cells.map(str::to_owned).to_vec(),
        };
        let draft = TableDraft {
            section: 0,
            place: TextPlace::default(),
            caption: Some("Approvals".into()),
            columns: vec![column("Product"), column("")],
            rows: vec![row(["Zarxio", "2015"]), row(["Amjevita", "2016"]), row(["Zarxio", " "])],
            page: None,
            merged: vec![],
        };
        let text = table_summary(Some("Biosimilars"), &draft);
        assert_eq!(text, "Biosimilars\nApprovals\nProduct: Zarxio, Amjevita\n2015, 2016");
        assert_eq!(table_summary(None, &TableDraft { columns: vec![], ..draft }), "Approvals");
    }
}
