//! What must be true of every document, for the tests.
use crate::parsed::{BlockKind, Parsed};

/// Blocks are in order, inside the text, and leave only white space between them; whatever points
/// into the text points at characters.
pub(crate) fn check(parsed: &Parsed) {
    let mut at = parsed.body;
    for block in &parsed.blocks {
        assert!(
            block.range.start >= at && block.range.start < block.range.end,
            "{block:?} at {at}"
        );
        let gap = &parsed.text[at..block.range.start];
        assert!(gap.trim().is_empty(), "{gap:?} lies between blocks");
        let words = &parsed.text[block.range.clone()];
        assert_eq!(words.trim(), words, "white space around {block:?}");
        match block.kind {
            BlockKind::Table(table) => assert!(table < parsed.tables.len()),
            BlockKind::Figure(figure) => assert!(figure < parsed.figures.len()),
            _ => {}
        }
        at = block.range.end;
    }
    assert!(parsed.text[at..].trim().is_empty(), "{:?} is in no block", &parsed.text[at..]);
    for table in &parsed.tables {
        let mut row_at = table.range.start;
        for row in &table.rows {
            assert_eq!(row.cells.len(), table.columns.len(), "{row:?} {:?}", table.columns);
            assert!(
                row.range.start >= row_at && row.range.end <= table.range.end,
                "{row:?} in {:?}",
                table.range
            );
            let _ = &parsed.text[row.range.clone()];
            row_at = row.range.end;
        }
        for merged in &table.merged {
            assert!(merged.row + merged.rows <= table.rows.len(), "{merged:?}");
            assert!(merged.column + merged.columns <= table.columns.len(), "{merged:?}");
        }
        let _ = &parsed.text[table.range.clone()];
    }
    for range in
        parsed.links.iter().map(|l| &l.range).chain(parsed.figures.iter().map(|f| &f.range))
    {
        let _ = &parsed.text[range.clone()];
    }
    let mut last = (0, 0);
    for page in &parsed.pages {
        assert!(page.number > last.0 && page.start >= last.1, "{page:?} after {last:?}");
        let _ = &parsed.text[page.start..];
        last = (page.number, page.start);
    }
}

/// Each block on a line: its kind and its words.
pub(crate) fn outline(parsed: &Parsed) -> Vec<String> {
    let line = |block: &crate::parsed::Block| {
        let kind = match block.kind {
            BlockKind::Heading { level } => format!("h{level}"),
            BlockKind::Paragraph => "p".into(),
            BlockKind::ListItem => "item".into(),
            BlockKind::Quote => "quote".into(),
            BlockKind::Code => "code".into(),
            BlockKind::Table(_) => "table".into(),
            BlockKind::Figure(_) => "figure".into(),
        };
        let words: Vec<&str> = parsed.text[block.range.clone()].split_whitespace().collect();
        format!("{kind} {}", words.join(" "))
    };
    parsed.blocks.iter().map(line).collect()
}
