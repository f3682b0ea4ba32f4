//! The ranges of numbers in the configuration, which types cannot express.
use std::ops::RangeInclusive;

use halma_core::ConfigError;
use toml::{Table, Value};

use super::Config;
use super::load::Places;

/// Seconds that a call may take at most: more is no limit.
const LONGEST: f64 = 1e6;

/// What a weight may be. More than this is not a weight next to others.
const WEIGHT: RangeInclusive<f64> = 0.0..=1000.0;

/// A share, or a similarity.
const SHARE: RangeInclusive<f64> = 0.0..=1.0;

const COSINE: RangeInclusive<f64> = -1.0..=1.0;

/// A number with its key and the values that it may have.
struct Ranged {
    key: String,
    value: f64,
    /// The number as it was written.
    text: String,
    range: RangeInclusive<f64>,
}

#[expect(clippy::cast_precision_loss, reason = "sizes and counts, compared with small numbers")]
fn count(key: impl Into<String>, value: usize, range: RangeInclusive<usize>) -> Ranged {
    let range = *range.start() as f64..=*range.end() as f64;
    Ranged { key: key.into(), value: value as f64, text: value.to_string(), range }
}

fn real(key: String, value: f64, range: RangeInclusive<f64>) -> Ranged {
    Ranged { key, value, text: format!("{value:?}"), range }
}

/// The text of an `f32` differs from that of the same `f64`.
fn share(key: &str, value: f32, range: RangeInclusive<f64>) -> Ranged {
    Ranged { key: key.into(), value: value.into(), text: format!("{value:?}"), range }
}

/// `[kb]` and `[ask]`.
fn of_base(config: &Config, places: &Places<'_>) -> Vec<Ranged> {
    let kb = &config.kb;
    let mut all = vec![
        count("kb.chunk_chars", kb.chunk_chars, 20..=1_000_000),
        count("kb.chunk_tokens", kb.chunk_tokens, 2..=1_000_000),
        count("kb.sentences", kb.sentences, 1..=100_000),
        count("kb.concurrency", kb.concurrency, 1..=10_000),
        count("kb.max_atoms", kb.max_atoms, 1..=100_000),
        // A worker for reading has 900 seconds of a processor.
        count("kb.reading.seconds", kb.reading.seconds, 1..=600),
        count("ask.max_question_chars", config.ask.max_question_chars, 1..=10_000_000),
    ];
    // A default that is too large for smaller chunks is cut to half of them.
    for (key, value, most) in [
        ("kb.chunk_overlap", kb.chunk_overlap, kb.chunk_tokens / 2),
        ("kb.sentence_overlap", kb.sentence_overlap, kb.sentences / 2),
    ] {
        if places.is_set(key) {
            all.push(count(key, value, 0..=most));
        }
    }
    all
}

/// `[kb.search]`, `[kb.graph]` and `[feedback]`.
fn of_search(config: &Config) -> Vec<Ranged> {
    let (search, graph, feedback) = (&config.kb.search, &config.kb.graph, &config.feedback);
    vec![
        share("kb.search.summaries", search.summaries, WEIGHT),
        share("kb.search.tags", search.tags, WEIGHT),
        share("kb.search.tag_score", search.tag_score, COSINE),
        share("kb.graph.dense", graph.dense, WEIGHT),
        share("kb.graph.bm25", graph.bm25, WEIGHT),
        share("kb.graph.entities", graph.entities, WEIGHT),
        share("kb.graph.titles", graph.titles, WEIGHT),
        // Above 1 only equal names match.
        share("kb.graph.similarity", graph.similarity, WEIGHT),
        share("kb.graph.tags", graph.tags, WEIGHT),
        share("kb.graph.aliases", graph.aliases, WEIGHT),
        share("kb.graph.facts", graph.facts, WEIGHT),
        share("kb.graph.links", graph.links, WEIGHT),
        share("kb.graph.next", graph.next, WEIGHT),
        count("kb.graph.rounds", graph.rounds, 0..=1_000),
        count("kb.graph.sentences", graph.sentences, 0..=100_000),
        share("kb.graph.least", graph.least, WEIGHT),
        count("kb.graph.hops", graph.hops, 0..=100_000),
        share("kb.graph.summaries", graph.summaries, WEIGHT),
        share("kb.graph.covers", graph.covers, WEIGHT),
        share("kb.graph.led_to", graph.led_to, WEIGHT),
        share("kb.graph.atoms", graph.atoms, WEIGHT),
        share("feedback.recall_score", feedback.recall_score, SHARE),
        share("feedback.weight", feedback.weight, SHARE),
        share("feedback.penalty", feedback.penalty, SHARE),
        share("feedback.similarity", feedback.similarity, SHARE),
        share("feedback.verify_score", feedback.verify_score, SHARE),
    ]
}

