use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn mills() -> Value {
    json!({
        "name": "mills", "caption": "Mills of the valley", "document": "m.csv", "rows": 40,
        "columns": [
            { "name": "mill", "kind": "text", "unit": "" },
            { "name": "town", "kind": "text", "unit": "" },
            { "name": "wheels", "kind": "integer", "unit": "" },
            { "name": "built", "kind": "date", "unit": "" },
            { "name": "yearly output", "kind": "number", "unit": "t" }
        ],
        "samples": [["Upper Mill", "Varn", 2, "1874-01-01", 10.5], ["O'Hara Mill", "North Varn", 3, "1901-05-06", 7]]
    })
}

fn sql(question: &str, tables: &Value) -> String {
    let variables =
        json!({ "question": Question::new(question), "tables": tables, "failed": null });
    let input: SqlInput = serde_json::from_value(variables).unwrap();
    let reply: Value = serde_json::from_str(&reply(&Lexicon::new(), &input)).unwrap();
    reply["sql"].as_str().unwrap().to_owned()
}

#[test]
fn questions_about_a_table_become_queries() {
    for (question, expected) in [
        ("How many mills are there in the valley?", "SELECT COUNT(*) FROM \"mills\""),
        (
            "How many mills stand in the town of Varn?",
            "SELECT COUNT(*) FROM \"mills\" WHERE \"town\" = 'Varn'",
        ),
        (
            "How many mills of the valley have more than 2 wheels?",
            "SELECT COUNT(*) FROM \"mills\" WHERE \"wheels\" > 2",
        ),
        (
            "How many wheels does the mill O'Hara Mill have?",
            "SELECT \"wheels\" FROM \"mills\" WHERE \"mill\" = 'O''Hara Mill'",
        ),
        (
            "What is the average yearly output of the mills in North Varn?",
            "SELECT AVG(\"yearly output\") FROM \"mills\" WHERE \"town\" = 'North Varn'",
        ),
        (
            "What is the total yearly output of all mills?",
            "SELECT SUM(\"yearly output\") FROM \"mills\"",
        ),
        (
            "Which mill has the most wheels?",
            "SELECT \"mill\", \"wheels\" FROM \"mills\" ORDER BY \"wheels\" IS NULL, \"wheels\" \
             DESC, \"mill\" LIMIT 1",
        ),
        (
            "What is the lowest yearly output of the mills?",
            "SELECT MIN(\"yearly output\") FROM \"mills\"",
        ),
        (
            "Which town of the valley has the most mills?",
            "SELECT \"town\", COUNT(*) FROM \"mills\" GROUP BY \"town\" ORDER BY COUNT(*) DESC, \
             \"town\" LIMIT 1",
        ),
        (
            "How many mills of the valley were built after 1890?",
            "SELECT COUNT(*) FROM \"mills\" WHERE CAST(SUBSTR(\"built\", 1, 4) AS INTEGER) > 1890",
        ),
        (
            "In which town of the valley is “Old Mill”?",
            "SELECT \"town\" FROM \"mills\" WHERE LOWER(\"mill\") = LOWER('Old Mill')",
        ),
        (
            "Which has more wheels, Upper Mill or O'Hara Mill?",
            "SELECT \"mill\", \"wheels\" FROM \"mills\" WHERE \"mill\" IN ('O''Hara Mill', \
             'Upper Mill') ORDER BY \"wheels\" IS NULL, \"wheels\" DESC, \"mill\" LIMIT 1",
        ),
        (
            "Which town has fewer mills, Varn or North Varn?",
            "SELECT \"town\", COUNT(*) FROM \"mills\" WHERE \"town\" IN ('North Varn', 'Varn') \
             GROUP BY \"town\" ORDER BY COUNT(*) IS NULL, COUNT(*) ASC, \"town\" LIMIT 1",
        ),
        (
            "How many mills do not stand in the town of Varn?",
            "SELECT COUNT(*) FROM \"mills\" WHERE \"town\" <> 'Varn'",
        ),
        ("How many mills in Varn have no more than 2 wheels?", ""),
        ("How many mills in Varn do not have 2 wheels?", ""),
        ("Which has more wheels, Upper Mill or O'Hara Mill, in 1901?", ""),
        ("How many towns have mills?", "SELECT COUNT(DISTINCT \"town\") FROM \"mills\""),
        ("How many different towns have mills?", "SELECT COUNT(DISTINCT \"town\") FROM \"mills\""),
    ] {
        assert_eq!(sql(question, &json!([mills()])), expected, "{question}");
    }
}

