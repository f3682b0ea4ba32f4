//! What a reasoning model thinks before it replies, separated from the reply: a draft in the
//! thoughts is never the answer.

/// The tags in which models write their thoughts, in `<…>` or `[…]`.
const TAGS: [&str; 6] = ["think", "thinking", "thought", "thoughts", "reasoning", "scratchpad"];

/// A reply without its thoughts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split {
    /// Empty where there are none.
    pub(crate) thoughts: String,
    pub(crate) reply: String,
    /// Bytes of the text before the first character of the reply, for its log-probabilities.
    pub(crate) start: usize,
}

/// Separates `<think>…</think>` and its like from what follows. Thoughts that were opened before
/// the text begins (chat templates do that) end at the last closing tag; thoughts that are never
/// closed are all there is. A text that is JSON as a whole has no thoughts. The reply ends with the
/// model's turn, whatever it goes on to invent.
pub(crate) fn split_thoughts(text: &str) -> Split {
    if serde_json::from_str::<serde::de::IgnoredAny>(text.trim()).is_ok() {
        return Split { thoughts: String::new(), reply: text.to_owned(), start: 0 };
    }
    let LastTurn { before, text, start: begin } = LastTurn::of(text);
    let Split { thoughts, reply, start } = split_at_tags(text);
    Split { thoughts: [before, &thoughts].concat(), reply, start: begin + start }
}

fn split_at_tags(text: &str) -> Split {
    let tags = tags(text);
    if tags.is_empty() {
        return Split { thoughts: String::new(), reply: text.to_owned(), start: 0 };
    }
    let (mut thoughts, mut reply) = (String::new(), String::new());
    let (mut at, mut depth, mut start) = (0, 0_usize, 0);
    for Tag { range, opens } in tags {
        let between = &text[at..range.start];
        if opens && depth == 0 {
            reply.push_str(between);
        } else if !opens && depth == 0 {
            // The template opened it: all that came before was thought.
            thoughts.push_str(&std::mem::take(&mut reply));
            thoughts.push_str(between);
            start = range.end;
        } else {
            thoughts.push_str(between);
        }
        depth = if opens { depth + 1 } else { depth.saturating_sub(1) };
        at = range.end;
        if reply.trim().is_empty() {
            start = at;
        }
    }
    let rest = &text[at..];
    if depth == 0 { &mut reply } else { &mut thoughts }.push_str(rest);
    Split { thoughts: thoughts.trim().to_owned(), reply: reply.trim().to_owned(), start }
}

/// What begins the final message, in the format of gpt-oss; what is before it was thought.
const FINAL_MESSAGE: &str = "<|channel|>final<|message|>";

/// What ends a model's turn, or begins another, in the chat templates of the usual models.
const TURN_ENDS: [&str; 12] = [
    "<|im_end|>",
    "<|im_start|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|start_header_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "<end_of_turn>",
    "<start_of_turn>",
    "</s>",
];

/// The model's own turn in a text.
struct LastTurn<'a> {
    /// Its thoughts, where the format marks the final message.
    before: &'a str,
    text: &'a str,
    /// Bytes of the text before the turn.
    start: usize,
}

impl<'a> LastTurn<'a> {
    fn of(whole: &'a str) -> Self {
        let (before, text) = match whole.rfind(FINAL_MESSAGE) {
            Some(at) => (&whole[..at], &whole[at + FINAL_MESSAGE.len()..]),
            None => ("", whole),
        };
        let mut start = whole.len() - text.len();
        let mut text = without_header(text, &mut start);
        // Struck-out text in HTML is not a turn.
        let ends = TURN_ENDS.iter().filter(|end| **end != "</s>" || !text.contains("<s>"));
        if let Some(end) = ends.filter_map(|end| text.find(end)).min() {
            text = text[..end].trim_end();
        }
        Self { before, text, start }
    }
}

/// Without the control tokens and the role with which a turn begins.
fn without_header<'a>(mut text: &'a str, start: &mut usize) -> &'a str {
    loop {
        let trimmed = text.trim_start();
        let token = TURN_ENDS.iter().find_map(|token| trimmed.strip_prefix(*token));
        let Some(rest) = token else { return text };
        let rest = rest.strip_prefix("assistant").unwrap_or(rest);
        let rest = rest.strip_prefix("<|end_header_id|>").unwrap_or(rest);
        *start += text.len() - rest.len();
        text = rest;
    }
}

