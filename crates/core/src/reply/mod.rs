//! Reading what a model really sent: JSON in a fence, with words around it, nested in another
//! object, or with the faults that careless models make. What does not fit is an error, never an
//! empty value.
mod answer;
mod careless;
mod decomposition;
mod echo;
pub(crate) mod field;
mod loose;
mod numbers;
mod placeholders;
mod regions;
mod thoughts;

use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub use self::answer::AnswerText;
pub(crate) use self::answer::{is_no_answer, is_silent};
use self::careless::{Careless, Cut};
pub use self::decomposition::NextQuestion;
pub(crate) use self::echo::Echo;
use self::loose::parse_loose;
use self::placeholders::without_placeholders;
use self::regions::{regions, widest};
pub(crate) use self::thoughts::{Split, split_thoughts};

/// The last value in `text` that has the shape of `R`: models draft before they decide.
///
/// Read are the whole text, every balanced `{…}` or `[…]` in it (as JSON, or loosely: single
/// quotes, quotes that are not escaped, trailing commas, Python literals, comments, raw newlines)
/// with what is nested in those, JSON within a JSON string, an object that was cut off after a whole
/// field, and lines of the form `key: value`. The values are read as careless models write them:
/// keys in another case, one value for a list, numbers as text, `...` for nothing.
pub fn parse_json<R: DeserializeOwned>(text: &str) -> Result<R, String> {
    let trimmed = text.trim().trim_start_matches('\u{feff}');
    if trimmed.is_empty() {
        return Err("the reply is empty".into());
    }
    let read = |region: &str| {
        let value = serde_json::from_str(region).ok().or_else(|| parse_loose(region));
        value.map(without_placeholders)
    };
    let whole = serde_json::from_str::<Value>(trimmed).ok();
    if let Some(Value::String(inner)) = &whole
        && inner.contains(['{', '['])
    {
        return parse_json(inner);
    }
    let whole = whole.filter(|v| !v.is_string());
    let values = match whole {
        Some(value) => vec![without_placeholders(value)],
        None => regions(trimmed).into_iter().rev().filter_map(read).collect(),
    };
    let mut complaint = None;
    for value in values {
        match fit(value) {
            Ok(fitting) => return Ok(fitting),
            Err(reason) => complaint = complaint.or(Some(reason)),
        }
    }
    if let Some(fitting) = widest(trimmed).and_then(parse_loose).and_then(|value| fit(value).ok()) {
        return Ok(fitting);
    }
    let cut = closed(trimmed).iter().find_map(|object| R::deserialize(Cut(read(object)?)).ok());
    let labelled = || R::deserialize(Careless(labelled(trimmed)?)).ok();
    cut.or_else(labelled).ok_or_else(|| {
        complaint.unwrap_or_else(|| "there is no complete JSON value in the reply".into())
    })
}

/// The value itself, or the first object nested in it that fits.
fn fit<R: DeserializeOwned>(value: Value) -> Result<R, String> {
    let nested: Vec<Value> = match &value {
        Value::Object(fields) => fields.values().filter(|v| v.is_object()).cloned().collect(),
        _ => vec![],
    };
    let reason = match R::deserialize(Careless(value)) {
        Ok(fitting) => return Ok(fitting),
        Err(e) => e.to_string(),
    };
    nested.into_iter().find_map(|value| fit(value).ok()).ok_or(reason)
}

/// An object that was cut off, closed after its last whole field; a text or a list that was cut
/// in the middle is not one.
fn closed(text: &str) -> Vec<String> {
    let Some(start) = text.find('{') else { return vec![] };
    let object = &text[start..];
    let (mut depth, mut in_string, mut escaped, mut comma) = (0_usize, false, false, None);
    for (i, byte) in object.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => comma = Some(i),
            _ => {}
        }
    }
    let whole = depth == 1 && !in_string && object.trim_end().ends_with(['"', ']', '}', ',']);
    let ends = whole.then_some(object.len()).into_iter().chain(comma.filter(|_| depth > 0));
    ends.map(|end| format!("{}}}", &object[..end])).collect()
}

