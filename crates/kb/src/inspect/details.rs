//! What a node is beyond its text, layer by layer, as one looks at it.
use std::collections::BTreeMap;

use halma_core::{Edge, Layer, NodeId};
use serde::Serialize;

use crate::Base;
use crate::store::{
    At, AtomRecord, ChunkRecord, ColumnKind, CommunityRecord, DocumentRecord, EntityRecord,
    FactRecord, FigureRecord, Reading, Row, RowRecord, SectionRecord, SummaryRecord, TableRecord,
    TagRecord, node_id,
};

/// What a node is beyond its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Details {
    Document {
        /// The first is the one shown; the others hold the same text.
        names: Vec<String>,
        source: String,
        format: String,
        url: Option<String>,
        date: Option<String>,
        author: Option<String>,
        language: Option<String>,
        /// Page numbers with the character at which each begins.
        pages: Vec<(u32, usize)>,
        /// Hyperlinks: from where in the text (characters) to what.
        links: Vec<((usize, usize), String)>,
        warnings: Vec<String>,
        /// What it is made of, by layer.
        parts: BTreeMap<Layer, u64>,
    },
    Section {
        level: u8,
        chunks: u64,
    },
    Chunk {
        /// By the model that cut it.
        summary: Option<String>,
        /// Whether its text is the document's at its span, or made of it (rows of a table).
        verbatim: bool,
    },
    Atom,
    Table {
        columns: Vec<ColumnDetails>,
        rows: u64,
        caption: Option<String>,
        /// Row, column, rows, columns.
        merged: Vec<(u32, u32, u32, u32)>,
        /// For a table made from facts: of which relation.
        relation: Option<String>,
    },
    Row {
        table: Option<NodeId>,
        number: u32,
        /// By column, in order.
        cells: Vec<(String, String)>,
    },
    Figure {
        caption: Option<String>,
        description: Option<String>,
    },
    Summary,
    Tag {
        class: String,
    },
    Entity {
        of_kind: String,
        key: String,
        aliases: Vec<String>,
        /// Chunks and atoms that name it.
        mentions: u64,
    },
    Fact {
        head: Option<NodeId>,
        relation: String,
        tail: Option<NodeId>,
    },
    Community {
        level: u8,
        members: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnDetails {
    pub name: String,
    /// `text`, `integer`, `number`, `date` or `truth`.
    pub values: &'static str,
}

impl Base {
    /// The document that a node belongs to; `None` for what belongs to several.
    pub(super) fn document_of(
        &self,
        txn: &Reading<'_>,
        (layer, row): At,
    ) -> heed::Result<Option<DocumentRecord>> {
        let store = &self.store;
        let chunk = match layer {
            Layer::Chunk => Some(row),
            Layer::Atom => store.node::<AtomRecord>(txn, row)?.map(|atom| atom.chunk),
            Layer::Row => store.node::<RowRecord>(txn, row)?.map(|row| row.chunk),
            Layer::Fact => store.node::<FactRecord>(txn, row)?.map(|fact| fact.chunk),
            _ => None,
        };
        let document = match layer {
            Layer::Document => Some(row),
            Layer::Section => store.node::<SectionRecord>(txn, row)?.map(|part| part.document),
            Layer::Table => store.node::<TableRecord>(txn, row)?.and_then(|part| part.document),
            Layer::Figure => store.node::<FigureRecord>(txn, row)?.map(|part| part.document),
            Layer::Summary => store.node::<SummaryRecord>(txn, row)?.map(|part| part.document),
            _ => match chunk {
                Some(chunk) => store.node::<ChunkRecord>(txn, chunk)?.map(|part| part.document),
                None => None,
            },
        };
        match document {
            Some(document) => store.node(txn, document),
            None => Ok(None),
        }
    }

    /// `None` when the node is gone.
    pub(super) fn details(
        &self,
        txn: &Reading<'_>,
        (layer, row): At,
    ) -> heed::Result<Option<Details>> {
        let store = &self.store;
        Ok(match layer {
            Layer::Document => match store.node(txn, row)? {
                Some(record) => Some(self.of_document(txn, row, record)?),
                None => None,
            },
            Layer::Section => store.node::<SectionRecord>(txn, row)?.map(|section| {
                let chunks = u64::from(section.chunks.1 - section.chunks.0);
                Details::Section { level: section.level, chunks }
            }),
            Layer::Chunk => store.node::<ChunkRecord>(txn, row)?.map(|chunk| Details::Chunk {
                summary: chunk.summary,
                verbatim: chunk.text.is_none(),
            }),
            Layer::Atom => store.holds(txn, (layer, row))?.then_some(Details::Atom),
            Layer::Table => match store.node(txn, row)? {
                Some(table) => Some(self.of_table(txn, table)?),
                None => None,
            },
            Layer::Row => match store.node(txn, row)? {
                Some(record) => Some(self.of_row(txn, record)?),
                None => None,
            },
            Layer::Figure => store.node::<FigureRecord>(txn, row)?.map(|figure| Details::Figure {
                caption: figure.caption,
                description: figure.description,
            }),
            Layer::Summary => store.holds(txn, (layer, row))?.then_some(Details::Summary),
            Layer::Tag => {
                store.node::<TagRecord>(txn, row)?.map(|tag| Details::Tag { class: tag.class })
            }
            Layer::Entity | Layer::Fact | Layer::Community => {
                self.of_knowledge(txn, (layer, row))?
            }
        })
    }

    fn of_document(
        &self,
        txn: &Reading<'_>,
        row: Row,
        record: DocumentRecord,
    ) -> heed::Result<Details> {
        let mut parts = BTreeMap::new();
        for (layer, rows) in [
            (Layer::Section, record.sections),
            (Layer::Chunk, record.chunks),
            (Layer::Table, record.tables),
            (Layer::Figure, record.figures),
        ] {
            parts.insert(layer, u64::from(rows.1 - rows.0));
        }
        let mut listed = self.store.listed_under(txn, (Layer::Document, row))?;
        for chunk in record.chunks.0..record.chunks.1 {
            listed.extend(self.store.listed_under(txn, (Layer::Chunk, chunk))?);
            let atoms = self.store.atoms_of(txn, chunk)?;
            *parts.entry(Layer::Atom).or_default() += u64::from(atoms.end - atoms.start);
        }
        for (layer, _) in listed {
            *parts.entry(layer).or_default() += 1;
        }
        parts.retain(|_, count| *count > 0);
        Ok(Details::Document {
            names: record.names,
            source: record.source,
            format: record.format,
            url: record.url,
            date: record.date,
            author: record.author,
            language: record.language,
            pages: record.pages,
            links: record.links,
            warnings: record.warnings,
            parts,
        })
    }

    fn of_table(&self, txn: &Reading<'_>, table: TableRecord) -> heed::Result<Details> {
        let held = self.store.rows(txn, Layer::Row, table.rows.0, usize::MAX)?;
        let rows = held.iter().take_while(|row| **row < table.rows.1).count() as u64;
        let columns = table.columns.into_iter();
        let columns = columns
            .map(|column| ColumnDetails { name: column.name, values: values(column.kind) })
            .collect();
        let (caption, merged, relation) = (table.caption, table.merged, table.relation);
        Ok(Details::Table { columns, rows, caption, merged, relation })
    }

    fn of_row(&self, txn: &Reading<'_>, record: RowRecord) -> heed::Result<Details> {
        let table = self.store.node::<TableRecord>(txn, record.table)?;
        let id = table.as_ref().map(|table| node_id(Layer::Table, table.id));
        let columns = table.map(|table| table.columns).unwrap_or_default();
        let name = |at: usize| columns.get(at).map_or_else(String::new, |c| c.name.clone());
        let cells = record.cells.into_iter().enumerate().map(|(at, cell)| (name(at), cell));
        Ok(Details::Row { table: id, number: record.number, cells: cells.collect() })
    }

    fn of_knowledge(&self, txn: &Reading<'_>, at: At) -> heed::Result<Option<Details>> {
        let store = &self.store;
        let (layer, row) = at;
        let led = |edge: Edge| store.edges_to(txn, at, Some(edge)).map(|links| links.len() as u64);
        let entity = |row: Row| {
            let found = store.id_of(txn, (Layer::Entity, row))?;
            Ok::<_, heed::Error>(found.map(|id| node_id(Layer::Entity, id)))
        };
        Ok(match layer {
            Layer::Entity => match store.node::<EntityRecord>(txn, row)? {
                Some(EntityRecord { kind: of_kind, key, aliases, .. }) => {
                    Some(Details::Entity { of_kind, key, aliases, mentions: led(Edge::Mentions)? })
                }
                None => None,
            },
            Layer::Fact => match store.node::<FactRecord>(txn, row)? {
                Some(FactRecord { head, relation, tail, .. }) => {
                    Some(Details::Fact { head: entity(head)?, relation, tail: entity(tail)? })
                }
                None => None,
            },
            _ => match store.node::<CommunityRecord>(txn, row)? {
                Some(CommunityRecord { level, .. }) => {
                    Some(Details::Community { level, members: led(Edge::MemberOf)? })
                }
                None => None,
            },
        })
    }
}

fn values(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text => "text",
        ColumnKind::Integer => "integer",
        ColumnKind::Number => "number",
        ColumnKind::Date => "date",
        ColumnKind::Truth => "truth",
    }
}
