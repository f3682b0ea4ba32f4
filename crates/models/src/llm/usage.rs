//! The tokens of a call, as servers count them.
use halma_core::{ChatRequest, Usage};
use serde::{Deserialize as _, Deserializer};
use serde_json::Value;

/// What a server counted, as far as it can be read.
#[derive(Clone, Copy)]
pub(crate) struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

/// More tokens than any call has: a larger count is an error of the server.
const MOST_TOKENS: u64 = 1_000_000_000;

/// Reads counts in whatever form they come. A reply is not lost for a count that is none.
pub(super) fn read_usage<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<WireUsage>, D::Error> {
    let value = Value::deserialize(from)?;
    let count = |key: &str| value.get(key).and_then(token_count);
    Ok(value.is_object().then(|| WireUsage {
        prompt_tokens: count("prompt_tokens"),
        completion_tokens: count("completion_tokens"),
    }))
}

/// A number of tokens: `12`, `12.0` or `"12"`.
fn token_count(value: &Value) -> Option<u64> {
    let count = match value {
        Value::String(text) => text.trim().parse().ok()?,
        Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?))?,
        _ => return None,
    };
    (count <= MOST_TOKENS).then_some(count)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "only whole numbers from 0 to MOST_TOKENS are converted"
)]
fn whole(number: f64) -> Option<u64> {
    let fits = number.fract() == 0.0 && (0.0..=MOST_TOKENS as f64).contains(&number);
    fits.then_some(number as u64)
}

/// What the server counted; where it did not, four characters a token.
pub(crate) fn usage(counted: Option<WireUsage>, request: &ChatRequest, text: &str) -> Usage {
    let characters: usize = request.messages.iter().map(|message| message.text.len()).sum();
    let estimate = |characters: usize| characters.div_ceil(4) as u64;
    let counted = counted.unwrap_or(WireUsage { prompt_tokens: None, completion_tokens: None });
    Usage {
        prompt_tokens: counted.prompt_tokens.unwrap_or_else(|| estimate(characters)),
        completion_tokens: counted.completion_tokens.unwrap_or_else(|| estimate(text.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::Reply;

    #[test]
    fn counts_are_read_in_every_form_and_estimated_otherwise() {
        let read = |usage: &str| {
            let json = format!(r#"{{"choices":[],"usage":{usage}}}"#);
            serde_json::from_str::<Reply>(&json).unwrap().usage
        };
        let prompt = |count: &str| {
            let usage = read(&format!(r#"{{"prompt_tokens":{count},"completion_tokens":7}}"#));
            let usage = usage.unwrap();
            assert_eq!(usage.completion_tokens, Some(7), "{count}");
            usage.prompt_tokens
        };
        for count in ["12", "12.0", r#""12""#, r#"" 12 ""#] {
            assert_eq!(prompt(count), Some(12), "{count}");
        }
        for count in
            ["-1", "12.5", r#""many""#, "null", "true", "[12]", "18446744073709551615", "1e300"]
        {
            assert_eq!(prompt(count), None, "{count}");
        }
        for usage in ["null", "12", r#""none""#, "[]"] {
            assert!(read(usage).is_none(), "{usage}");
        }
        assert!(serde_json::from_str::<Reply>("{}").unwrap().usage.is_none());
    }
}