/// Lines of the form `key: value` as an object. A line without a key continues the one before, and
/// an empty line ends it. Broken JSON is not read in this way: its last text may be cut off.
fn labelled(text: &str) -> Option<Value> {
    if text.contains('{') {
        return None;
    }
    let mut fields: Map<String, Value> = Map::new();
    let mut open: Option<String> = None;
    for line in text.lines().map(str::trim) {
        let label = line.split_once(':').map(|(key, value)| (bare(key), bare(value)));
        let named = |key: &str| {
            let word = |c: char| c.is_alphanumeric() || " _-".contains(c);
            !key.is_empty() && key.len() <= 32 && key.chars().all(word)
        };
        if let Some((key, value)) = label.filter(|(key, _)| named(key)) {
            open = Some(key.to_owned());
            fields.insert(key.to_owned(), value.into());
        } else if line.is_empty() {
            open = None;
        } else if let Some(Value::String(value)) = open.as_ref().and_then(|key| fields.get_mut(key))
        {
            value.push('\n');
            value.push_str(line);
        }
    }
    (!fields.is_empty()).then_some(Value::Object(fields))
}

/// Without Markdown marks, quotes and a comma around it.
fn bare(text: &str) -> &str {
    let mark = |c: char| c.is_whitespace() || "*#>`\"“”,".contains(c);
    text.trim_start_matches("- ").trim_matches(mark)
}

/// One item a line, without its bullet or number; a JSON list of texts is read as its items. A
/// first line that announces the others is not an item, and neither is an unmarked last line where
/// all others are marked.
pub(crate) fn parse_lines(text: &str) -> Result<Vec<String>, String> {
    if let Some(items) = regions(text).into_iter().find_map(|region| json_lines(region, text)) {
        return Ok(items);
    }
    let item = |line: &&str| !line.is_empty() && !line.starts_with("```");
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(item).collect();
    if lines.len() > 1 && lines[0].ends_with([':', '：']) {
        lines.remove(0);
    }
    let marked = |line: &str| strip_marker(line).len() < line.len();
    if let Some((last, others)) = lines.split_last()
        && others.len() > 1
        && !marked(last)
        && others.iter().all(|line| marked(line))
    {
        lines.pop();
    }
    let items = lines.into_iter().map(|line| strip_marker(line).to_owned());
    let items: Vec<String> = items.filter(|line| !line.is_empty()).collect();
    if items.is_empty() { Err("the reply has no lines".into()) } else { Ok(items) }
}

/// The items of a JSON list that is most of a text.
fn json_lines(region: &str, text: &str) -> Option<Vec<String>> {
    let value = parse_loose(region).filter(|_| region.len() * 2 > text.len())?;
    let texts = |list: &Value| list.as_array().is_some_and(|l| l.iter().all(Value::is_string));
    let fits = match &value {
        Value::Object(fields) => fields.len() == 1 && fields.values().all(texts),
        list => texts(list),
    };
    let items = fits.then(|| Vec::<String>::deserialize(Careless(value)).ok())??;
    Some(items).filter(|items| !items.is_empty())
}