#[test]
fn in_doubt_there_is_no_query() {
    for question in [
        "",
        "Who painted Low Tide?",
        "How many boats are there in Oslo?",
        "How many mills of the valley stand in Oslo?",
        "How many mills of the valley have 7 sails?",
        "Why do mills of the valley burn?",
        "What is the total?",
        "How many mills of the valley were bought in cash?",
    ] {
        assert_eq!(sql(question, &json!([mills()])), "", "{question}");
    }
    let question = "How many mills are there in the valley?";
    assert_eq!(sql(question, &json!([])), "");
    let mut longer = mills();
    longer["rows"] = json!(41);
    assert_eq!(sql(question, &json!([mills(), longer])), "");
    // The same file in two formats is not ambiguous.
    assert_eq!(sql(question, &json!([mills(), mills()])), "SELECT COUNT(*) FROM \"mills\"");
    // So is their union.
    let mut union = mills();
    (union["name"], union["rows"]) = (json!("mills_all"), json!(80));
    assert_eq!(sql(question, &json!([mills(), mills(), union])), "SELECT COUNT(*) FROM \"mills\"");
    let failed = json!({
        "question": Question::new(question), "tables": [mills()],
        "failed": { "sql": "SELECT 1", "reason": "no such column" }
    });
    let input: SqlInput = serde_json::from_value(failed).unwrap();
    assert!(query(&Lexicon::new(), &input).unwrap_err().contains("no such column"));
}

fn pumps() -> Value {
    json!({
        "name": "pumps", "caption": "Pumps", "document": "p.csv", "rows": 3,
        "columns": [
            { "name": "pump", "kind": "text", "unit": "" },
            { "name": "year", "kind": "integer", "unit": "" },
            { "name": "replaced", "kind": "boolean", "unit": "" },
            { "name": "approved since", "kind": "integer", "unit": "" }
        ],
        "samples": [["P1", 2023, true, 2019], ["P2", 2023, false, 2021], ["P3", 2021, true, null]]
    })
}

#[test]
fn columns_of_yes_and_no_choose_rows() {
    for (question, expected) in [
        ("How many pumps were replaced?", "SELECT COUNT(*) FROM \"pumps\" WHERE \"replaced\" = 1"),
        (
            "How many pumps were not replaced?",
            "SELECT COUNT(*) FROM \"pumps\" WHERE \"replaced\" = 0",
        ),
        (
            "How many pumps were replaced in 2023?",
            "SELECT COUNT(*) FROM \"pumps\" WHERE \"replaced\" = 1 AND \"year\" = 2023",
        ),
        // Years are not added up, and what the query would leave out is not left out.
        ("How many pumps are approved?", ""),
    ] {
        assert_eq!(sql(question, &json!([pumps()])), expected, "{question}");
    }
}

/// What stands outside names and values.
fn outside(sql: &str) -> String {
    let mut open = None;
    let mut out = String::new();
    for c in sql.chars() {
        match open {
            Some(quote) if c == quote => open = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => open = Some(c),
            None => out.push(c),
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_name_and_no_value_opens_the_query(
        table in "[a-z\"';]{1,8}", value in "[A-Z][a-z\"';-]{2,8}", question in "\\PC{0,40}"
    ) {
        let tables = json!([{
            "name": table, "caption": "mills of the valley", "rows": 1,
            "columns": [{ "name": "a\"b", "kind": "text" }], "samples": [[value]]
        }]);
        let said = sql(&format!("How many mills of the valley are {value} {question}?"), &tables);
        prop_assert!(!outside(&said).contains(';'), "{said}");
    }
}