/// A text without the tokens that end a turn at its end.
pub(crate) fn without_turn_end(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(rest) = TURN_ENDS.iter().find_map(|end| text.strip_suffix(*end)) {
        text = rest.trim_end();
    }
    text
}

/// Bytes between the brackets of a tag at most; what is longer is text.
const LONGEST_TAG: usize = 32;

struct Tag {
    /// In bytes.
    range: std::ops::Range<usize>,
    opens: bool,
}

fn tags(text: &str) -> Vec<Tag> {
    let mut tags = vec![];
    for (start, bracket) in text.match_indices(['<', '[']) {
        let close = if bracket == "<" { b'>' } else { b']' };
        let after = &text[start + 1..];
        let end = after.bytes().take(LONGEST_TAG).position(|byte| byte == close);
        let Some(inside) = end.map(|end| &after[..end]) else { continue };
        let name = inside.strip_prefix('/').unwrap_or(inside);
        if TAGS.iter().any(|tag| tag.eq_ignore_ascii_case(name.trim())) {
            let range = start..start + inside.len() + 2;
            tags.push(Tag { range, opens: name.len() == inside.len() });
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> (String, String) {
        let Split { thoughts, reply, .. } = split_thoughts(text);
        (thoughts, reply)
    }

    #[test]
    fn thoughts_are_separated_wherever_they_stand() {
        for (text, thoughts, reply) in [
            ("<think>a {\"b\": 1}</think>\n{\"b\": 2}", "a {\"b\": 1}", "{\"b\": 2}"),
            ("<Thinking>a</Thinking>b<reasoning>c</reasoning>", "ac", "b"),
            ("drafted\n</think>\nb", "drafted", "b"),
            ("a</think>b</think>c", "ab", "c"),
            ("<think>a <think> b</think> c</think> d", "a  b c", "d"),
            ("[THINK]a[/THINK]b", "a", "b"),
            ("<think>never closed {\"b\": 1}", "never closed {\"b\": 1}", ""),
            ("Here: <think>a</think> b", "a", "Here:  b"),
            ("<b>bold</b> [1] <thinker>", "", "<b>bold</b> [1] <thinker>"),
            (
                r#"{"answer": "The tag <think> opens it."}"#,
                "",
                r#"{"answer": "The tag <think> opens it."}"#,
            ),
        ] {
            assert_eq!(split(text), (thoughts.to_owned(), reply.to_owned()), "{text}");
        }
        assert_eq!(split_thoughts("<think>a</think>bc").start, 16);
    }

    #[test]
    fn what_follows_the_turn_of_the_model_is_no_part_of_its_reply() {
        for (text, thoughts, reply) in [
            ("{\"a\": 1}<|im_end|>\n<|im_start|>user\nMore?", "", "{\"a\": 1}"),
            ("<|start_header_id|>assistant<|end_header_id|>\n\nOslo<|eot_id|>", "", "\n\nOslo"),
            ("Oslo</s>Bergen", "", "Oslo"),
            ("<s>struck</s> Oslo", "", "<s>struck</s> Oslo"),
            (
                "<|channel|>analysis<|message|>Bergen?<|end|><|start|>assistant\
                 <|channel|>final<|message|>Oslo<|return|>",
                "<|channel|>analysis<|message|>Bergen?<|end|><|start|>assistant",
                "Oslo",
            ),
            ("<think>a<|im_end|>", "a", ""),
        ] {
            assert_eq!(split(text), (thoughts.to_owned(), reply.to_owned()), "{text}");
        }
        assert_eq!(split_thoughts("<|im_start|>assistant\nOslo<|im_end|>").start, 21);
        assert_eq!(without_turn_end("Oslo<|eot_id|></s> "), "Oslo");
    }

    #[test]
    fn a_long_reply_full_of_brackets_is_read_once() {
        let brackets = "<[".repeat(250_000);
        let text = format!("<think>{brackets}</think>{brackets}");
        assert_eq!(split(&text), (brackets.clone(), brackets));
    }

    proptest! {
        #[test]
        fn any_text_is_split(text in "(<think>|</think>|\\[/THINK\\]|[a{}<é\n]){0,12}") {
            let Split { reply, start, .. } = split_thoughts(&text);
            prop_assert!(text.is_char_boundary(start));
            prop_assert!(tags(&text).is_empty() || tags(&reply).is_empty());
        }
    }
}
