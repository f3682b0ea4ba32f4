//! Rows in aligned columns.

/// Pads every column to its widest cell; the first row is the header.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| console::measure_text_width(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let pad = |(cell, width): (&String, &usize)| {
            console::pad_str(cell, *width, console::Alignment::Left, None).into_owned()
        };
        row.iter().zip(&widths).map(pad).collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
