//! Tables that the settings ask for: the model is asked for exactly these, rows of one thing are one
//! row, SQL compares their values, and what quotes a document goes with it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use halma_core::{Filter, Knowledge};
use halma_kb::{Base, BasePart, Entities, IndexOptions, KbError, TableTarget, TimelineQuery};
use serde_json::{Value, json};

use crate::extractor::Works;

fn approvals() -> TableTarget {
    let target = json!({
        "relation": "approved by", "head": "medicine", "tail": "agency",
        "columns": [
            {"name": "approval date", "type": "date"},
            {"name": "patients", "type": "integer"},
            {"name": "maker"},
        ],
    });
    serde_json::from_value(target).unwrap()
}

fn row(head: &str, tail: &str, values: &[(&str, &str)], sentence: &str) -> Value {
    let value = |(column, value): &(&str, &str)| json!({"column": column, "value": value});
    let values: Vec<Value> = values.iter().map(value).collect();
    json!({"table": 1, "head": head, "tail": tail, "values": values, "sentence": sentence})
}

fn script(works: &Works, on: &'static str, rows: &[Value]) {
    works.rules.script("rows", on, &json!({"rows": rows}).to_string());
}

/// Three documents, two of which are about one medicine.
fn library() -> Works {
    let mut works = Works::new();
    works.bench.settings.entities = Entities::Names;
    works.bench.settings.tables_of = vec![approvals()];
    works.bench.write("one.txt", "The drug Lavex was approved by the Board on 14 September 2017.");
    works.bench.write("two.txt", "Lavex is made by Quill and Sons and helps 1,200 patients.");
    works.bench.write("three.txt", "Norit was approved by the Board in July 2019.");
    let on = [("approval date", "14 September 2017")];
    script(&works, "14 September", &[row("Lavex", "Board", &on, "Lavex was approved.")]);
    let on = [("patients", "1,200"), ("maker", "Quill and Sons")];
    script(&works, "helps 1,200", &[row("lavex", "", &on, "Lavex is made by Quill and Sons.")]);
    let on = [("approval date", "July 2019")];
    script(&works, "July 2019", &[row("Norit", "Board", &on, "Norit was approved.")]);
    works
}

async fn sql(base: &Base, sql: &str) -> Vec<Vec<Value>> {
    let rows = base.run_sql(sql).await.unwrap().rows;
    rows.into_iter().map(|row| row.values).collect()
}

#[tokio::test]
async fn attributes_of_one_thing_are_one_row_and_sql_compares_them() {
    let works = library();
    let base = works.open();
    let report = works.index(&base).await;
    assert_eq!((report.extracted.rows, works.rules.calls("rows")), (2, 3));
    let request = works.rules.requests.lock()[0].1.clone();
    for word in
        ["medicine", "approved by", "agency", "`approval date`: date", "`patients`: integer"]
    {
        assert!(request.contains(word), "{word} in {request}");
    }
    let rows = sql(&base, "SELECT medicine, agency, approval_date, patients, maker FROM approved_by WHERE approval_date < '2018' AND patients > 1000").await;
    assert_eq!(
        rows,
        [[
            json!("Lavex"),
            json!("Board"),
            json!("2017-09-14"),
            json!(1200),
            json!("Quill and Sons")
        ]]
    );
    let rows = sql(&base, "SELECT evidence FROM approved_by WHERE medicine = 'Lavex'").await;
    let evidence = rows[0][0].as_str().unwrap();
    assert!(evidence.contains("approved") && evidence.contains("Quill and Sons"), "{evidence}");
    let ordered = sql(&base, "SELECT medicine FROM approved_by ORDER BY approval_date DESC").await;
    assert_eq!(ordered, [[json!("Norit")], [json!("Lavex")]]);
    // Nothing is asked twice; another column is asked for in every passage.
    works.index(&base).await;
    assert_eq!(works.rules.calls("rows"), 3);
    assert!(base.inspector().verify().unwrap().problems.is_empty());
}

