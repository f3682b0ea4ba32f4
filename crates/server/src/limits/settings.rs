//! The settings of strategies that a request may change, and their bounds.
use std::collections::BTreeMap;

use halma_core::text::similarity::edit_distance;
use halma_engine::{flag_text, flag_value};
use serde_json::Value as Json;
use toml::Value;

use super::bounds::{LONGEST_PATTERN, beginning, too_long, too_many};
use crate::problem::Problem;

const MAX_SETTINGS: usize = 32;

/// Names of settings that are offered in the place of one that does not exist.
const NEAR_NAMES: usize = 3;

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
    ("characters", Allowed::Count(20_000)),
    ("fan_out", Allowed::Count(50)),
    ("group", Allowed::Count(100)),
    ("groups", Allowed::Count(100)),
    ("highest", Allowed::Count(4)),
    ("hits", Allowed::Count(50)),
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

pub(super) fn check_settings(settings: &BTreeMap<String, Json>) -> Result<(), Problem> {
    if settings.len() > MAX_SETTINGS {
        return Err(too_many("settings", MAX_SETTINGS));
    }
    settings.iter().try_for_each(|(key, value)| setting(key, value))
}

fn setting(key: &str, value: &Json) -> Result<(), Problem> {
    let Some((_, allowed)) = SETTINGS.iter().find(|(name, _)| *name == key) else {
        return Err(unknown_setting(key));
    };
    let text = flag_text(value);
    if text.chars().count() > LONGEST_PATTERN {
        return Err(too_long(key, LONGEST_PATTERN));
    }
    // As the engine reads it: a text may hold a number.
    let value = flag_value(&text);
    let expected = match (allowed, &value) {
        (Allowed::Count(max), Value::Integer(count)) if !(0..=*max).contains(count) => {
            format!("at most {max}")
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

/// The problem with a setting that does not exist, or that only the configuration can change.
fn unknown_setting(key: &str) -> Problem {
    let shown = beginning(key);
    let mut names: Vec<&str> = SETTINGS.iter().map(|(name, _)| *name).collect();
    names.sort_by_cached_key(|name| (edit_distance(name, &shown), *name));
    names.truncate(NEAR_NAMES);
    let near = names.join("`, `");
    Problem::unfit(format!("`{shown}` is not a setting that a request can change")).hint(format!(
        "the settings with the most similar names are `{near}`; docs/strategies lists all, some of \
         which only the configuration of the server can set"
    ))
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

    #[test]
    fn an_unknown_setting_is_told_with_the_nearest_names() {
        let problem = setting("nn", &json!(1)).unwrap_err();
        assert_eq!(problem.status, 422);
        assert!(problem.detail.starts_with("`nn` is not a setting"), "{}", problem.detail);
        let hint = problem.hint.unwrap();
        assert!(hint.contains("`n`") && !hint.contains("halma.toml"), "{hint}");
        let hint = setting("chunk", &json!(1)).unwrap_err().hint.unwrap();
        assert!(hint.contains("`chunks`"), "{hint}");
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
        // Settings of every strategy, some of which are shown only where they are set.
        for key in halma_core::COMMON_SETTINGS {
            assert_eq!(setting(key, &Json::Bool(true)).err(), None, "{key}");
        }
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
