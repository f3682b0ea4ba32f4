//! The one place where numbers, lists and texts from outside get their bounds, before anything is
//! computed from them.
use std::collections::BTreeMap;

use halma_core::Filter;
use halma_engine::{LONGEST_CORRECTION, LONGEST_NOTE, flag_value};
use serde_json::Value as Json;
use toml::Value;

use crate::asking::{AskRequest, Turn};
use crate::problem::Problem;

/// Names, patterns and cursors, in characters.
const LONGEST_NAME: usize = 1_000;

/// Patterns and values of one filter together.
const MOST_PATTERNS: usize = 100;
const LONGEST_PATTERN: usize = 300;

const MOST_SETTINGS: usize = 32;
const MOST_TURNS: usize = 200;
const MOST_OPTIONS: usize = 64;

/// Who says something in a conversation. What the system says is left out.
const ROLES: [&str; 3] = ["user", "assistant", "system"];
const MOST_CANDIDATES: usize = 64;

/// Texts that one request embeds, as many as `OpenAI` takes, and their characters together.
const MOST_TEXTS: usize = 2_048;
const LONGEST_TEXTS: usize = 400_000;

/// Characters of a whole conversation, and of a choice.
const LONGEST_HISTORY: usize = 200_000;
const LONGEST_OPTION: usize = 2_000;

/// What a setting of a strategy may be over HTTP.
#[derive(Clone, Copy)]
enum Allowed {
    /// A whole number up to this one.
    Count(i64),
    /// A number whose amount is at most 100.
    Number,
    Switch,
    /// A short word.
    Word,
    /// A list of short words.
    Words,
}

/// The settings that a request may change, of whatever strategy; each strategy knows which are its
/// own. A setting that is not here can be changed in the configuration only.
const SETTINGS: &[(&str, Allowed)] = &[
    // Passages, nodes and rows that are looked for or shown.
    ("atoms", Allowed::Count(500)),
    ("backup", Allowed::Count(100)),
    ("best", Allowed::Count(100)),
    ("chunks", Allowed::Count(500)),
    ("chunks_without_keywords", Allowed::Count(500)),
    ("citations", Allowed::Count(100)),
    ("cited", Allowed::Count(100)),
    ("communities", Allowed::Count(500)),
    ("entities", Allowed::Count(500)),
    ("evidence", Allowed::Count(100)),
    ("facts", Allowed::Count(500)),
    ("k", Allowed::Count(500)),
    ("k_single", Allowed::Count(500)),
    ("keyword_chunks", Allowed::Count(500)),
    ("leads", Allowed::Count(100)),
    ("max_chunks", Allowed::Count(500)),
    ("max_items", Allowed::Count(500)),
    ("min_points", Allowed::Count(500)),
    ("points", Allowed::Count(500)),
    ("related", Allowed::Count(500)),
    ("sample_k", Allowed::Count(500)),
    ("reports", Allowed::Count(100)),
    // Turns, tries and branches, each of which costs calls.
    ("agents", Allowed::Count(20)),
    ("batch", Allowed::Count(50)),
    ("batches", Allowed::Count(20)),
    ("fan_out", Allowed::Count(50)),
    ("group", Allowed::Count(100)),
    ("groups", Allowed::Count(100)),
    ("highest", Allowed::Count(4)),
    ("horizon", Allowed::Count(500)),
    ("ideas", Allowed::Count(20)),
    ("iterations", Allowed::Count(20)),
    ("look_ups", Allowed::Count(20)),
    ("max_nodes", Allowed::Count(100)),
    ("max_parts", Allowed::Count(100)),
    ("max_steps", Allowed::Count(50)),
    ("max_sub_questions", Allowed::Count(50)),
    ("n", Allowed::Count(50)),
    ("p", Allowed::Count(50)),
    ("p_verdict", Allowed::Count(50)),
    ("questions", Allowed::Count(50)),
    ("rounds", Allowed::Count(20)),
    ("sample_seed", Allowed::Count(1_000_000)),
    ("tries", Allowed::Count(20)),
    // Thresholds and weights.
    ("accept", Allowed::Number),
    ("agreement", Allowed::Number),
    ("alike", Allowed::Number),
    ("faithful", Allowed::Number),
    ("level", Allowed::Number),
    ("min_score", Allowed::Number),
    ("overlap", Allowed::Number),
    ("tag_score", Allowed::Number),
    ("sample_alpha", Allowed::Number),
    ("sample_below", Allowed::Number),
    ("sample_noise", Allowed::Number),
    ("theta", Allowed::Number),
    // Switches.
    ("abstain", Allowed::Switch),
    ("check_support", Allowed::Switch),
    ("closed_book", Allowed::Switch),
    ("decompose", Allowed::Switch),
    ("demonstrations", Allowed::Switch),
    ("drop_below_best", Allowed::Switch),
    ("external", Allowed::Switch),
    ("fall_back_chunks", Allowed::Switch),
    ("fall_back_question", Allowed::Switch),
    ("filter", Allowed::Switch),
    ("from_memory", Allowed::Switch),
    ("hierarchical", Allowed::Switch),
    ("internal", Allowed::Switch),
    ("keep_passages", Allowed::Switch),
    ("own_knowledge", Allowed::Switch),
    ("own_perspectives", Allowed::Switch),
    ("rerank", Allowed::Switch),
    ("rewrite", Allowed::Switch),
    ("sample", Allowed::Switch),
    ("second_look", Allowed::Switch),
    ("stop_early", Allowed::Switch),
    ("stop_on_none", Allowed::Switch),
    ("structure", Allowed::Switch),
    ("sub_answers", Allowed::Switch),
    // Choices; `select`, `retrieve` and `keywords` are switches of some strategies.
    ("factual", Allowed::Word),
    ("forecast", Allowed::Word),
    ("granularity", Allowed::Word),
    ("keywords", Allowed::Word),
    ("kg", Allowed::Word),
    ("kind", Allowed::Word),
    ("mode", Allowed::Word),
    ("perspectives", Allowed::Words),
    ("prompt", Allowed::Word),
    ("proposer", Allowed::Word),
    ("proposals", Allowed::Word),
    ("retrieve", Allowed::Word),
    ("select", Allowed::Word),
    ("select_by", Allowed::Word),
    ("sources", Allowed::Words),
];

