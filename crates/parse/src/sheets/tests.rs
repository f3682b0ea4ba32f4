//! Sheets as people make them.
use super::*;
use crate::check::{check, outline};

fn sheet(cells: &[(u32, u32, &str)], merged: &[[u32; 4]]) -> Parsed {
    let cells =
        cells.iter().map(|(row, column, text)| (*row, *column, (*text).to_owned())).collect();
    let mut writer = Writer::new("xlsx");
    write(
        Sheet { name: "One".into(), cells, merged: merged.to_vec(), ..Sheet::default() },
        &mut writer,
    )
    .unwrap();
    let parsed = writer.finish();
    check(&parsed);
    parsed
}

#[test]
fn titles_gaps_and_far_cells() {
    let parsed = sheet(
        &[
            (0, 0, "Stanley Cups"),
            (2, 0, "Team"),
            (2, 3, "Cups"),
            (3, 0, "Blues"),
            (3, 3, "1"),
            (1_048_575, 16_383, "far"),
        ],
        &[],
    );
    assert_eq!(outline(&parsed)[..2], ["h1 # One", "p Stanley Cups"]);
    let table = &parsed.tables[0];
    assert_eq!(table.caption.as_deref(), Some("One"));
    assert_eq!(table.columns, ["Team", "Cups", ""]);
    assert_eq!(table.rows[1].cells, ["", "", "far"]);
    assert_eq!(&parsed.text[table.rows[0].range.clone()], "| Blues | 1 |  |");
}

#[test]
fn merged_cells_are_repeated_and_named() {
    let parsed = sheet(
        &[
            (0, 0, "Name"),
            (0, 1, "Cost"),
            (1, 1, "low"),
            (1, 2, "high"),
            (2, 0, "Jaws"),
            (2, 1, "7"),
            (2, 2, "9"),
            (3, 1, "8"),
        ],
        &[[0, 1, 0, 0], [0, 0, 1, 2], [2, 3, 0, 0]],
    );
    let table = &parsed.tables[0];
    assert_eq!(table.columns, ["Name", "Cost / low", "Cost / high"]);
    assert_eq!(table.rows[1].cells, ["Jaws", "8", ""]);
    assert_eq!(table.merged, [Merged { row: 0, column: 0, rows: 2, columns: 1 }]);
}

#[test]
fn years_may_name_columns_and_numbers_do_not() {
    let years = sheet(&[(0, 0, "Segment"), (0, 1, "2022"), (1, 0, "Toys"), (1, 1, "5")], &[]);
    assert_eq!(years.tables[0].columns, ["Segment", "2022"]);
    let values = sheet(&[(0, 0, "Toys"), (0, 1, "5"), (1, 0, "Games"), (1, 1, "7")], &[]);
    assert_eq!(values.tables[0].columns, ["", ""]);
    assert_eq!(values.tables[0].rows.len(), 2);
}
