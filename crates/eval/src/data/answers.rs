//! Gold answers as files give them: a text, a number, yes or no, or a list of such.
use serde_json::Value;

/// The answers as texts, in order and each once; an empty one, an object or a list in a list is
/// refused.
pub(super) fn read(value: &Value) -> Result<Vec<String>, String> {
    let mut answers: Vec<String> = vec![];
    let values = match value {
        Value::Array(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    };
    for value in values {
        let answer = one(value)?;
        if !answers.contains(&answer) {
            answers.push(answer);
        }
    }
    if answers.is_empty() {
        return Err("the list of answers is empty; give at least one".into());
    }
    Ok(answers)
}

/// The main answer and the aliases; an empty alias is dropped, it says nothing.
pub(super) fn with_aliases(main: &Value, aliases: &[String]) -> Result<Vec<String>, String> {
    let mut answers = read(main)?;
    for alias in aliases {
        if !alias.trim().is_empty() && !answers.contains(alias) {
            answers.push(alias.clone());
        }
    }
    Ok(answers)
}

fn one(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) if text.trim().is_empty() => Err("the answer is empty".into()),
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(plain(&number.to_string())),
        Value::Bool(yes) => Ok(if *yes { "yes" } else { "no" }.into()),
        Value::Null => {
            Err("the answer is null; a test file without answers cannot be scored".into())
        }
        Value::Array(_) => Err("an answer is a list in a list; give one flat list".into()),
        Value::Object(_) => Err("an answer is an object; give its text".into()),
    }
}

/// `58.0` as a person writes it: `58`.
pub(super) fn plain(number: &str) -> String {
    number.strip_suffix(".0").unwrap_or(number).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_numbers_and_flags_are_answers() {
        for (value, wanted) in [
            (json!("Paris"), vec!["Paris"]),
            (json!(58.0), vec!["58"]),
            (json!(-7), vec!["-7"]),
            (json!(0.25), vec!["0.25"]),
            (json!(true), vec!["yes"]),
            (json!(["UK", "U.K.", "UK", 4]), vec!["UK", "U.K.", "4"]),
        ] {
            assert_eq!(read(&value).unwrap(), wanted, "{value}");
        }
    }

    #[test]
    fn what_says_nothing_is_refused() {
        for (value, wanted) in [
            (json!(" "), "empty"),
            (json!([]), "the list of answers is empty"),
            (json!(["x", ""]), "the answer is empty"),
            (json!(null), "null"),
            (json!([["x"]]), "a list in a list"),
            (json!({"text": "x"}), "an object"),
        ] {
            let reason = read(&value).unwrap_err();
            assert!(reason.contains(wanted), "{value}: {reason}");
        }
    }

    #[test]
    fn aliases_follow_the_main_answer() {
        let aliases = ["b".to_owned(), String::new(), "a".into()];
        assert_eq!(with_aliases(&json!("a"), &aliases).unwrap(), ["a", "b"]);
    }
}
