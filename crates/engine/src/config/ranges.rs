//! The ranges of numbers in the configuration, which types cannot express.
use std::ops::RangeInclusive;

use halma_core::ConfigError;
use toml::{Table, Value};

use super::Config;
use super::load::{Places, VALUES_HINT, leaves};

/// What a weight may be. More than this is not a weight next to others.
const WEIGHT: RangeInclusive<f64> = 0.0..=1000.0;

/// A share, or a similarity.
const SHARE: RangeInclusive<f64> = 0.0..=1.0;

/// What a number is, which decides how it is shown.
#[derive(PartialEq)]
enum Kind {
    Count,
    Real,
}

/// Keys of a table with numbers of one kind, and the values that they may have. The defaults are
/// among these.
struct Range(Kind, &'static str, &'static [&'static str], RangeInclusive<f64>);

const RANGES: &[Range] = &[
    Range(Kind::Count, "kb", &["chunk_chars"], 20.0..=1e6),
    Range(Kind::Count, "kb", &["chunk_tokens"], 2.0..=1e6),
    Range(Kind::Count, "kb", &["sentences", "max_atoms"], 1.0..=1e5),
    Range(Kind::Count, "kb", &["concurrency"], 1.0..=1e4),
    // A worker for reading has 900 seconds of a processor.
    Range(Kind::Count, "kb.reading", &["seconds"], 1.0..=600.0),
    Range(Kind::Count, "ask", &["max_question_chars"], 1.0..=1e7),
    Range(Kind::Real, "kb.search", &["summaries", "tags"], WEIGHT),
    Range(Kind::Real, "kb.search", &["tag_score"], -1.0..=1.0),
    Range(Kind::Real, "kb.graph", &["dense", "bm25", "entities", "titles", "tags"], WEIGHT),
    // With a similarity above 1 only equal names match.
    Range(Kind::Real, "kb.graph", &["similarity", "aliases", "facts", "links", "next"], WEIGHT),
    Range(Kind::Real, "kb.graph", &["least", "summaries", "covers", "led_to", "atoms"], WEIGHT),
    Range(Kind::Count, "kb.graph", &["rounds"], 0.0..=1e3),
    Range(Kind::Count, "kb.graph", &["sentences", "hops"], 0.0..=1e5),
    Range(Kind::Real, "feedback", &["recall_score", "weight", "penalty"], SHARE),
    Range(Kind::Real, "feedback", &["similarity", "verify_score"], SHARE),
];

/// Of a table `[models.NAME]`. A million seconds is not a limit of a call.
const MODEL_RANGES: &[Range] = &[
    Range(Kind::Real, "price", &["prompt", "input", "completion", "output", "cached"], 0.0..=1e9),
    Range(Kind::Real, "", &["timeout_seconds"], 0.001..=1e6),
    Range(Kind::Count, "", &["concurrency"], 1.0..=1e4),
];

impl Range {
    /// The first of its numbers, as they were written, that is not one of the values: its key and
    /// the reason.
    #[expect(clippy::cast_precision_loss, reason = "sizes and counts, compared with small numbers")]
    fn violation(&self, root: &Table) -> Option<(String, String)> {
        let Self(kind, path, keys, values) = self;
        let mut parts = path.split('.').filter(|part| !part.is_empty());
        let table = parts.try_fold(root, |table, part| table.get(part)?.as_table())?;
        keys.iter().find_map(|key| {
            let (number, text) = match table.get(*key)? {
                Value::Integer(count) if *kind == Kind::Count => (*count as f64, count.to_string()),
                Value::Integer(number) => (*number as f64, format!("{:?}", *number as f64)),
                Value::Float(number) => (*number, format!("{number:?}")),
                _ => return None,
            };
            let key = format!("{path}.{key}").trim_start_matches('.').to_owned();
            let reason = format!("{text} is not from {} to {}", values.start(), values.end());
            (!values.contains(&number)).then_some((key, reason))
        })
    }
}

/// The first number of the table, which `config` was read from, that is out of its range.
pub(super) fn check(
    table: &Table,
    config: &Config,
    places: &Places<'_>,
) -> Result<(), ConfigError> {
    #[expect(clippy::cast_precision_loss, reason = "at most a million")]
    let half = |count: usize| 0.0..=(count / 2) as f64;
    // A default that is too large for smaller chunks is cut to half of them.
    let overlaps = [
        Range(Kind::Count, "kb", &["chunk_overlap"], half(config.kb.chunk_tokens)),
        Range(Kind::Count, "kb", &["sentence_overlap"], half(config.kb.sentences)),
    ];
    let mut violations = RANGES.iter().chain(&overlaps).filter_map(|range| range.violation(table));
    let mut models = table.get("models").and_then(Value::as_table).into_iter().flatten();
    let of_model = |(name, model): (&String, &Value)| {
        let mut violations =
            MODEL_RANGES.iter().filter_map(|range| range.violation(model.as_table()?));
        violations.next().map(|(key, reason)| (format!("models.{name}.{key}"), reason))
    };
    let violation = violations.next().or_else(|| models.find_map(of_model));
    let Some((key, reason)) = violation else { return Ok(()) };
    Err(places.error(&key, reason, VALUES_HINT))
}

/// Refuses the first `nan` or `inf` of a table.
pub(super) fn check_finite(table: &Table, places: &Places<'_>) -> Result<(), ConfigError> {
    let infinite = |value: &Value| value.as_float().filter(|number| !number.is_finite());
    let mut all = leaves("", table).into_iter();
    match all.find_map(|(key, value)| Some((key, infinite(value)?))) {
        Some((key, number)) => {
            let reason = format!("`{number}` is not a finite number");
            Err(places.error(&key, reason, "write a number"))
        }
        None => Ok(()),
    }
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
