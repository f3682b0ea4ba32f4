//! Texts, Markdown and delimited files in the form that the parse crate gives documents, for as
//! long as they are read here.
use std::ops::Range;

use halma_parse::{Block, BlockKind, Parsed, Table, TableRow};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{Draft, Kind, markdown, table};

pub(crate) fn parsed(draft: &Draft) -> Parsed {
    match draft.kind {
        Kind::Plain => plain(&draft.text),
        Kind::Markdown => markdown(&draft.text),
        Kind::Table { delimiter } => delimited(&draft.text, delimiter),
    }
}

pub(crate) fn plain(text: &str) -> Parsed {
    let mut blocks = vec![];
    push(&mut blocks, text, 0..text.len(), BlockKind::Paragraph);
    Parsed { format: "text", text: text.to_owned(), blocks, ..Parsed::default() }
}

pub(crate) fn delimited(text: &str, delimiter: u8) -> Parsed {
    let (columns, rows) = table::cells(text, delimiter);
    let mut blocks = vec![];
    push(&mut blocks, text, 0..text.len(), BlockKind::Table(0));
    let range = blocks.first().map_or(0..0, |block| block.range.clone());
    let tables = vec![Table { range, columns, rows, ..Table::default() }];
    Parsed { format: "csv", text: text.to_owned(), blocks, tables, ..Parsed::default() }
}

pub(crate) fn markdown(text: &str) -> Parsed {
    let body = markdown::about(text).body;
    let mut parsed = Parsed { format: "markdown", body, ..Parsed::default() };
    let (mut depth, mut at, mut cell) = (0, body, None);
    let mut cells = vec![];
    for (event, range) in Parser::new_ext(&text[body..], Options::ENABLE_TABLES).into_offset_iter()
    {
        let range = range.start + body..range.end + body;
        let kind = match &event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                Some(BlockKind::Heading { level: *level as u8 })
            }
            Event::Start(Tag::Paragraph | Tag::HtmlBlock) if depth == 0 => {
                Some(BlockKind::Paragraph)
            }
            Event::Start(Tag::CodeBlock(_)) if depth == 0 => Some(BlockKind::Code),
            Event::Start(Tag::BlockQuote(_)) if depth == 0 => Some(BlockKind::Quote),
            Event::Start(Tag::Item) if depth == 1 => Some(BlockKind::ListItem),
            Event::Start(Tag::Table(_)) if depth == 0 => {
                parsed.tables.push(Table { range: range.clone(), ..Table::default() });
                Some(BlockKind::Table(parsed.tables.len() - 1))
            }
            _ => None,
        };
        if let Some(kind) = kind {
            push(&mut parsed.blocks, text, at..range.start.max(at), BlockKind::Paragraph);
            push(&mut parsed.blocks, text, range.start.max(at)..range.end.max(at), kind);
            at = range.end.max(at);
        }
        match event {
            Event::Start(Tag::List(_) | Tag::BlockQuote(_)) => depth += 1,
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_)) => depth -= 1,
            Event::Start(Tag::TableCell) if depth == 0 => cell = Some(String::new()),
            Event::Text(words) | Event::Code(words) => {
                if let Some(cell) = &mut cell {
                    cell.push_str(&words);
                }
            }
            Event::End(TagEnd::TableCell) => cells.extend(cell.take()),
            Event::End(TagEnd::TableHead) if depth == 0 => {
                if let Some(table) = parsed.tables.last_mut() {
                    table.columns = std::mem::take(&mut cells);
                }
            }
            Event::End(TagEnd::TableRow) if depth == 0 => {
                if let Some(table) = parsed.tables.last_mut() {
                    table.rows.push(TableRow { range, cells: std::mem::take(&mut cells) });
                }
            }
            _ => {}
        }
    }
    push(&mut parsed.blocks, text, at..text.len(), BlockKind::Paragraph);
    text.clone_into(&mut parsed.text);
    parsed
}

fn push(blocks: &mut Vec<Block>, text: &str, range: Range<usize>, kind: BlockKind) {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    if !part.trim().is_empty() {
        blocks.push(Block { range: start..start + part.trim().len(), kind });
    }
}
