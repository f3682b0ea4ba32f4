//! Tables with their rows, and figures: they come and go with their document.
use halma_core::Layer;

use super::outline::TableDraft;
use super::{DocumentDraft, at, table_summary};
use crate::store::{
    FigureRecord, Id, Row, RowRecord, Rows, StoreWriter, SummaryRecord, TableRecord, hash,
    summary_id,
};

/// Where a document's own rows begin in their layers.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct Begins {
    pub(in crate::store) document: Row,
    pub(in crate::store) section: Row,
    pub(in crate::store) chunk: Row,
}

/// A place in a list as a number of rows.
pub(super) fn number(index: usize) -> Row {
    Row::try_from(index).unwrap_or(Row::MAX)
}

impl StoreWriter<'_> {
    /// Puts in the tables and figures of a document; returns their rows.
    pub(in crate::store) fn put_tables_and_figures(
        &mut self,
        draft: &DocumentDraft<'_>,
        begins: Begins,
    ) -> heed::Result<(Rows, Rows)> {
        let outline = draft.outline;
        let tables = self.take_rows(Layer::Table, outline.tables.len())?;
        for (i, table) in outline.tables.iter().enumerate() {
            let parts = [&draft.id.to_be_bytes(), &at(table.place)[..], &number(i).to_be_bytes()];
            let (row, id) = (tables + number(i), hash(&parts));
            self.put_table(row, id, table, begins)?;
            let section = outline.sections.get(table.section);
            let text = table_summary(section.and_then(|section| section.name.as_deref()), table);
            let summary = SummaryRecord { id: summary_id(id), document: begins.document, text };
            self.put_summary(&summary, (Layer::Table, row))?;
        }
        let figures = self.take_rows(Layer::Figure, outline.figures.len())?;
        for (i, figure) in outline.figures.iter().enumerate() {
            let caption = figure.caption.as_deref().unwrap_or("");
            let place = at(figure.place);
            let id =
                [&draft.id.to_be_bytes(), &place[..], &number(i).to_be_bytes(), caption.as_bytes()];
            let record = FigureRecord {
                id: hash(&id),
                document: begins.document,
                section: begins.section + number(figure.section),
                place: figure.place,
                caption: figure.caption.clone(),
                description: figure.description.clone(),
                page: figure.page,
            };
            self.put_node(figures + number(i), &record)?;
        }
        let tables = (tables, tables + number(outline.tables.len()));
        Ok((tables, (figures, figures + number(outline.figures.len()))))
    }

    fn put_table(
        &mut self,
        table: Row,
        id: Id,
        draft: &TableDraft,
        begins: Begins,
    ) -> heed::Result<()> {
        let first = self.take_rows(Layer::Row, draft.rows.len())?;
        for (i, row) in draft.rows.iter().enumerate() {
            let number = number(i);
            let record = RowRecord {
                id: hash(&[&id.to_be_bytes(), &number.to_be_bytes()]),
                table,
                chunk: begins.chunk + self::number(row.chunk),
                also: vec![],
                number: number + 1,
                place: row.place,
                cells: row.cells.clone(),
            };
            self.put_node(first + number, &record)?;
        }
        let record = TableRecord {
            id,
            document: Some(begins.document),
            section: Some(begins.section + number(draft.section)),
            place: draft.place,
            caption: draft.caption.clone(),
            columns: draft.columns.clone(),
            rows: (first, first + number(draft.rows.len())),
            page: draft.page,
            merged: draft.merged.clone(),
            relation: None,
        };
        self.put_node(table, &record)
    }
}