/// `[models.NAME]`.
fn of_models(config: &Config) -> Vec<Ranged> {
    let mut all = vec![];
    for (name, model) in &config.models {
        let key = |key: &str| format!("models.{name}.{key}");
        let price = model.price;
        let parts = [("prompt", Some(price.prompt)), ("completion", Some(price.completion))];
        for (part, value) in parts.into_iter().chain([("cached", price.cached)]) {
            let value = value.map(|value| real(key(&format!("price.{part}")), value, 0.0..=1e9));
            all.extend(value);
        }
        all.push(real(key("timeout_seconds"), model.timeout_seconds, 0.001..=LONGEST));
        all.push(count(key("concurrency"), model.concurrency, 1..=10_000));
    }
    all
}

/// The first number that is out of its range.
pub(super) fn check(config: &Config, places: &Places<'_>) -> Result<(), ConfigError> {
    let all = of_base(config, places).into_iter().chain(of_search(config)).chain(of_models(config));
    let mut wrong = all.filter(|number| !number.range.contains(&number.value));
    let Some(Ranged { key, text, range, .. }) = wrong.next() else { return Ok(()) };
    let reason = format!("{text} is not from {} to {}", range.start(), range.end());
    Err(places.error(&key, reason, "docs/reference/config.md describes the values of every key"))
}

/// Refuses the first `nan` or `inf` of a table.
pub(super) fn check_finite(
    table: &Table,
    prefix: &str,
    places: &Places<'_>,
) -> Result<(), ConfigError> {
    for (key, value) in table {
        let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) => check_finite(inner, &key, places)?,
            Value::Float(number) if !number.is_finite() => {
                let reason = format!("`{number}` is not a finite number");
                return Err(places.error(&key, reason, "write a number"));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::load::load;

    fn refused(text: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("halma.toml");
        std::fs::write(&file, text).unwrap();
        let error = load(Some(&file), vec![]).err().unwrap_or_else(|| panic!("{text} is accepted"));
        assert!(error.file.contains("halma.toml"), "{error}");
        format!("{}: {}", error.key, error.reason)
    }

    #[test]
    fn numbers_out_of_their_range_are_refused_with_their_key() {
        for (text, expected) in [
            ("[kb]\nchunk_chars = 0\n", "kb.chunk_chars: 0 is not from 20 to 1000000"),
            ("[kb]\nmax_atoms = 0\n", "kb.max_atoms: 0 is not from 1 to 100000"),
            ("[kb]\nchunk_overlap = 500\n", "kb.chunk_overlap: 500 is not from 0 to 128"),
            ("[kb]\nconcurrency = 0\n", "kb.concurrency: 0 is not from 1 to 10000"),
            ("[kb.graph]\ndense = -1e30\n", "kb.graph.dense: -1e30 is not from 0 to 1000"),
            ("[feedback]\nweight = 7\n", "feedback.weight: 7.0 is not from 0 to 1"),
            ("[kb.graph]\ndense = nan\n", "kb.graph.dense: `NaN` is not a finite number"),
            (
                "[ask]\nmax_question_chars = 0\n",
                "ask.max_question_chars: 0 is not from 1 to 10000000",
            ),
            (
                "[models.m]\nurl = \"http://x/v1\"\nmodel = \"m\"\nprice = { prompt = -5.0, completion = 1.0 }\n",
                "models.m.price.prompt: -5.0 is not from 0 to 1000000000",
            ),
            (
                "[models.m]\nurl = \"http://x/v1\"\nmodel = \"m\"\ntimeout_seconds = 1e300\n",
                "models.m.timeout_seconds: 1e300 is not from 0.001 to 1000000",
            ),
        ] {
            let said = refused(text);
            assert!(said.starts_with(expected), "{said}");
        }
    }

    #[test]
    fn what_the_documentation_allows_is_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("halma.toml");
        for text in [
            // The default overlap is larger than half of these chunks.
            "[kb]\nchunks = \"fixed\"\nchunk_tokens = 20\n",
            "[kb]\nchunks = \"sentences\"\nsentences = 2\n",
            "[kb]\nchunk_overlap = 0\nsentence_overlap = 0\n",
            "[kb.graph]\ndense = 0\nhops = 0\nrounds = 0\nsimilarity = 1.1\n",
            "[feedback]\nweight = 0\npenalty = 1\n",
        ] {
            std::fs::write(&file, text).unwrap();
            let error = load(Some(&file), vec![]).err().map(|e| e.to_string());
            assert_eq!(error, None, "{text}");
        }
    }

    #[test]
    fn a_number_of_a_flag_names_the_flag() {
        let flag = ("kb.graph.dense".to_owned(), toml::Value::Integer(-1), "--set".to_owned());
        let error = load(Some("/dev/null".as_ref()), vec![flag]).err().unwrap();
        assert_eq!((error.file.as_str(), error.key.as_str()), ("--set", "kb.graph.dense"));
    }
}