/// Drops a leading `-`, `*`, `•`, `3.` or `3)`.
fn strip_marker(line: &str) -> &str {
    if let Some(rest) = line.strip_prefix(['-', '*', '•', '–']) {
        // `-5` and `**bold**` are not bullets.
        return if rest.starts_with(' ') { rest.trim() } else { line };
    }
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match digits.strip_prefix(['.', ')']) {
        Some(rest) if digits.len() < line.len() && rest.starts_with(' ') => rest.trim(),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Choice {
        candidate_number: usize,
    }

    fn choice(text: &str) -> Result<usize, String> {
        parse_json::<Choice>(text).map(|choice| choice.candidate_number)
    }

    #[test]
    fn what_models_really_send_is_read() {
        for text in [
            r#"{"candidate_number": 3}"#,
            "```json\n{\"candidate_number\": 3}\n```",
            "Sure! Here it is:\n{\"thinking\": \"a {brace} and a \\\"quote\\\"\", \"candidate_number\": 3} Bye.",
            r#"{"output": {"candidate_number": 3}}"#,
            "{'thinking': 'it\\'s fine', 'candidate_number': 3,}",
            "{\"thinking\": \"two\nlines\", \"candidate_number\": 3}",
            "{thinking: None, candidate_number: 3} // done",
            "{“thinking”: “so”, “candidate_number”: “3”}",
            "[{\"candidate_number\": 3}]",
            "First I thought {\"candidate_number\": 1} but then {\"candidate_number\": 3} as in [1].",
            r#"{"Candidate Number": 3, "confidence": 1}"#,
            r#"{"CANDIDATE-NUMBER": "3."}"#,
            r#"{"candidateNumber": "[3]"}"#,
            r#"{"candidate_number": ["three"]}"#,
            r#"{"candidate_number": 3.0}"#,
            r#"{"candidate_number": 3, "why": "it is"#,
            "Thinking: it is the third\n**Candidate number:** 3\n\nBye: now",
        ] {
            assert_eq!(choice(text), Ok(3), "{text}");
        }
        assert_eq!(choice(r#"{"candidate_number": null}"#), Ok(0));
    }

    #[test]
    fn what_does_not_fit_is_never_a_value() {
        for text in [
            "",
            "none of these",
            "{\"candidate_number\": ",
            r#"{"thinking": "so", "candidate_number": 1"#,
            r#"{"candidate_number": "one or two"}"#,
            r#"{"candidate_number": -1}"#,
            "[]",
            "[3]",
            "The answer: 3",
        ] {
            assert!(choice(text).is_err(), "{text}");
        }
        assert!(choice(r#"{"index": 1}"#).unwrap_err().contains("candidate_number"));
    }

    #[derive(Debug, Default, Deserialize, Serialize, PartialEq)]
    #[serde(default)]
    struct Everything {
        rationale: String,
        #[serde(rename = "answer")]
        said: AnswerText,
        sub_questions: Vec<String>,
        passages: Vec<usize>,
        sure: bool,
        score: f32,
        kind: Option<Kind>,
    }

    #[derive(Debug, Clone, Copy, Deserialize, Serialize, PartialEq)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        YesNo,
        Number,
    }

    #[test]
    fn one_value_stands_for_a_list_and_a_list_for_one_value() {
        let read = |text: &str| parse_json::<Everything>(text).unwrap();
        let said = read(
            r#"{"Rationale": ["It is so.", "It was so."], "answer": ["Rome"], "sub_question":
            "1. Who?\n2. Where?", "passages": "[1], [3]", "sure": "Yes", "score": "0.5",
            "kind": "Yes/No"}"#,
        );
        assert_eq!(
            (said.rationale.as_str(), said.said.0.as_str()),
            ("It is so. It was so.", "Rome")
        );
        assert_eq!(
            (said.sub_questions, said.passages),
            (vec!["Who?".into(), "Where?".into()], vec![1, 3])
        );
        assert_eq!((said.sure, said.score, said.kind), (true, 0.5, Some(Kind::YesNo)));
        let nothing = read(
            r#"{"rationale": null, "answer": "N/A", "sub_questions": null, "passages": "None"}"#,
        );
        assert_eq!(nothing, Everything::default());
        let questions =
            read(r#"{"sub_questions": "Who was born in Rome, and when?", "passages": 2}"#);
        assert_eq!(questions.sub_questions, ["Who was born in Rome, and when?"]);
        assert_eq!(questions.passages, [2]);
    }

    #[test]
    fn lines_lose_their_markers_and_nothing_else() {
        let text = "1. Who?\n- What?\n\n* -5 degrees?\n**Bold** one?\n2001: a film?";
        let lines = ["Who?", "What?", "-5 degrees?", "**Bold** one?", "2001: a film?"];
        assert_eq!(parse_lines(text).unwrap(), lines);
        assert!(parse_lines("\n \n").is_err());
    }

    #[test]
    fn words_around_lines_are_not_lines() {
        for text in [
            "Here are the questions:\n1. Who?\n2. What?\n\nI hope this helps!",
            "```json\n[\"Who?\", \"What?\"]\n```",
            "{\"questions\": [\"Who?\", \"What?\"]}",
            "Questions：\nWho?\nWhat?",
        ] {
            assert_eq!(parse_lines(text).unwrap(), ["Who?", "What?"], "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_fits_is_read_unchanged(
            texts in proptest::collection::vec("[a-z \"{}\\[\\]<>:,1-9?\n\\\\]{0,12}", 0..4),
            passages in proptest::collection::vec(any::<usize>(), 0..3),
            score in -1e6_f32..1e6, sure in any::<bool>(),
        ) {
            let rationale = texts.concat();
            let kind = sure.then_some(Kind::Number);
            let said = AnswerText(format!("It is {rationale}"));
            let reply = Everything { rationale, said, sub_questions: texts, passages, sure, score, kind };
            let written = serde_json::to_string(&reply).unwrap();
            prop_assert_eq!(parse_json::<Everything>(&written).unwrap(), reply);
            prop_assert_eq!(&split_thoughts(&written).reply, &written);
        }

        #[test]
        fn no_text_makes_the_parsers_panic(text in any::<String>(), json in "[\\[\\]{}\"',: a1\\\\/\n]{0,40}") {
            let _ = choice(&text);
            let _ = choice(&json);
            let _ = parse_lines(&text);
        }
    }
}
