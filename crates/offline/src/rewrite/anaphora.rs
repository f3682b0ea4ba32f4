//! Words that refer to an earlier answer: `she`, `its`, `that film`.

use crate::lists::is_listed;

const PRONOUNS: &[&str] = &["he", "she", "it", "they", "him", "them"];
const POSSESSIVES: &[&str] = &["his", "its", "their"];

/// The question with the answer in place of its first anaphoric word, if it has one.
pub(super) fn resolve_anaphora(question: &str, answer: &str) -> Option<String> {
    let words: Vec<&str> = question.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        // After a name the word refers to that name.
        if at > 1 && words[at - 1].starts_with(char::is_uppercase) {
            return None;
        }
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let (bare, owned) = match bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s")) {
            Some(bare) => (bare, true),
            None => (bare, false),
        };
        let tail = &word[bare.len()..];
        let lower = bare.to_lowercase();
        let next =
            words.get(at + 1).map(|next| next.trim_end_matches(|c: char| !c.is_alphanumeric()));
        let noun =
            next.map(|next| next.trim_end_matches("'s").trim_end_matches("’s").to_lowercase());
        let named = ["that", "this"].contains(&lower.as_str())
            && noun.as_ref().is_some_and(|noun| is_listed("anaphoric", noun));
        // `What is her name` and `What happened to her`.
        let possessive_her = lower == "her" && !tail.contains(['?', '.', ',']) && next.is_some();
        let replaced = if named {
            let noun_tail = words[at + 1].get(noun.as_ref().map_or(0, String::len)..).unwrap_or("");
            Some((format!("{answer}{noun_tail}"), at + 2))
        } else if POSSESSIVES.contains(&lower.as_str()) || possessive_her {
            Some((format!("{answer}'s"), at + 1))
        } else if PRONOUNS.contains(&lower.as_str()) || lower == "her" {
            let tail = if owned { "'s" } else { tail };
            Some((format!("{answer}{tail}"), at + 1))
        } else {
            None
        };
        if let Some((replacement, rest)) = replaced {
            let all = [&words[..at], &[replacement.as_str()], &words[rest..]].concat();
            return Some(all.join(" "));
        }
    }
    None
}