/// Everything of a question but its text, which has a configured limit, and its budget, which is
/// checked when it is read.
pub(crate) fn check_ask(ask: &AskRequest) -> Result<(), Problem> {
    name("strategy", ask.strategy.as_deref())?;
    name("asked_at", ask.asked_at.as_deref())?;
    ask.filter.as_ref().map_or(Ok(()), check_filter)?;
    settings(&ask.settings)?;
    check_history(&ask.history)?;
    if let Some(turn) = ask.history.iter().find(|turn| !ROLES.contains(&turn.role.as_str())) {
        let shown: String = turn.role.chars().take(60).collect();
        return Err(Problem::unfit(format!("`{shown}` is not a role of `history`"))
            .hint("a role is `user` or `assistant`"));
    }
    if ask.options.len() > MOST_OPTIONS {
        return Err(too_many("options", MOST_OPTIONS));
    }
    if ask.options.iter().any(|option| option.chars().count() > LONGEST_OPTION) {
        return Err(too_long("options", LONGEST_OPTION));
    }
    Ok(())
}

fn settings(settings: &BTreeMap<String, Json>) -> Result<(), Problem> {
    if settings.len() > MOST_SETTINGS {
        return Err(too_many("settings", MOST_SETTINGS));
    }
    settings.iter().try_for_each(|(key, value)| setting(key, value))
}

