//! From JSON values to the types of requests, with errors in plain words.
use halma_core::plain_message;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads what a client sent; the error says which field is wrong or missing. A field that is `null` is one
/// that was not sent, and 3.0 is a whole number.
pub(crate) fn from_json<T: DeserializeOwned>(mut value: Value) -> Result<T, String> {
    if !value.is_object() {
        return Err("a JSON object is expected".to_owned());
    }
    normalize(&mut value);
    serde_path_to_error::deserialize(value).map_err(|e| describe(&e.to_string()))
}

fn normalize(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            // Names of the user's own: a condition that is `null` is refused, and not dropped.
            let fields = fields.iter_mut().filter(|(name, _)| *name != "metadata");
            fields.for_each(|(_, field)| normalize(field));
        }
        Value::Array(items) => items.iter_mut().for_each(normalize),
        Value::Number(number) if number.is_f64() => {
            let text = number.to_string();
            if let Some(Ok(whole)) = text.strip_suffix(".0").map(str::parse::<i64>) {
                *value = whole.into();
            }
        }
        _ => {}
    }
}

/// What a parser says, in the words of those who write JSON.
pub(crate) fn describe(message: &str) -> String {
    plain_message(message)
        .replace("must be a table", "must be an object")
        .replace("not a table", "not an object")
}

#[cfg(test)]
mod tests {
    use halma_engine::{AskRequest, SearchRequest};
    use serde_json::json;

    use super::*;

    fn error<T: DeserializeOwned>(value: Value) -> String {
        from_json::<T>(value).err().unwrap()
    }

    #[test]
    fn a_field_that_is_null_is_one_that_was_not_sent() {
        let ask = json!({"question": "Who?", "history": null, "stream": null, "filter": null,
            "settings": {"hops": null}, "options": null, "budget": {"usd": null}});
        let ask: AskRequest = from_json(ask).unwrap();
        assert!(ask.history.is_empty() && ask.settings.is_empty() && ask.filter.is_none());
        assert_eq!(error::<AskRequest>(json!({"question": null})), "`question` is required");
        let turn = json!({"question": "Who?", "history": [{"role": "user", "text": null}]});
        assert_eq!(error::<AskRequest>(turn), "`history[0].text` is required");
        // A condition of the user's own is not dropped.
        let filter = json!({"text": "a", "filter": {"metadata": {"team": null}}});
        let error = error::<SearchRequest>(filter);
        assert!(error.starts_with("`filter.metadata"), "{error}");
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        let search = json!({"text": "a", "limit": 3.0});
        assert_eq!(from_json::<SearchRequest>(search).unwrap().limit, Some(3));
        let ask = json!({"question": "Who?", "budget": {"calls": 1e2, "usd": 2, "seconds": 0.5}});
        let budget = from_json::<AskRequest>(ask).unwrap().budget.unwrap();
        assert_eq!((budget.calls, budget.usd, budget.seconds), (Some(100), Some(2.0), Some(0.5)));
        for (limit, words) in [
            (json!(3.5), "a whole number, not `3.5`"),
            (json!(-1), "a whole number in range, not `-1`"),
            (json!("3"), "a whole number, not \"3\""),
            (json!([3]), "a whole number, not a list"),
            (json!({}), "a whole number, not an object"),
            (json!(true), "a whole number, not `true`"),
        ] {
            let error = error::<SearchRequest>(json!({"text": "a", "limit": limit}));
            assert_eq!(error, format!("`limit` must be {words}"));
        }
    }

    #[test]
    fn errors_name_the_field_and_what_was_meant() {
        let wrong = |fields: Value| {
            let mut ask = json!({"question": "Who?"});
            ask.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            error::<AskRequest>(ask)
        };
        let near = wrong(json!({"quesion": 1}));
        assert_eq!(near, "unknown field `quesion`; did you mean `question`?");
        let near = wrong(json!({"budget": {"call": 1}}));
        assert_eq!(near, "unknown field `budget.call`; did you mean `budget.calls`?");
        let far = wrong(json!({"temperature": 1}));
        assert!(
            far.starts_with("unknown field `temperature`; the fields are `question`, "),
            "{far}"
        );
        assert_eq!(wrong(json!({"question": 3})), "`question` must be a text, not `3`");
        assert_eq!(wrong(json!({"stream": 1})), "`stream` must be `true` or `false`, not `1`");
        assert_eq!(wrong(json!({"history": {}})), "`history` must be a list, not an object");
        assert_eq!(wrong(json!({"budget": 5})), "`budget` must be an object, not `5`");
        let effort = wrong(json!({"effort": "much"}));
        assert!(effort.starts_with("`effort` must be one of `quick`, `normal`"), "{effort}");
        assert!(effort.ends_with(", not `much`"), "{effort}");
        assert_eq!(error::<AskRequest>(json!([1])), "a JSON object is expected");
    }
}
