//! How sure a model was: the mean log-probability of a part of its reply.
use std::ops::Range;

/// What an answer is worth that there is none of, as in the released code.
pub(super) const NOTHING: f32 = -100.0;

/// A reply's tokens, which put together are the reply.
pub(super) type Tokens = [(String, f32)];

/// Over the tokens of the text of `"key": "…"`; over the whole reply where it has no such text.
pub(super) fn of_text(tokens: &Tokens, key: &str) -> f32 {
    let reply = reply(tokens);
    let text = values(&reply, key).into_iter().find(|range| reply[range.clone()].starts_with('"'));
    // Without its quotes.
    let inner = text.map(|range| range.start + 1..range.end - 1).filter(|text| !text.is_empty());
    inner.and_then(|inner| mean(tokens, &[inner])).unwrap_or_else(|| of_all(tokens))
}

/// Over the tokens of each list `"key": […]`, brackets included; of the whole reply for each where
/// the reply does not have `count` such lists.
pub(super) fn of_lists(tokens: &Tokens, key: &str, count: usize) -> Vec<f32> {
    let reply = reply(tokens);
    let lists: Vec<Range<usize>> = values(&reply, key)
        .into_iter()
        .filter(|range| reply[range.clone()].starts_with('['))
        .collect();
    if lists.len() != count {
        return vec![of_all(tokens); count];
    }
    lists.into_iter().map(|range| mean(tokens, &[range]).unwrap_or(NOTHING)).collect()
}

/// Over the tokens of the strings of the list `"key": […]` that each group names by their places; of
/// the whole reply for each where the reply does not have such a list of `count` strings.
pub(super) fn of_groups(
    tokens: &Tokens,
    key: &str,
    count: usize,
    groups: &[Vec<usize>],
) -> Vec<f32> {
    let reply = reply(tokens);
    let mut lists = values(&reply, key).into_iter();
    let list = lists.find(|range| reply[range.clone()].starts_with('['));
    let strings = list.map(|list| strings(&reply, list)).unwrap_or_default();
    if strings.len() != count {
        return vec![of_all(tokens); groups.len()];
    }
    let of_group = |group: &Vec<usize>| {
        let ranges: Vec<Range<usize>> = group.iter().map(|place| strings[*place].clone()).collect();
        mean(tokens, &ranges).unwrap_or(NOTHING)
    };
    groups.iter().map(of_group).collect()
}

/// Where the strings of a list stand, without their quotes.
fn strings(reply: &str, list: Range<usize>) -> Vec<Range<usize>> {
    let mut ranges = vec![];
    let mut at = list.start;
    while let Some(next) = reply[at..list.end].find('"') {
        let start = at + next;
        let Some(length) = length(&reply[start..]) else { break };
        ranges.push(start + 1..start + length - 1);
        at = start + length;
    }
    ranges
}

fn reply(tokens: &Tokens) -> String {
    tokens.iter().map(|(token, _)| token.as_str()).collect()
}

fn of_all(tokens: &Tokens) -> f32 {
    mean(tokens, std::slice::from_ref(&(0..usize::MAX))).unwrap_or(NOTHING)
}

/// The mean over the tokens that have a part in one of the ranges of bytes.
fn mean(tokens: &Tokens, ranges: &[Range<usize>]) -> Option<f32> {
    let (mut at, mut sum, mut count) = (0, 0.0_f32, 0.0_f32);
    for (token, logprob) in tokens {
        let end = at + token.len();
        if ranges.iter().any(|range| at < range.end && range.start < end) {
            // Servers write anything for "impossible": minus infinity, -9999, not a number.
            sum += logprob.max(NOTHING);
            count += 1.0;
        }
        at = end;
    }
    (count > 0.0).then(|| sum / count)
}

/// Strings and lists without an end after which no more are looked for: each was read to the end of
/// the reply.
const MAX_UNCLOSED: usize = 4;

