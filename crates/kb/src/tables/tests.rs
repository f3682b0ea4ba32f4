//! Queries over tables of a real store.
use halma_core::{ColumnKind, Layer, NodeId, SqlResult};
use halma_parse::Parsed;
use serde_json::{Value, json};

use super::SqlLimits;
use crate::cut::cut_now;
use crate::cut::testing::{delimited, markdown, settings};
use crate::store::{
    ChunkRecord, Column, DocumentDraft, RowRecord, TableRecord, TextPlace, hash, node_id,
};
use crate::{Base, BaseOptions, Chunks, KbError};

/// Cases of a test with random input; `make attack` asks for more.
pub(super) fn cases(usual: u32) -> u32 {
    let requested = std::env::var("HALMA_FUZZ").ok().and_then(|cases| cases.parse().ok());
    requested.unwrap_or(usual)
}

pub(super) struct Library {
    _dir: tempfile::TempDir,
    pub(super) base: std::sync::Arc<Base>,
}

impl Library {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = Base::create_or_open(dir.path(), BaseOptions::default()).unwrap();
        Self { _dir: dir, base }
    }

    pub(super) fn add(&self, name: &str, parsed: &Parsed) -> &Self {
        let cut = cut_now(parsed, "", &settings(Chunks::Structure, 1500)).unwrap();
        let draft = DocumentDraft {
            id: hash(&[name.as_bytes(), parsed.text.as_bytes()]),
            name,
            source: name,
            title: "",
            origin: "",
            parsed,
            outline: &cut.outline,
            cut_with: 0,
        };
        let store = &self.base.store;
        store
            .write(|writer| {
                writer.put_document(&draft)?;
                writer.publish()
            })
            .unwrap();
        self
    }

    pub(super) fn csv(&self, name: &str, text: &str) -> &Self {
        self.add(name, &delimited(text, b','))
    }

    fn remove(&self, name: &str) {
        let store = &self.base.store;
        store
            .write(|writer| {
                let row = writer.named(name)?.unwrap();
                writer.remove_document(row)?;
                writer.publish()
            })
            .unwrap();
    }

    pub(super) fn try_sql(&self, sql: &str) -> Result<SqlResult, KbError> {
        self.base.sql(sql, SqlLimits::default())
    }

    pub(super) fn sql(&self, sql: &str) -> SqlResult {
        self.try_sql(sql).unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    pub(super) fn values(&self, sql: &str) -> Vec<Vec<Value>> {
        self.sql(sql).rows.into_iter().map(|row| row.values).collect()
    }

    pub(super) fn said(&self, sql: &str) -> String {
        self.try_sql(sql).unwrap_err().to_string()
    }

    /// The cells of the rows that a result comes from.
    fn cells(&self, sources: &[NodeId]) -> Vec<Vec<String>> {
        let store = &self.base.store;
        let cells = |id: &NodeId| {
            let (layer, id) = crate::store::parse_id(id).unwrap();
            assert_eq!(layer, Layer::Row);
            store
                .read(|reader| {
                    let row = reader.find(layer, id)?.unwrap();
                    Ok(reader.linked::<RowRecord>(row)?.cells)
                })
                .unwrap()
        };
        sources.iter().map(cells).collect()
    }
}

const DRUGS: &str = "Name,Maker,First approval,Price (USD),Sold?\nZarxio,Sandoz,2015-03-06,$1\u{202f}200.50,\
                     yes\nAmjevita,Amgen,2016-09-23,$900,no\nHyrimoz,Sandoz,2018-10-30,n/a,yes\n";

pub(super) fn drugs() -> Library {
    let library = Library::new();
    library.csv("pharma/biosimilars.csv", DRUGS);
    library
}

