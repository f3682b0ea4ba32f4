use super::*;
use crate::report::tests::report;

const HOSTILE: &str = "</script><script>alert(1)</script><!-- \u{2028} & \"quoted\"";

fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"evaluation\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Replaces the interned texts as the page does.
fn expand(value: &Value, lines: &[Value]) -> Value {
    match value {
        Value::Object(fields) if fields.contains_key("$") => {
            let places = fields["$"].as_array().unwrap().iter();
            let text: Vec<&str> = places
                .map(|at| lines[usize::try_from(at.as_u64().unwrap()).unwrap()].as_str().unwrap())
                .collect();
            Value::String(text.join("\n"))
        }
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(k, v)| (k.clone(), expand(v, lines))).collect())
        }
        Value::Array(values) => values.iter().map(|value| expand(value, lines)).collect(),
        value => value.clone(),
    }
}

#[test]
fn the_page_holds_the_report_and_its_questions() {
    let mut all = report("one", "RWAFU");
    all.runs.extend(report("two", "WRRFU").runs);
    let detail = QuestionDetail {
        id: "q1".into(),
        golds: vec![HOSTILE.into()],
        ..QuestionDetail::default()
    };
    let page = all.page(&[detail]);
    let data = data(&page);
    assert_eq!(data["view"]["report"]["runs"][1]["label"], "two");
    assert_eq!(data["view"]["comparisons"][0]["gained"], serde_json::json!(["q1", "q2"]));
    assert_eq!(data["view"]["notes"].as_array().map(Vec::len), Some(2));
    let lines = data["lines"].as_array().unwrap();
    assert_eq!(expand(&data["questions"]["q1"], lines)["golds"][0], HOSTILE);
}

#[test]
fn no_text_ends_the_script_that_holds_it() {
    let mut all = report(HOSTILE, "RW");
    all.dataset = HOSTILE.into();
    all.questions[0].text = HOSTILE.into();
    let page = all.page(&[]);
    let (_, rest) = page.split_once("id=\"evaluation\">").unwrap();
    let inside = rest.split_once("</script>").unwrap().0;
    assert!(!inside.contains('<') && !inside.contains('\u{2028}'), "{inside}");
    assert_eq!(data(&page)["view"]["report"]["questions"][0]["text"], HOSTILE);
}

#[test]
fn texts_are_stored_once_and_come_back() {
    let passage = "A passage of two lines,\nthe second of which is rather long, as passages are.";
    let value = json!({ "a": passage, "b": [passage, "short", 7, null] });
    let mut interner = Interner::default();
    let stored = interner.intern(value.clone());
    assert_eq!(interner.lines().len(), 2);
    assert!(interner.take_added() > 60 && interner.take_added() == 0);
    let lines: Vec<Value> = interner.lines().iter().map(|line| json!(line)).collect();
    assert_eq!(expand(&stored, &lines), value);
}

/// The committed page is whole, and loads nothing.
#[test]
fn the_page_is_one_file() {
    assert_eq!(PAGE.matches(DATA).count(), 1);
    for loading in ["src=", "href=\"http", "url(http", "@import"] {
        assert!(!PAGE.contains(loading), "{loading}");
    }
    assert!(PAGE.contains("default-src 'none'"));
}
