//! The ranges of numbers in the configuration, which types cannot express.
use std::ops::RangeInclusive;

use halma_core::ConfigError;
use halma_kb::Chunks;
use toml::{Table, Value};

use super::Config;

/// Seconds that a call may take at most: more is no limit.
const LONGEST: f64 = 1e6;

/// A number with its key and the values that it may have.
struct Ranged {
    key: String,
    value: f64,
    range: RangeInclusive<f64>,
}

#[expect(clippy::cast_precision_loss, reason = "sizes and counts, compared with small numbers")]
fn count(key: impl Into<String>, value: usize, range: RangeInclusive<usize>) -> Ranged {
    let range = *range.start() as f64..=*range.end() as f64;
    Ranged { key: key.into(), value: value as f64, range }
}

fn ranged(config: &Config) -> Vec<Ranged> {
    let kb = &config.kb;
    let mut all = vec![
        count("kb.chunk_chars", kb.chunk_chars, 20..=1_000_000),
        count("kb.chunk_tokens", kb.chunk_tokens, 2..=1_000_000),
        count("kb.sentences", kb.sentences, 1..=100_000),
        count("kb.concurrency", kb.concurrency, 1..=10_000),
        count("kb.max_atoms", kb.max_atoms, 1..=100_000),
        count("ask.max_question_chars", config.ask.max_question_chars, 1..=10_000_000),
    ];
    match kb.chunks {
        Chunks::Fixed => {
            all.push(count("kb.chunk_overlap", kb.chunk_overlap, 0..=kb.chunk_tokens / 2));
        }
        Chunks::Sentences => {
            all.push(count("kb.sentence_overlap", kb.sentence_overlap, 0..=kb.sentences / 2));
        }
        _ => {}
    }
    for (name, model) in &config.models {
        let key = |key: &str| format!("models.{name}.{key}");
        let (prompt, completion) = (model.price.prompt, model.price.completion);
        for (part, value) in [("price.prompt", prompt), ("price.completion", completion)] {
            all.push(Ranged { key: key(part), value, range: 0.0..=1e9 });
        }
        let value = model.timeout_seconds;
        all.push(Ranged { key: key("timeout_seconds"), value, range: 0.001..=LONGEST });
        all.push(count(key("concurrency"), model.concurrency, 1..=10_000));
    }
    all
}

/// The first number that is out of its range.
pub(super) fn check(config: &Config, file: &str) -> Result<(), ConfigError> {
    let Some(wrong) = ranged(config).into_iter().find(|r| !r.range.contains(&r.value)) else {
        return Ok(());
    };
    let (least, most) = (wrong.range.start(), wrong.range.end());
    Err(ConfigError {
        file: file.to_owned(),
        key: wrong.key,
        reason: format!("{} is not from {least} to {most}", wrong.value),
        hint: "docs/reference/config.md describes the values of every key".into(),
    })
}

/// The first number of a table that is none or has no end, by its dotted key.
pub(super) fn check_finite(table: &Table, prefix: &str, file: &str) -> Result<(), ConfigError> {
    for (key, value) in table {
        let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) => check_finite(inner, &key, file)?,
            Value::Float(number) if !number.is_finite() => {
                return Err(ConfigError {
                    file: file.to_owned(),
                    key,
                    reason: format!("`{number}` is not a finite number"),
                    hint: "write a number".into(),
                });
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
            (
                "[kb]\nchunks = \"fixed\"\nchunk_overlap = 500\n",
                "kb.chunk_overlap: 500 is not from 0 to 128",
            ),
            ("[kb.graph]\ndense = nan\n", "kb.graph.dense: `NaN` is not a finite number"),
            (
                "[ask]\nmax_question_chars = 0\n",
                "ask.max_question_chars: 0 is not from 1 to 10000000",
            ),
            (
                "[models.m]\nurl = \"http://x/v1\"\nmodel = \"m\"\nprice = { prompt = -5.0, completion = 1.0 }\n",
                "models.m.price.prompt: -5 is not from 0 to 1000000000",
            ),
            (
                "[models.m]\nurl = \"http://x/v1\"\nmodel = \"m\"\ntimeout_seconds = 1e300\n",
                "models.m.timeout_seconds: 1000000000000000000",
            ),
        ] {
            let said = refused(text);
            assert!(said.starts_with(expected), "{said}");
        }
    }
}