#[test]
fn a_table_has_names_and_typed_columns() {
    let library = drugs();
    let lines = library.base.tables().unwrap();
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    assert_eq!((line.name.as_str(), line.rows), ("biosimilars", 3));
    assert_eq!(line.document.as_deref(), Some("pharma/biosimilars.csv"));
    let columns: Vec<_> =
        line.columns.iter().map(|c| (c.name.as_str(), c.kind, c.unit.as_deref())).collect();
    assert_eq!(
        columns,
        [
            ("name", ColumnKind::Text, None),
            ("maker", ColumnKind::Text, None),
            ("first_approval", ColumnKind::Date, None),
            ("price_usd", ColumnKind::Number, Some("$")),
            ("sold", ColumnKind::Boolean, None)
        ]
    );
    let result = library.sql("SELECT * FROM biosimilars WHERE sold AND price_usd IS NOT NULL;");
    assert_eq!(result.columns, ["name", "maker", "first_approval", "price_usd", "sold"]);
    assert_eq!(result.rows[0].values[2..], [json!("2015-03-06"), json!(1200.5), json!(true)]);
    assert_eq!(result.documents, ["pharma/biosimilars.csv"]);
    assert!(!result.cut);
    let listed = library.sql("SELECT name, document, rows, columns FROM tables");
    assert_eq!(listed.rows[0].values[2], json!(3));
    let columns = listed.rows[0].values[3].as_str().unwrap();
    assert!(columns.ends_with("price_usd number ($), sold boolean (1 or 0)"), "{columns}");
    assert_eq!(listed.rows[0].sources[..], std::slice::from_ref(&line.id)[..]);
}

#[test]
fn names_as_written_work_in_quotes() {
    let library = drugs();
    for sql in [
        "SELECT \"First approval\" FROM biosimilars WHERE Name = 'Zarxio'",
        "SELECT b.\"first APPROVAL\" FROM \"pharma/biosimilars.csv\" AS b WHERE name = 'Zarxio'",
        "SELECT pharma_biosimilars.first_approval FROM pharma_biosimilars WHERE name = 'Zarxio'",
        "SELECT [First approval] FROM `Biosimilars` LIMIT 1",
    ] {
        assert_eq!(library.values(sql), [[json!("2015-03-06")]], "{sql}");
    }
    assert_eq!(library.sql("SELECT name AS \"Maker\" FROM biosimilars").columns, ["Maker"]);
}

#[test]
fn every_row_of_a_result_names_the_rows_it_comes_from() {
    let library = drugs();
    let sources = |sql: &str| -> Vec<Vec<String>> {
        let first = |row: &halma_core::SqlRow| {
            let mut names: Vec<String> =
                library.cells(&row.sources).into_iter().map(|cells| cells[0].clone()).collect();
            names.sort();
            names
        };
        library.sql(sql).rows.iter().map(first).collect()
    };
    let all = ["Amjevita", "Hyrimoz", "Zarxio"];
    assert_eq!(sources("SELECT name FROM biosimilars ORDER BY name"), all.map(|name| [name]));
    assert_eq!(sources("SELECT count(*) FROM biosimilars"), [all]);
    assert_eq!(
        sources("SELECT maker, count(*) FROM biosimilars GROUP BY maker ORDER BY 1"),
        [vec!["Amjevita"], vec!["Hyrimoz", "Zarxio"]]
    );
    assert_eq!(sources("SELECT max(price_usd) FROM biosimilars"), [["Zarxio"]]);
    assert_eq!(
        sources("SELECT DISTINCT maker FROM biosimilars ORDER BY maker DESC"),
        [vec!["Hyrimoz", "Zarxio"], vec!["Amjevita"]]
    );
    assert_eq!(
        sources(
            "SELECT a.name FROM biosimilars a JOIN biosimilars b ON a.maker = b.maker AND a.name < b.name"
        ),
        [["Hyrimoz", "Zarxio"]]
    );
    assert_eq!(
        sources("SELECT name, row_number() OVER (ORDER BY name) FROM biosimilars LIMIT 1"),
        [["Amjevita"]]
    );
}

#[test]
fn names_that_a_query_gives_are_its_own() {
    let library = drugs();
    let shadowed = "WITH pharma_biosimilars(n) AS (SELECT 7) SELECT n FROM pharma_biosimilars";
    let result = library.sql(shadowed);
    assert_eq!(result.rows[0].values, [json!(7)]);
    assert_eq!((result.rows[0].sources.len(), result.documents.len()), (0, 0));
    let named = "SELECT length(name) AS \"First approval\" FROM biosimilars \
                 ORDER BY \"First approval\" DESC LIMIT 1";
    assert_eq!(library.values(named), [[json!(8)]]);
}