#[tokio::test]
async fn values_that_do_not_fit_are_asked_for_again_once_and_then_left_out() {
    let works = library();
    works.rules.scripted.lock().clear();
    for _ in 0..2 {
        let on = [("approval date", "some time ago"), ("maker", "Quill")];
        script(&works, "14 September", &[row("Lavex", "Board", &on, "")]);
    }
    script(&works, "helps 1,200", &[]);
    script(&works, "July 2019", &[]);
    let base = works.open();
    works.index(&base).await;
    assert_eq!(works.rules.calls("rows"), 4);
    let rows = sql(&base, "SELECT approval_date, maker FROM approved_by").await;
    assert_eq!(rows, [[Value::Null, json!("Quill")]]);
}

#[tokio::test]
async fn a_year_and_a_day_in_it_do_not_contradict_each_other() {
    let works = library();
    works.rules.scripted.lock().clear();
    let on = |date| [("approval date", date)];
    script(&works, "14 September", &[row("Lavex", "Board", &on("2017"), "")]);
    script(&works, "helps 1,200", &[row("Lavex", "Board", &on("14 September 2017"), "")]);
    script(&works, "July 2019", &[row("Norit", "Board", &on("20190701"), "")]);
    let base = works.open();
    assert_eq!(works.index(&base).await.extracted.rows, 2);
    let dates = sql(&base, "SELECT approval_date FROM approved_by ORDER BY approval_date").await;
    assert_eq!(dates, [[json!("2017-09-14")], [json!("2019-07-01")]]);
}

#[tokio::test]
async fn contradictions_stay_two_rows() {
    let works = library();
    works.rules.scripted.lock().clear();
    let on = |date| [("approval date", date)];
    script(&works, "14 September", &[row("Lavex", "Board", &on("2017-09-14"), "")]);
    script(&works, "helps 1,200", &[row("Lavex", "Board", &on("2018-01-01"), "")]);
    script(&works, "July 2019", &[]);
    let base = works.open();
    assert_eq!(works.index(&base).await.extracted.rows, 2);
}

#[tokio::test]
async fn a_row_of_two_documents_goes_with_either_and_is_made_again_of_the_other() {
    let works = library();
    let base = works.open();
    works.index(&base).await;
    base.delete(&["two.txt".to_owned()]).unwrap();
    let left = sql(&base, "SELECT medicine FROM approved_by").await;
    assert_eq!(left, [[json!("Norit")]], "it quotes the deleted document");
    assert!(base.inspector().verify().unwrap().problems.is_empty());
    works.bench.remove("two.txt");
    works.index(&base).await;
    let rows = sql(&base, "SELECT medicine, maker FROM approved_by ORDER BY medicine").await;
    assert_eq!(rows, [[json!("Lavex"), Value::Null], [json!("Norit"), Value::Null]]);
    assert_eq!(works.rules.calls("rows"), 3);
}

#[tokio::test]
async fn the_estimate_counts_a_call_for_each_passage() {
    let works = library();
    let base = works.open();
    let context = halma_kb::BuildContext::new(&base, &works.bench.settings, &works.setup());
    let inputs = [works.bench.input()];
    let estimate = halma_kb::estimate(context, &inputs, &IndexOptions::default()).await.unwrap();
    let stage = estimate.stages.iter().find(|stage| stage.task == "rows").unwrap();
    assert_eq!(stage.calls, 3);
}

fn events(entity: &str, limit: usize) -> TimelineQuery {
    TimelineQuery { entity: entity.into(), filter: Filter::default(), limit }
}

