//! Words that point back to what was found before: `she`, `its`, `that film`.

const PRONOUNS: &[&str] = &["he", "she", "it", "they", "him", "them"];
const POSSESSIVES: &[&str] = &["his", "its", "their"];

/// Nouns that point back with `that` or `this` before them.
const POINTS_BACK: &[&str] = &[
    "person",
    "man",
    "woman",
    "film",
    "movie",
    "song",
    "album",
    "book",
    "novel",
    "city",
    "town",
    "country",
    "state",
    "place",
    "company",
    "band",
    "team",
    "group",
    "actor",
    "actress",
    "director",
    "author",
    "singer",
    "river",
    "school",
    "university",
    "party",
    "year",
    "event",
    "work",
    "one",
];

/// The question with the answer for its first word that points back; `None` where none does.
pub(super) fn pointing(asked: &str, answer: &str) -> Option<String> {
    let words: Vec<&str> = asked.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        // After a name it is that name that is pointed to.
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
            && noun.as_ref().is_some_and(|noun| POINTS_BACK.contains(&noun.as_str()));
        // `What is her name` and `What happened to her`.
        let hers = lower == "her" && !tail.contains(['?', '.', ',']) && next.is_some();
        let replaced = if named {
            let noun_tail = words[at + 1].get(noun.as_ref().map_or(0, String::len)..).unwrap_or("");
            Some((format!("{answer}{noun_tail}"), at + 2))
        } else if POSSESSIVES.contains(&lower.as_str()) || hers {
            Some((format!("{answer}'s"), at + 1))
        } else if PRONOUNS.contains(&lower.as_str()) || lower == "her" {
            let tail = if owned { "'s" } else { tail };
            Some((format!("{answer}{tail}"), at + 1))
        } else {
            None
        };
        if let Some((said, rest)) = replaced {
            let all = [&words[..at], &[said.as_str()], &words[rest..]].concat();
            return Some(all.join(" "));
        }
    }
    None
}