#[test]
fn a_table_that_was_replaced_and_not_yet_published_is_read_anew() {
    let library = drugs();
    library.csv("other.csv", "a,b\n1,2\n");
    assert_eq!(library.values("SELECT count(*) FROM other"), [[json!(1)]]);
    let store = &library.base.store;
    store
        .write(|writer| {
            let row = writer.named("pharma/biosimilars.csv")?.unwrap();
            writer.remove_document(row)
        })
        .unwrap();
    let said = library.said("SELECT count(*) FROM biosimilars");
    assert!(said.contains("no such table"), "not a count of nothing: {said}");
}

#[test]
fn where_rows_are_not_known_the_tables_are_named() {
    let library = drugs();
    let table = library.base.tables().unwrap()[0].id.clone();
    for sql in [
        "SELECT count(*) FROM biosimilars WHERE name = 'Nothing'",
        "SELECT n FROM (SELECT count(*) AS n FROM biosimilars)",
        "WITH x AS (SELECT name FROM biosimilars) SELECT count(*) FROM x",
        "WITH biosimilars2 AS (SELECT name FROM biosimilars) SELECT name FROM biosimilars2 LIMIT 1",
        "SELECT name FROM biosimilars UNION SELECT maker FROM biosimilars LIMIT 1",
    ] {
        let result = library.sql(sql);
        assert_eq!(result.rows[0].sources[..], std::slice::from_ref(&table)[..], "{sql}");
        assert_eq!(result.documents.len(), 1);
    }
    let result = library.sql("SELECT 1 + 1");
    assert_eq!((result.rows[0].sources.len(), result.documents.len()), (0, 0));
}

#[test]
fn more_than_the_columns_can_be_read() {
    let library = drugs();
    let rows = library.sql("SELECT _row, _document, _page FROM biosimilars WHERE maker = 'Amgen'");
    assert_eq!(rows.columns, ["_row", "_document", "_page"]);
    let values = &rows.rows[0].values;
    assert_eq!(values[0], json!(rows.rows[0].sources[0].0));
    assert_eq!(values[1..], [json!("pharma/biosimilars.csv"), Value::Null]);
    let inner = "SELECT d, n FROM (SELECT b._document AS d, count(*) AS n FROM biosimilars b GROUP BY b._document)";
    assert_eq!(library.values(inner), [[json!("pharma/biosimilars.csv"), json!(3)]]);
    let said = library.said("SELECT _document FROM (SELECT name FROM biosimilars)");
    assert!(said.contains("_document AS document"), "{said}");
}

#[test]
fn all_rows_of_all_documents_are_counted() {
    let library = Library::new();
    for year in 2019..2024 {
        let rows = (0..1000)
            .map(|i| format!("{},item {i},{}\n", i % 7, f64::from(i) / 2.0))
            .collect::<Vec<_>>()
            .concat();
        library.csv(&format!("sales_{year}.csv"), &format!("Region,Item,Amount\n{rows}"));
    }
    let counted = library.sql("SELECT count(*), sum(amount) FROM sales");
    assert_eq!(counted.rows[0].values, [json!(5000), json!(5.0 * 249_750.0)]);
    assert_eq!((counted.rows[0].sources.len(), counted.documents.len()), (5000, 5));
    assert_eq!(library.values("SELECT count(*) FROM sales_2020"), [[json!(1000)]]);
    let by_document = library.sql("SELECT _document, count(*) FROM sales GROUP BY _document");
    assert_eq!(by_document.rows[1].values, [json!("sales_2020.csv"), json!(1000)]);
    assert_eq!(by_document.rows[1].sources.len(), 1000);
    let cut =
        library.base.sql("SELECT * FROM sales", SqlLimits { rows: 10, ..SqlLimits::default() });
    let cut = cut.unwrap();
    assert_eq!((cut.rows.len(), cut.cut), (10, true));
    assert!(cut.rows.iter().all(|row| row.sources.len() == 1));
    let lines = library.base.tables().unwrap();
    let union = lines.iter().find(|line| line.name == "sales").unwrap();
    assert_eq!((union.rows, union.unites.len()), (5000, 5));
}

