//! Fields of documents: from files next to them, records and the run; changed without reading again.
use halma_core::{FieldValue, Metadata};
use serde_json::{Value, json};

use super::common::Bench;

/// The fields of every document, by name.
fn fields(bench: &Bench, base: &crate::Base, names: &[&str]) -> Value {
    assert!(bench.base_dir().exists());
    names.iter().map(|name| (*name, json!(base.metadata(name).unwrap()))).collect()
}

#[tokio::test]
async fn fields_come_with_documents_and_are_changed_without_reading_them_again() {
    let mut bench = Bench::asking();
    bench
        .write("a.md", "# A\n\nAlpha lives here.\n")
        .write("a.md.meta.json", r#"{"team": "legal", "year": 2024}"#)
        .write("plain.md", "# P\n\nPlain lives here.\n")
        .write(
            "records.jsonl",
            r#"{"id": "r1", "text": "Rho lives here.", "metadata": {"team": "x", "own": true}}"#,
        )
        .write("records.jsonl.meta.json", r#"{"team": "finance"}"#);
    let base = bench.open(None);
    let names = ["a.md", "plain.md", "r1"];
    let report = bench.index(&base).await;
    assert_eq!((report.documents_new, report.refused.len()), (3, 0), "{:?}", report.refused);
    let first = json!({"a.md": {"team": "legal", "year": 2024}, "plain.md": {},
        "r1": {"team": "finance", "own": true}});
    assert_eq!(fields(&bench, &base, &names), first);
    // What a user sets stays where no file says otherwise, also when the text changes.
    let set = Metadata([("team".to_owned(), FieldValue::Text("set".to_owned()))].into());
    base.set_metadata("plain.md", &set).unwrap();
    bench.write("plain.md", "# P\n\nPlain lives there.\n");
    bench.write("a.md.meta.json", r#"{"team": "sales"}"#);
    let report = bench.index(&base).await;
    assert_eq!((report.documents_replaced, report.documents_unchanged), (1, 2));
    assert_eq!(report.fields_changed, 1, "those of a.md");
    let second = json!({"a.md": {"team": "sales"}, "plain.md": {"team": "set"},
        "r1": {"team": "finance", "own": true}});
    assert_eq!(fields(&bench, &base, &names), second);
    // Those of the run are for all of its documents and come before the others.
    bench.options.metadata = Metadata([("year".to_owned(), FieldValue::Number(2025.0))].into());
    let report = bench.index(&base).await;
    assert_eq!((report.documents_unchanged, report.fields_changed), (3, 3));
    assert!(report.only_fields_new() && !report.nothing_new());
    let again = bench.index(&base).await;
    assert!(again.nothing_new() && again.fields_changed == 0, "{again:?}");
    let third = json!({"a.md": {"team": "sales", "year": 2025},
        "plain.md": {"team": "set", "year": 2025},
        "r1": {"team": "finance", "own": true, "year": 2025}});
    assert_eq!(fields(&bench, &base, &names), third);
    // A file whose fields cannot be read is not taken in with others than it should have.
    bench.options.metadata = Metadata::default();
    bench.write("a.md", "# A\n\nAlpha left.\n");
    for wrong in ["{", "[]", r#"{"a b": 1}"#, r#"{"a": {"b": 1}}"#, r#"{"a": null}"#] {
        bench.write("a.md.meta.json", wrong);
        let report = bench.index(&base).await;
        assert_eq!(report.refused.len(), 1, "{wrong}");
        assert!(report.refused[0].reason.contains("a.md.meta.json"), "{wrong}");
    }
    assert_eq!(json!(base.metadata("a.md").unwrap())["team"], "sales");
}

#[tokio::test]
async fn what_a_user_changes_stays_until_the_file_says_something_else() {
    let bench = Bench::asking();
    bench
        .write("a.md", "# A\n\nAlpha lives here.\n")
        .write("a.md.meta.json", r#"{"team": "legal", "year": 2024}"#)
        .write("records.jsonl", r#"{"id": "r1", "text": "Rho.", "metadata": {"team": "x"}}"#);
    let base = bench.open(None);
    bench.index(&base).await;
    let names = ["a.md", "r1"];
    let set = Metadata([("client".to_owned(), FieldValue::Text("Ilmar".to_owned()))].into());
    for name in names {
        base.set_metadata(name, &set).unwrap();
    }
    let changed = json!({"a.md": {"client": "Ilmar"}, "r1": {"client": "Ilmar"}});
    let report = bench.index(&base).await;
    assert!(report.nothing_new() && report.fields_changed == 0, "{report:?}");
    assert_eq!(fields(&bench, &base, &names), changed);
    bench.write("a.md", "# A\n\nAlpha lives there.\n");
    assert_eq!(bench.index(&base).await.documents_replaced, 1);
    assert_eq!(fields(&bench, &base, &names), changed);
    // Fields that the file has from now on are taken, and those of a document that was deleted.
    bench.write("a.md.meta.json", r#"{"team": "sales"}"#);
    base.delete(&["r1".to_owned()]).unwrap();
    bench.index(&base).await;
    let last = json!({"a.md": {"team": "sales"}, "r1": {"team": "x"}});
    assert_eq!(fields(&bench, &base, &names), last);
}

#[tokio::test]
async fn a_file_is_read_whose_name_leaves_no_room_for_that_of_its_fields() {
    let bench = Bench::new();
    bench.write(&format!("{}.md", "n".repeat(250)), "# A\n\nAlpha lives here.\n");
    let report = bench.index(&bench.open(None)).await;
    assert_eq!((report.documents_new, report.refused), (1, vec![]));
}