/// Where the strings and lists stand that follow `"key":`, delimiters included.
fn values(reply: &str, key: &str) -> Vec<Range<usize>> {
    let key = format!("\"{key}\"");
    let (mut ranges, mut unclosed) = (vec![], 0);
    let mut at = 0;
    while let Some(next) = reply[at..].find(&key) {
        at += next + key.len();
        let rest = reply[at..].trim_start();
        let Some(rest) = rest.strip_prefix(':').map(str::trim_start) else { continue };
        let start = reply.len() - rest.len();
        let Some(length) = length(rest) else {
            unclosed += usize::from(rest.starts_with(['"', '[']));
            if unclosed > MAX_UNCLOSED {
                break;
            }
            continue;
        };
        ranges.push(start..start + length);
        at = start + length;
    }
    ranges
}

/// The length of the string or list that a text begins with; `None` when it is never closed.
fn length(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            _ if at == 0 => return None,
            _ => {}
        }
        if depth == 0 && !quoted {
            return Some(at + c.len_utf8());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(pieces: &[(&str, f32)]) -> Vec<(String, f32)> {
        pieces.iter().map(|(text, logprob)| ((*text).to_owned(), *logprob)).collect()
    }

    fn close(left: f32, right: f32) -> bool {
        (left - right).abs() < 1e-6
    }

    #[test]
    fn only_the_reasoning_counts() {
        let reply = tokens(&[
            ("{\"rationale\": ", -9.0),
            ("\"", -9.0),
            ("Thorn", -0.2),
            (" said \\\"no\\\"", -0.4),
            ("\", ", -9.0),
            ("\"answer\": \"Norway\"}", -9.0),
        ]);
        assert!(close(of_text(&reply, "rationale"), -0.3));
    }

    #[test]
    fn a_token_that_runs_over_the_end_counts() {
        let reply = tokens(&[("{\"rationale\": \"a", -0.2), (" b\"}", -0.4)]);
        assert!(close(of_text(&reply, "rationale"), -0.3));
    }

    #[test]
    fn where_there_is_no_reasoning_the_whole_reply_counts() {
        for pieces in [
            [("{\"answer\": ", -0.2), ("\"x\"}", -0.4)],
            [("{\"rationale\": \"\", ", -0.2), ("\"answer\": \"x\"}", -0.4)],
            [("{'rationale': 'a', ", -0.2), ("'answer': 'x'}", -0.4)],
            [("{\"rationale\": \"never ", -0.2), ("closed", -0.4)],
        ] {
            assert!(close(of_text(&tokens(&pieces), "rationale"), -0.3), "{pieces:?}");
        }
        assert!(close(of_text(&[], "rationale"), NOTHING));
    }

    #[test]
    fn each_list_has_its_own_confidence() {
        let reply = tokens(&[
            ("{\"nodes\": [{\"parts\": ", -9.0),
            ("[\"a ]\",", -0.1),
            (" \"b\"]", -0.3),
            ("}, {\"parts\" : ", -9.0),
            ("[]", -0.5),
            ("}]}", -9.0),
        ]);
        let lists = of_lists(&reply, "parts", 2);
        assert!(close(lists[0], -0.2) && close(lists[1], -0.5), "{lists:?}");
        // What was repaired when it was read cannot be distinguished here.
        let whole = of_lists(&reply, "parts", 3);
        assert!(whole.iter().all(|one| close(*one, of_all(&reply))) && whole.len() == 3);
    }

    #[test]
    fn groups_of_strings_have_their_confidences() {
        let reply = tokens(&[
            ("{\"questions\": [", -9.0),
            ("\"1. a ]\", ", -0.1),
            ("\"1.1. b \\\" c\", ", -0.5),
            ("\"2. d\"", -0.3),
            ("]}", -9.0),
        ]);
        let groups = [vec![0, 2], vec![1]];
        let confidences = of_groups(&reply, "questions", 3, &groups);
        assert!(close(confidences[0], -0.2) && close(confidences[1], -0.5), "{confidences:?}");
        let whole = of_groups(&reply, "questions", 4, &groups);
        assert!(whole.iter().all(|one| close(*one, of_all(&reply))) && whole.len() == 2);
    }

    #[test]
    fn impossible_tokens_do_not_spoil_the_sum() {
        for odd in [f32::NEG_INFINITY, f32::NAN, -9999.0] {
            let reply = tokens(&[("{\"rationale\": \"", 0.0), ("a", odd), ("\"}", 0.0)]);
            assert!(close(of_text(&reply, "rationale"), NOTHING));
        }
    }
}