fn setting(key: &str, value: &Json) -> Result<(), Problem> {
    let Some((_, allowed)) = SETTINGS.iter().find(|(name, _)| *name == key) else {
        let shown: String = key.chars().take(60).collect();
        return Err(Problem::unfit(format!(
            "`{shown}` is not a setting that a request can change"
        ))
        .hint(
            "docs/strategies has the settings of each strategy; one that a request cannot change is \
             set in the configuration of the server, under [strategy.NAME]",
        ));
    };
    let text = flag_text(value);
    if text.chars().count() > LONGEST_PATTERN {
        return Err(too_long(key, LONGEST_PATTERN));
    }
    // As the engine reads it: a text may hold a number.
    let value = flag_value(&text);
    let expected = match (allowed, &value) {
        (Allowed::Count(most), Value::Integer(count)) if !(0..=*most).contains(count) => {
            format!("at most {most}")
        }
        (Allowed::Number, Value::Integer(number)) if number.unsigned_abs() > 100 => {
            "between -100 and 100".to_owned()
        }
        (Allowed::Number, Value::Float(number)) if !(-100.0..=100.0).contains(number) => {
            "between -100 and 100".to_owned()
        }
        (Allowed::Count(_), Value::Integer(_))
        | (Allowed::Number, Value::Integer(_) | Value::Float(_))
        | (Allowed::Switch | Allowed::Word, Value::Boolean(_))
        | (Allowed::Word | Allowed::Words, Value::String(_)) => return Ok(()),
        (Allowed::Words, Value::Array(words)) if words.iter().all(Value::is_str) => return Ok(()),
        (Allowed::Count(_), _) => "a whole number".to_owned(),
        (Allowed::Number, _) => "a number".to_owned(),
        (Allowed::Switch, _) => "`true` or `false`".to_owned(),
        (Allowed::Word, _) => "a word".to_owned(),
        (Allowed::Words, _) => "a list of words".to_owned(),
    };
    Err(Problem::unfit(format!("the setting `{key}` must be {expected}"))
        .hint("docs/strategies describes the settings"))
}

/// A setting in the form of `--set`.
pub(crate) fn flag_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The turns before a question, before anything is computed from them.
pub(crate) fn check_history(history: &[Turn]) -> Result<(), Problem> {
    if history.len() > MOST_TURNS {
        return Err(too_many("history", MOST_TURNS));
    }
    let characters: usize = history.iter().map(|turn| turn.text.chars().count()).sum();
    if characters > LONGEST_HISTORY {
        return Err(too_long("history", LONGEST_HISTORY));
    }
    Ok(())
}

/// Each pattern is compared with the name of every document.
pub(crate) fn check_filter(filter: &Filter) -> Result<(), Problem> {
    let lists = [&filter.documents, &filter.sections, &filter.formats, &filter.tags];
    if lists.iter().map(|list| list.len()).sum::<usize>() > MOST_PATTERNS {
        return Err(too_many("filter", MOST_PATTERNS));
    }
    let mut all = lists.into_iter().flatten();
    if all.any(|pattern| pattern.chars().count() > LONGEST_PATTERN) {
        return Err(too_long("filter", LONGEST_PATTERN));
    }
    filter.metadata.check().map_err(|e| Problem::unfit(e.to_string()))
}

/// A name, a part of one, or a cursor.
pub(crate) fn name(what: &str, name: Option<&str>) -> Result<(), Problem> {
    match name {
        Some(name) if name.chars().count() > LONGEST_NAME => Err(too_long(what, LONGEST_NAME)),
        _ => Ok(()),
    }
}

/// A list of names, such as the files of a build.
pub(crate) fn names(what: &str, names: &[String], most: usize) -> Result<(), Problem> {
    if names.len() > most {
        return Err(too_many(what, most));
    }
    names.iter().try_for_each(|one| name(what, Some(one)))
}

/// What is said of an answer.
pub(crate) fn feedback(correction: &str, note: &str) -> Result<(), Problem> {
    for (what, text, most) in
        [("correction", correction, LONGEST_CORRECTION), ("note", note, LONGEST_NOTE)]
    {
        if text.chars().count() > most {
            return Err(too_long(what, most));
        }
    }
    Ok(())
}

/// Numbers of candidates.
pub(crate) fn candidates(numbers: &[usize]) -> Result<(), Problem> {
    if numbers.len() > MOST_CANDIDATES {
        Err(too_many("candidates", MOST_CANDIDATES))
    } else {
        Ok(())
    }
}

