//! A reply that repeats itself: small models write one sentence or one item again and again until
//! their tokens are spent.

/// Bytes of what is repeated at most.
const LONGEST_BLOCK: usize = 240;

/// How often it stands there at least, and in how many bytes.
const TIMES: usize = 6;
const REPEATED_BYTES: usize = 240;

/// How many bytes a reply grows before it is looked at again.
const STEP: usize = 32;

/// The reply up to where it begins to repeat itself, with its JSON closed; `None` where it does not.
/// `before` is its length when it was last looked at.
pub(crate) fn without_repetition(text: &str, before: usize) -> Option<String> {
    if text.len() / STEP == before / STEP {
        return None;
    }
    let bytes = text.as_bytes();
    let block = repeated_block(bytes)?;
    let is_repeated = |at: &usize| bytes[*at] == bytes[at + block];
    let start = (0..text.len() - block).rev().take_while(is_repeated).last()?;
    Some(closed(&text[..text.floor_char_boundary(start + block)]))
}

/// The length of the shortest block with whose repetition the text ends.
fn repeated_block(text: &[u8]) -> Option<usize> {
    // Rows of digits, spaces or dashes are a table.
    let has_letters = |block: &[u8]| block.iter().any(|b| b.is_ascii_alphabetic() || *b >= 0x80);
    (1..=LONGEST_BLOCK).find(|&block| {
        let times = TIMES.max(REPEATED_BYTES.div_ceil(block));
        let tail = text.len().checked_sub(block * times).map(|start| &text[start..]);
        tail.is_some_and(|tail| {
            tail[block..] == tail[..tail.len() - block] && has_letters(&tail[..block])
        })
    })
}

/// JSON that was cut, with its text, lists and objects closed; other text as it is.
fn closed(text: &str) -> String {
    let (mut open, mut in_string, mut escaped) = (vec![], false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' if in_string || !open.is_empty() => in_string = !in_string,
            _ if in_string => {}
            '{' => open.push('}'),
            '[' if !open.is_empty() => open.push(']'),
            '}' | ']' => {
                open.pop();
            }
            _ => {}
        }
    }
    let mut text = if escaped { &text[..text.len() - 1] } else { text }.to_owned();
    if in_string {
        text.push('"');
    } else {
        text.truncate(text.trim_end().trim_end_matches(',').len());
    }
    text.extend(open.into_iter().rev());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fed in pieces of some bytes, as a stream gives them.
    fn streamed(text: &str) -> Option<String> {
        let ends = (0..=text.len()).step_by(7).filter(|end| text.is_char_boundary(*end));
        let mut before = 0;
        ends.into_iter().find_map(|end| {
            let cut = without_repetition(&text[..end], before);
            before = end;
            cut
        })
    }

    #[test]
    fn a_list_of_one_item_again_and_again_has_it_once() {
        let item = "\"Who built the Mill Bridge over the Lorn?\", ";
        let text =
            format!("{{\"thinking\": \"The builder.\", \"sub_questions\": [{}", item.repeat(40));
        let cut = streamed(&text).unwrap();
        let value: serde_json::Value = serde_json::from_str(&cut).unwrap();
        assert_eq!(value["thinking"], "The builder.");
        let items = value["sub_questions"].as_array().unwrap();
        assert!(items.len() <= 2, "{cut}");
        assert_eq!(items[0], "Who built the Mill Bridge over the Lorn?");
    }

    #[test]
    fn a_sentence_again_and_again_is_closed() {
        for sentence in ["It is in passage [1]. ", "它在第一段。", "la "] {
            let text = format!("{{\"rationale\": \"So: {}", sentence.repeat(400));
            let cut = streamed(&text).unwrap();
            assert!(cut.len() < 400, "{cut}");
            assert!(serde_json::from_str::<serde_json::Value>(&cut).is_ok(), "{cut}");
        }
    }

    #[test]
    fn what_does_not_repeat_itself_is_left_alone() {
        let rows: Vec<String> = (0..200)
            .map(|i| format!("{{\"thing\": \"T{i}\", \"value\": \"{}\"}}, ", i * 7))
            .collect();
        assert_eq!(streamed(&format!("{{\"rows\": [{}", rows.concat())), None);
        assert_eq!(streamed(&"-".repeat(500)), None);
        assert_eq!(streamed(&"0, ".repeat(500)), None);
    }
}
