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
/// closed are all there is. A text that is JSON as a whole has no thoughts.
pub(crate) fn split_thoughts(text: &str) -> Split {
    let whole = || Split { thoughts: String::new(), reply: text.to_owned(), start: 0 };
    let tags = tags(text);
    if tags.is_empty() || serde_json::from_str::<serde::de::IgnoredAny>(text.trim()).is_ok() {
        return whole();
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

/// Bytes between the brackets of a tag at most; what is longer is text.
const LONGEST_TAG: usize = 32;

struct Tag {
    /// In bytes.
    range: std::ops::Range<usize>,
    opens: bool,
}

fn tags(text: &str) -> Vec<Tag> {
    let mut found = vec![];
    for (start, bracket) in text.match_indices(['<', '[']) {
        let close = if bracket == "<" { b'>' } else { b']' };
        let after = &text[start + 1..];
        let end = after.bytes().take(LONGEST_TAG).position(|byte| byte == close);
        let Some(inside) = end.map(|end| &after[..end]) else { continue };
        let name = inside.strip_prefix('/').unwrap_or(inside);
        if TAGS.iter().any(|tag| tag.eq_ignore_ascii_case(name.trim())) {
            let range = start..start + inside.len() + 2;
            found.push(Tag { range, opens: name.len() == inside.len() });
        }
    }
    found
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
