//! The tokens of a call, as servers count them.
use halma_core::{ChatRequest, Usage};
use serde_json::Value;

use super::openai::ServerReply;

/// What a server counted, as far as it can be read.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_field_names, reason = "the names of the API")]
pub(crate) struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

/// More tokens than any call has: a larger count is an error of the server.
const MAX_TOKENS: u64 = 1_000_000_000;

impl WireUsage {
    /// Reads counts in whatever form they come. A reply is not lost for a count that is none. What a
    /// total has beyond the two, such as thoughts that are counted apart, was generated as well.
    pub(super) fn read(usage: &Value) -> Option<Self> {
        let count = |key: &str| usage.get(key).and_then(token_count);
        // No request is without tokens: servers that do not count say so.
        let prompt_tokens = count("prompt_tokens").filter(|tokens| *tokens > 0);
        let rest = count("total_tokens").zip(prompt_tokens);
        let rest = rest.map(|(total, prompt)| total.saturating_sub(prompt));
        let completion_tokens = count("completion_tokens").max(rest);
        let completion_tokens = completion_tokens.filter(|_| prompt_tokens.is_some());
        let part = |of: &str, key: &str| usage.get(of)?.get(key).and_then(token_count);
        usage.is_object().then_some(Self {
            prompt_tokens,
            completion_tokens,
            cached_tokens: part("prompt_tokens_details", "cached_tokens"),
            reasoning_tokens: part("completion_tokens_details", "reasoning_tokens"),
        })
    }
}

/// A number of tokens: `12`, `12.0` or `"12"`.
fn token_count(value: &Value) -> Option<u64> {
    let count = match value {
        Value::String(text) => text.trim().parse().ok()?,
        Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?))?,
        _ => return None,
    };
    (count <= MAX_TOKENS).then_some(count)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "only whole numbers from 0 to MOST_TOKENS are converted"
)]
fn whole(number: f64) -> Option<u64> {
    let fits = number.fract() == 0.0 && (0.0..=MAX_TOKENS as f64).contains(&number);
    fits.then_some(number as u64)
}

/// What the server counted; where it did not, four characters a token.
pub(crate) fn usage(reply: &ServerReply, request: &ChatRequest) -> Usage {
    let characters: usize = request.messages.iter().map(|message| message.text.len()).sum();
    let estimate = |characters: usize| characters.div_ceil(4) as u64;
    let generated = || estimate(reply.text.len() + reply.thoughts.len());
    let counted = reply.usage.unwrap_or_default();
    let prompt_tokens = counted.prompt_tokens.unwrap_or_else(|| estimate(characters));
    let completion_tokens = counted.completion_tokens.unwrap_or_else(generated);
    Usage {
        prompt_tokens,
        completion_tokens,
        cached_tokens: counted.cached_tokens.unwrap_or(0).min(prompt_tokens),
        reasoning_tokens: counted.reasoning_tokens.unwrap_or(0).min(completion_tokens),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(usage: &str) -> Option<WireUsage> {
        WireUsage::read(&serde_json::from_str(usage).unwrap())
    }

    #[test]
    fn counts_are_read_in_every_form_and_estimated_otherwise() {
        let completion = |count: &str| {
            let usage = read(&format!(r#"{{"prompt_tokens":7,"completion_tokens":{count}}}"#));
            let usage = usage.unwrap();
            assert_eq!(usage.prompt_tokens, Some(7), "{count}");
            usage.completion_tokens
        };
        for count in ["12", "12.0", r#""12""#, r#"" 12 ""#] {
            assert_eq!(completion(count), Some(12), "{count}");
        }
        for count in
            ["-1", "12.5", r#""many""#, "null", "true", "[12]", "18446744073709551615", "1e300"]
        {
            assert_eq!(completion(count), None, "{count}");
        }
        for usage in ["null", "12", r#""none""#, "[]"] {
            assert!(read(usage).is_none(), "{usage}");
        }
    }

    #[test]
    fn parts_of_the_counts_are_read() {
        let counted = r#"{"prompt_tokens":100,"completion_tokens":20,
            "prompt_tokens_details":{"cached_tokens":64},
            "completion_tokens_details":{"reasoning_tokens":400}}"#;
        let reply = ServerReply { usage: read(counted), ..ServerReply::default() };
        let usage = usage(&reply, &super::super::openai::small_request("0123", 16, None));
        assert_eq!((usage.cached_tokens, usage.reasoning_tokens), (64, 20));
        let nothing = read(r#"{"prompt_tokens":1,"prompt_tokens_details":null}"#).unwrap();
        assert_eq!((nothing.cached_tokens, nothing.reasoning_tokens), (None, None));
    }

    #[test]
    fn thoughts_that_are_counted_apart_are_generated_tokens() {
        let apart = r#"{"prompt_tokens":1000,"completion_tokens":20,"total_tokens":3020}"#;
        assert_eq!(read(apart).unwrap().completion_tokens, Some(2020));
        let less = r#"{"prompt_tokens":1000,"completion_tokens":20,"total_tokens":5}"#;
        assert_eq!(read(less).unwrap().completion_tokens, Some(20));
        let nothing = r#"{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}"#;
        let nothing = read(nothing).unwrap();
        assert_eq!((nothing.prompt_tokens, nothing.completion_tokens), (None, None));
        let (text, thoughts) = ("x".repeat(40), "y".repeat(400));
        let reply = ServerReply { text, thoughts, usage: Some(nothing), ..ServerReply::default() };
        let request = super::super::openai::small_request("0123456789ab", 16, None);
        let estimated = Usage { prompt_tokens: 3, completion_tokens: 110, ..Usage::default() };
        assert_eq!(usage(&reply, &request), estimated);
    }
}