#[test]
fn a_removed_document_takes_its_tables_along() {
    let library = drugs();
    library.csv("other.csv", "a,b\n1,2\n");
    assert_eq!(library.values("SELECT count(*) FROM biosimilars"), [[json!(3)]]);
    library.remove("pharma/biosimilars.csv");
    assert!(library.said("SELECT count(*) FROM biosimilars").contains("`other`"));
    let store = &library.base.store;
    let left = store.read(|reader| Ok((reader.count(Layer::Table)?, reader.count(Layer::Row)?)));
    assert_eq!(left.unwrap(), (1, 1));
}

#[test]
fn a_table_made_from_facts_is_computed_as_well() {
    let library = drugs();
    library.add("notes.md", &markdown("Sandoz was founded by Kern.\n"));
    let store = &library.base.store;
    store
        .write(|writer| {
            let chunk = writer.next_row(Layer::Chunk)? - 1;
            assert!(writer.node::<ChunkRecord>(chunk)?.is_some());
            let table = writer.take_rows(Layer::Table, 1)?;
            let row = writer.take_rows(Layer::Row, 1)?;
            let text = |name: &str| Column { name: name.into(), kind: ColumnKind::Text };
            let record = TableRecord {
                id: hash(&[b"founder of"]),
                document: None,
                section: None,
                place: TextPlace::default(),
                caption: None,
                columns: vec![text("person"), text("founder of")],
                rows: (row, row + 1),
                page: None,
                merged: vec![],
                relation: Some("founder of".into()),
            };
            writer.put_node(table, &record)?;
            let cells = vec!["Kern".into(), "Sandoz".into()];
            let id = hash(&[b"row"]);
            let record = RowRecord {
                id,
                table,
                chunk,
                also: vec![],
                number: 1,
                place: TextPlace::default(),
                cells,
            };
            writer.put_node(row, &record)?;
            writer.publish()
        })
        .unwrap();
    let result = library.sql(
        "SELECT person, b.name, f._document FROM founder_of f JOIN biosimilars b \
         ON b.maker = f.founder_of ORDER BY 2",
    );
    assert_eq!(result.rows[0].values, [json!("Kern"), json!("Hyrimoz"), json!("notes.md")]);
    assert!(result.rows[0].sources.contains(&node_id(Layer::Row, hash(&[b"row"]))));
    assert_eq!(result.documents, ["notes.md", "pharma/biosimilars.csv"]);
}

#[test]
fn euros_and_dollars_are_not_added_up() {
    let library = Library::new();
    library
        .csv("sales_us.csv", "Item,Amount\na,$5\nb,$6\n")
        .csv("sales_eu.csv", "Item,Amount\na,€5\n");
    assert_eq!(library.values("SELECT sum(amount) FROM sales_us"), [[json!(11)]]);
    let united = library.values("SELECT amount FROM sales ORDER BY amount");
    assert_eq!(united, [[json!("$5")], [json!("$6")], [json!("€5")]]);
}

#[test]
fn a_markdown_table_of_a_document_is_typed_and_stays_in_its_chunk() {
    let library = Library::new();
    library.add(
        "report.md",
        &markdown("## Staff\n\nWho works where.\n\n| City | People |\n|---|---|\n| Basel | 1,200 |\n| Bern | 40 |\n"),
    );
    let result = library.sql("SELECT city FROM report WHERE people > 100");
    assert_eq!(result.rows[0].values, [json!("Basel")]);
    let chunks = library.base.store.read(|reader| reader.count(Layer::Chunk)).unwrap();
    assert_eq!(chunks, 1);
    assert_eq!(library.cells(&result.rows[0].sources), [["Basel", "1,200"]]);
}
