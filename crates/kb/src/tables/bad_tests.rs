//! Wrong and malicious queries, odd tables, large tables.
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::tests::{Library, drugs};
use crate::cut::cut_now;
use crate::cut::testing::{delimited, plain, settings};
use crate::{Chunks, KbError, SqlError, SqlLimits};

#[test]
fn wrong_names_are_told_with_near_ones() {
    let library = drugs();
    let said = library.said("SELECT makr FROM biosimilars");
    assert!(said.contains("no such column: makr") && said.contains(": `maker`"), "{said}");
    let said = library.said("SELECT name FROM biosimilar");
    assert!(said.contains("tables: `biosimilars`"), "{said}");
    let said = library.said("SELECT name FROM biosimilars WHERE maker = \"Sandoz\"");
    assert!(said.contains("single quotes"), "a text in double quotes is not a name: {said}");
    assert!(library.said("SELECT FROM").contains("syntax error"));
    assert!(library.said(" -- nothing").contains("empty"));
    assert!(library.said("SELECT '\0'").contains("NUL"));
}

#[test]
fn a_query_changes_nothing_and_sees_nothing_else() {
    let library = drugs();
    for sql in [
        "DROP TABLE biosimilars",
        "INSERT INTO biosimilars(name) VALUES ('x')",
        "WITH x AS (SELECT 1) DELETE FROM biosimilars",
        "SELECT 1; DROP TABLE biosimilars",
        "SELECT 1; SELECT 2",
        "ATTACH DATABASE 'x.db' AS x",
        "PRAGMA query_only = 0",
        "SELECT * FROM pragma_table_info('biosimilars')",
        "SELECT * FROM sqlite_master",
        "SELECT load_extension('x')",
        "CREATE TABLE x(y)",
        "VACUUM INTO 'x.db'",
        "BEGIN",
        "EXPLAIN SELECT 1",
    ] {
        let refused = library.try_sql(sql);
        let fits = matches!(refused, Err(KbError::Sql(SqlError::NotAllowed { .. })));
        assert!(fits, "{sql}: {:?}", refused.map_err(|e| e.to_string()));
    }
    assert_eq!(library.values("SELECT count(*) FROM biosimilars"), [[json!(3)]]);
    assert_eq!(library.values("SELECT ';' -- ; DROP TABLE x\n;"), [[json!(";")]]);
}

#[test]
fn a_query_ends() {
    let library = drugs();
    let limits = SqlLimits { time: Duration::from_millis(30), ..SqlLimits::default() };
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let ended = library.base.sql(endless, limits);
    assert!(matches!(ended, Err(KbError::Sql(SqlError::Timeout { .. }))), "{ended:?}");
    let large = library.try_sql("SELECT hex(zeroblob(90000000))");
    assert!(matches!(large, Err(KbError::Sql(SqlError::OutOfMemory))), "{large:?}");
    assert_eq!(library.values("SELECT count(*) FROM biosimilars"), [[json!(3)]]);
}