/// Texts that are embedded.
pub(crate) fn embedded(texts: &[String]) -> Result<(), Problem> {
    let is_empty = |text: &String| text.trim().is_empty();
    if texts.is_empty() || texts.len() > MOST_TEXTS || texts.iter().any(is_empty) {
        return Err(Problem::unfit(format!(
            "`input` must be 1 to {MOST_TEXTS} texts, none of them empty"
        )));
    }
    if texts.iter().map(|text| text.chars().count()).sum::<usize>() > LONGEST_TEXTS {
        return Err(too_long("input", LONGEST_TEXTS).hint("send the texts in several requests"));
    }
    Ok(())
}

fn too_many(what: &str, most: usize) -> Problem {
    Problem::unfit(format!("`{what}` has more than {most} entries")).hint("send fewer")
}

fn too_long(what: &str, most: usize) -> Problem {
    Problem::unfit(format!("`{what}` is longer than {most} characters")).hint("shorten it")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn refused(key: &str, value: &Json) -> bool {
        setting(key, value).is_err()
    }

    #[test]
    fn a_count_from_outside_is_bounded_in_every_notation() {
        for large in
            [json!(10_000_000_000_u64), json!(501), json!("10000000000"), json!("0x7fffffff")]
        {
            assert!(refused("chunks", &large), "{large}");
        }
        for wrong in [json!(-1), json!(1.5), json!([1]), json!({"a": 1}), json!(null), json!("{}")]
        {
            assert!(refused("chunks", &wrong), "{wrong}");
        }
        assert!(!refused("chunks", &json!(16)) && !refused("chunks", &json!("16")));
        assert!(refused("min_score", &json!("nan")) && refused("min_score", &json!("inf")));
        assert!(!refused("mode", &json!("dense")) && !refused("select", &json!(true)));
        assert!(refused("mode", &json!("x".repeat(1_000))));
        assert!(refused("prompts_dir", &json!("/")) && refused("", &json!(1)));
    }

    /// A setting that a strategy gains is listed, or can be changed in the configuration only.
    #[test]
    fn every_default_is_allowed() {
        for entry in halma_engine::strategies() {
            let Ok(strategy) = entry.build_from(toml::Table::new()) else { continue };
            let Json::Object(defaults) = strategy.settings() else { continue };
            for (key, value) in defaults {
                if !value.is_object() && !value.is_null() {
                    let problem = setting(&key, &value).err();
                    assert_eq!(problem, None, "{}.{key}: add it to the list above", entry.name);
                }
            }
        }
        // Settings of every strategy, which the engine reads.
        for key in ["abstain", "demonstrations"] {
            assert_eq!(setting(key, &Json::Bool(true)).err(), None, "{key}");
        }
    }

    #[test]
    fn long_lists_and_texts_are_refused() {
        let many = Filter { documents: vec!["*a*".to_owned(); 101], ..Filter::default() };
        assert!(check_filter(&many).is_err());
        let long = Filter { documents: vec!["2".repeat(301)], ..Filter::default() };
        assert!(check_filter(&long).is_err());
        assert!(check_filter(&Filter::default()).is_ok());
        let turn = |text: String| Turn { role: "user".into(), text };
        assert!(check_history(&vec![turn(String::new()); 201]).is_err());
        assert!(check_history(&[turn("ü".repeat(200_001))]).is_err());
        assert!(feedback(&"ü".repeat(4_000), "").is_ok());
        assert!(
            feedback(&"ü".repeat(4_001), "").is_err() && feedback("", &"n".repeat(4_001)).is_err()
        );
        assert!(candidates(&[1; 65]).is_err() && candidates(&[1, 2]).is_ok());
        let texts = |count, text: &str| vec![text.to_owned(); count];
        assert!(embedded(&texts(2_048, "a")).is_ok() && embedded(&texts(2_049, "a")).is_err());
        assert!(embedded(&[]).is_err() && embedded(&texts(2, " ")).is_err());
        assert!(embedded(&texts(2, &"ü".repeat(200_000))).is_ok());
        assert!(embedded(&texts(2, &"ü".repeat(200_001))).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn no_text_of_a_setting_passes_a_larger_count(text in "\\PC{0,40}") {
            if setting("chunks", &json!(text.clone())).is_ok() {
                let count = flag_value(&text).as_integer().unwrap();
                prop_assert!((0..=500).contains(&count));
            }
        }
    }
}