#[tokio::test]
async fn a_timeline_lists_what_is_dated_of_an_entity() {
    let works = library();
    let base = works.open();
    works.index(&base).await;
    let timeline = base.inspector().timeline(&events("lavex", 10)).unwrap();
    assert_eq!(timeline.entities, ["Lavex"]);
    let lines: Vec<(&str, &str)> = timeline
        .events
        .iter()
        .map(|event| (event.date.as_str(), event.document.as_str()))
        .collect();
    assert_eq!(lines, [("2017-09-14", "one.txt"), ("2017-09-14", "one.txt")], "{timeline:?}");
    let cut = base.inspector().timeline(&events("Lavex", 1)).unwrap();
    assert!(cut.cut && cut.events.len() == 1);
    let of = |document: &str| {
        let filter = Filter { documents: vec![document.into()], ..Filter::default() };
        base.inspector().timeline(&TimelineQuery { filter, ..events("Lavex", 10) }).unwrap()
    };
    assert_eq!(of("on*.txt"), timeline);
    assert_eq!(of("two.txt").events, []);
    let unknown = base.inspector().timeline(&events("Nobody Known", 10)).unwrap_err();
    assert!(matches!(unknown, KbError::NoEntity { .. }) && unknown.to_string().contains("kb list"));
}

#[tokio::test]
async fn facts_are_part_of_a_timeline() {
    let mut works = Works::new();
    works.bench.write("a.txt", "Mara Quill founded Low Tide Press in 1975.");
    works.bench.settings.entities = Entities::Model;
    let facts = json!({
        "entities": [
            {"name": "Mara Quill", "type": "person", "description": ""},
            {"name": "Low Tide Press", "type": "organisation", "description": ""},
        ],
        "facts": [{"head": "Mara Quill", "relation": "founded", "tail": "Low Tide Press",
            "sentence": "Mara Quill founded Low Tide Press in 1975."}],
    });
    works.rules.script("facts", "", &facts.to_string());
    let base: Arc<Base> = works.open();
    works.index(&base).await;
    let timeline = base.inspector().timeline(&events("Low Tide Press", 10)).unwrap();
    assert_eq!(timeline.events.len(), 1, "the sentence says what the fact says: {timeline:?}");
    assert_eq!(timeline.events[0].date, "1975");
    assert!(timeline.events[0].node.0.starts_with('f'));
}

#[tokio::test]
async fn a_base_keeps_its_tables_until_a_rebuild_is_asked_for() {
    let mut works = library();
    for i in 0..210 {
        works.bench.write(&format!("z{i:03}.txt"), format!("Nothing happened in place {i}."));
        works.rules.script("rows", "Nothing happened", r#"{"rows": []}"#);
    }
    let base = works.open();
    works.index(&base).await;
    let calls = works.rules.calls("rows");
    let rows = async || sql(&base, "SELECT medicine FROM approved_by").await.len();
    // A run whose settings name no table removes none, and one that names another asks for none.
    works.bench.settings.tables_of.clear();
    let report = works.index(&base).await;
    assert_eq!(report.kept[0].part, BasePart::Tables);
    assert_eq!(rows().await, 2);
    let founders = json!({"relation": "founder of", "head": "person", "tail": "company"});
    let founders = serde_json::from_value(founders).unwrap();
    works.bench.settings.tables_of = vec![approvals(), founders];
    let report = works.index(&base).await;
    let kept = &report.kept[0];
    assert!(kept.configured.contains("founder of") && kept.made_with.contains("approved by"));
    assert_eq!(works.rules.calls("rows"), calls);
    let context = halma_kb::BuildContext::new(&base, &works.bench.settings, &works.setup());
    let inputs = [works.bench.input()];
    let estimate = halma_kb::estimate(context, &inputs, &IndexOptions::default()).await.unwrap();
    assert!(estimate.kept[0].1.as_ref().unwrap().calls > 0);
    works.bench.settings.tables_of.clear();
    works.bench.options.rebuild = vec![BasePart::Tables];
    works.index(&base).await;
    assert!(base.run_sql("SELECT medicine FROM approved_by").await.is_err());
}