/// Pieces of queries, put together in any order.
const PIECES: &[&str] = &[
    "SELECT",
    "DISTINCT",
    "*",
    "name",
    "maker",
    "_row",
    "_document",
    "b._page",
    "count(*)",
    "max(price_usd)",
    "FROM",
    "biosimilars",
    "biosimilars AS b",
    "tables",
    "\"First approval\"",
    "[Maker]",
    "`x`",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "ORDER BY 1",
    "LIMIT 2",
    "UNION",
    "WITH x AS (",
    "(",
    ")",
    ",",
    "AS",
    "'a",
    "\"b",
    "--",
    "/*",
    "*/",
    ";",
    "JOIN",
    "ON",
    "USING(",
    "IN",
    "OVER ()",
    "FILTER (",
    "0x",
    "1e999",
    "é",
    "🦀",
    "::",
    "CASE WHEN",
    "END",
    "json_each('[1]')",
    "VALUES (1)",
    "EXISTS",
    ".",
    "=",
    "||",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::tables::tests::cases(300),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_query_of_any_shape_does_harm(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
        let library = drugs();
        for sql in [format!("SELECT {}", pieces.join(" ")), pieces.join(" ")] {
            match library.try_sql(&sql) {
                Ok(result) => prop_assert!(result.rows.iter().all(|row| row.values.len() == result.columns.len())),
                Err(KbError::Sql(SqlError::Load { reason })) => prop_assert!(false, "{sql}: {reason}"),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
        prop_assert_eq!(library.values("SELECT count(*) FROM biosimilars"), [[json!(3)]]);
    }
}

#[test]
fn odd_cells_and_names_do_no_harm() {
    let library = Library::new();
    library.csv(
        "odd \"name\"; drop table x.csv",
        "a,A,,\"two\nlines\",order,\"x\"\"y\"\n\"one\ntwo\",\"it's\",\"nul\0here\",4,5,6\n,,,,,\n7,8,,,,\n",
    );
    let line = &library.base.tables().unwrap()[0];
    assert_eq!(line.name, "odd_name_drop_table_x");
    let names: Vec<&str> = line.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["a", "a_2", "column_3", "two_lines", "order_", "x_y"]);
    let rows = library.values("SELECT * FROM odd_name_drop_table_x");
    assert_eq!(rows[0][..4], [json!("one\ntwo"), json!("it's"), json!("nul\0here"), json!(4)]);
    assert_eq!(rows[1][..3], [json!("7"), json!("8"), Value::Null]);
    assert_eq!(rows.len(), 2);
    let quoted =
        library.values("SELECT \"two\nlines\", \"x\"\"y\" FROM odd_name_drop_table_x LIMIT 1");
    assert_eq!(quoted, [[json!(4), json!(6)]]);
}

#[test]
fn a_sheet_of_16384_columns_is_stored_and_refused_with_a_reason() {
    let library = drugs();
    let header: Vec<String> = (0..16_384).map(|i| format!("c{i}")).collect();
    let row: Vec<String> = (0..16_384).map(|i| i.to_string()).collect();
    library.csv("wide.csv", &format!("{}\n{}\n", header.join(","), row.join(",")));
    let said = library.said("SELECT c1 FROM wide");
    assert!(said.contains("16384 columns") && said.contains("2000"), "{said}");
    let wide = library.base.tables().unwrap().into_iter().find(|line| line.name == "wide").unwrap();
    assert_eq!((wide.columns.len(), wide.rows, wide.refused.is_some()), (16_384, 1, true));
    assert_eq!(library.values("SELECT count(*) FROM tables"), [[json!(2)]]);
    assert_eq!(library.values("SELECT count(*) FROM biosimilars"), [[json!(3)]]);
}

#[test]
#[ignore = "prints a measurement; `make soak` runs it"]
#[expect(clippy::print_stderr, reason = "its result")]
fn rows_per_second() {
    for count in [10_000, 100_000] {
        let library = Library::new();
        let row = |i: i32| format!("item {i},{},2023-01-31,{},some words here\n", i % 7, i / 2);
        let rows = (0..count).map(row).collect::<Vec<_>>().concat();
        let text = format!("Item,Region,Day,Amount,Note\n{rows}");
        let settings = settings(Chunks::Structure, 1500);
        let query = "SELECT region, sum(amount) FROM items GROUP BY region";
        let mut began = std::time::Instant::now();
        let mut lap = || std::mem::replace(&mut began, std::time::Instant::now()).elapsed();
        let parsed = delimited(&text, b',');
        let read = lap();
        drop(cut_now(&parsed, "", &settings).unwrap());
        let cut = lap();
        library.add("items.csv", &parsed);
        let stored = lap();
        assert_eq!(library.sql(query).rows.len(), 7);
        let first = lap();
        library.sql(query);
        let next = lap();
        eprintln!(
            "{count} rows: read {read:.2?}, cut {cut:.2?}, cut and stored {stored:.2?}, first \
             query {first:.2?}, next {next:.2?}"
        );
    }
    let record = plain("Jaws is a film by Steven Spielberg. It was shot at sea.");
    let began = std::time::Instant::now();
    for _ in 0..100_000 {
        drop(cut_now(&record, "Jaws", &settings(Chunks::Structure, 1500)).unwrap());
    }
    eprintln!("100000 records cut in {:.2?}", began.elapsed());
}
