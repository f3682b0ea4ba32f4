//! The one place where numbers, lists and texts from outside get their bounds, before anything is
//! computed from them.
use halma_core::Filter;
use halma_core::text::thousands;
use halma_engine::{AskRequest, LONGEST_CORRECTION, LONGEST_NOTE, Turn};

use super::settings::check_settings;
use crate::problem::Problem;

/// Names, patterns and cursors, in characters.
const LONGEST_NAME: usize = 1_000;

/// Patterns and values of one filter together.
const MAX_PATTERNS: usize = 100;
pub(super) const LONGEST_PATTERN: usize = 300;

const MAX_MESSAGES: usize = 200;
const MAX_OPTIONS: usize = 64;
const MAX_CANDIDATES: usize = 64;

/// Texts that one request embeds, as many as `OpenAI` takes, and their characters together.
const MAX_TEXTS: usize = 2_048;
const LONGEST_TEXTS: usize = 400_000;

/// Characters of a whole conversation, and of a choice.
const LONGEST_HISTORY: usize = 200_000;
const LONGEST_OPTION: usize = 2_000;

/// Who says something in a conversation. What the system says is left out.
const ROLES: [&str; 3] = ["user", "assistant", "system"];

/// Everything of a question but its text, which has a configured limit, and its budget, which is
/// checked when it is read.
pub(crate) fn check_ask(ask: &AskRequest) -> Result<(), Problem> {
    name("strategy", ask.strategy.as_deref())?;
    name("asked_at", ask.asked_at.as_deref())?;
    ask.conversation.as_deref().map_or(Ok(()), check_conversation)?;
    ask.filter.as_ref().map_or(Ok(()), check_filter)?;
    check_settings(&ask.settings)?;
    check_history(&ask.history)?;
    check_roles(&ask.history)?;
    if ask.options.len() > MAX_OPTIONS {
        return Err(too_many("options", MAX_OPTIONS));
    }
    if ask.options.iter().any(|option| option.chars().count() > LONGEST_OPTION) {
        return Err(too_long("options", LONGEST_OPTION));
    }
    Ok(())
}

fn check_conversation(id: &str) -> Result<(), Problem> {
    let is_id = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if (8..=64).contains(&id.len()) && id.bytes().all(is_id) {
        return Ok(());
    }
    Err(Problem::unfit(format!("`{}` is not the id of a `conversation`", beginning(id)))
        .hint("an id has 8 to 64 letters, digits, `-` and `_`"))
}

/// What is repeated of a name from outside.
pub(super) fn beginning(name: &str) -> String {
    name.chars().take(60).collect()
}

/// The messages before a question, before anything is computed from them.
pub(crate) fn check_history(history: &[Turn]) -> Result<(), Problem> {
    if history.len() > MAX_MESSAGES {
        return Err(too_many("history", MAX_MESSAGES));
    }
    let characters: usize = history.iter().map(|message| message.text.chars().count()).sum();
    if characters > LONGEST_HISTORY {
        return Err(too_long("history", LONGEST_HISTORY));
    }
    Ok(())
}

/// Whether someone says something in a conversation in this role.
pub(crate) fn is_role(role: &str) -> bool {
    ROLES.contains(&role)
}

fn check_roles(history: &[Turn]) -> Result<(), Problem> {
    match history.iter().find(|message| !is_role(&message.role)) {
        None => Ok(()),
        Some(Turn { role, .. }) => {
            let detail = format!("`{}` is not a role of `history`", beginning(role));
            Err(Problem::unfit(detail).hint("a role is `user`, `assistant` or `system`"))
        }
    }
}

/// Each pattern is compared with the name of every document.
pub(crate) fn check_filter(filter: &Filter) -> Result<(), Problem> {
    let lists = [&filter.documents, &filter.sections, &filter.formats, &filter.tags];
    if lists.iter().map(|list| list.len()).sum::<usize>() > MAX_PATTERNS {
        return Err(too_many("filter", MAX_PATTERNS));
    }
    let mut all = lists.into_iter().flatten();
    if all.any(|pattern| pattern.chars().count() > LONGEST_PATTERN) {
        return Err(too_long("filter", LONGEST_PATTERN));
    }
    filter.metadata.check().map_err(|e| Problem::unfit(e.to_string()))
}

/// A name, a part of one, or a cursor.
pub(crate) fn name(what: &str, name: Option<&str>) -> Result<(), Problem> {
    match name {
        Some(name) if name.chars().count() > LONGEST_NAME => Err(too_long(what, LONGEST_NAME)),
        _ => Ok(()),
    }
}

/// A list of names, such as the files of a build.
pub(crate) fn names(what: &str, names: &[String], limit: usize) -> Result<(), Problem> {
    if names.len() > limit {
        return Err(too_many(what, limit));
    }
    names.iter().try_for_each(|one| name(what, Some(one)))
}

/// What is said of an answer.
pub(crate) fn feedback(correction: &str, note: &str) -> Result<(), Problem> {
    for (what, text, limit) in
        [("correction", correction, LONGEST_CORRECTION), ("note", note, LONGEST_NOTE)]
    {
        if text.chars().count() > limit {
            return Err(too_long(what, limit));
        }
    }
    Ok(())
}

/// Numbers of candidates.
pub(crate) fn candidates(numbers: &[usize]) -> Result<(), Problem> {
    if numbers.len() > MAX_CANDIDATES {
        Err(too_many("candidates", MAX_CANDIDATES))
    } else {
        Ok(())
    }
}

/// Texts that are embedded.
pub(crate) fn embedded(texts: &[String]) -> Result<(), Problem> {
    let is_empty = |text: &String| text.trim().is_empty();
    if texts.is_empty() || texts.len() > MAX_TEXTS || texts.iter().any(is_empty) {
        return Err(Problem::unfit(format!(
            "`input` must be 1 to {MAX_TEXTS} texts, none of them empty"
        )));
    }
    if texts.iter().map(|text| text.chars().count()).sum::<usize>() > LONGEST_TEXTS {
        return Err(too_long("input", LONGEST_TEXTS).hint("send the texts in several requests"));
    }
    Ok(())
}

pub(super) fn too_many(what: &str, limit: usize) -> Problem {
    let limit = thousands(limit as u64);
    Problem::unfit(format!("`{what}` has more than {limit} entries")).hint("send fewer")
}

pub(super) fn too_long(what: &str, limit: usize) -> Problem {
    let limit = thousands(limit as u64);
    Problem::unfit(format!("`{what}` is longer than {limit} characters")).hint("shorten it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_has_known_roles() {
        let ask = |role: &str| AskRequest {
            question: "Who?".into(),
            history: vec![Turn { role: role.into(), text: "Hello".into() }],
            ..AskRequest::default()
        };
        for role in ["user", "assistant", "system"] {
            assert_eq!(check_ask(&ask(role)).err(), None, "{role}");
        }
        for role in ["foo", "", "User"] {
            assert_eq!(check_ask(&ask(role)).unwrap_err().status, 422, "{role}");
        }
    }

    #[test]
    fn long_lists_and_texts_are_refused() {
        let many = Filter { documents: vec!["*a*".to_owned(); 101], ..Filter::default() };
        assert!(check_filter(&many).is_err());
        let long = Filter { documents: vec!["2".repeat(301)], ..Filter::default() };
        assert!(check_filter(&long).is_err());
        assert!(check_filter(&Filter::default()).is_ok());
        let message = |text: String| Turn { role: "user".into(), text };
        assert!(check_history(&vec![message(String::new()); 201]).is_err());
        assert!(check_history(&[message("ü".repeat(200_001))]).is_err());
        assert!(feedback(&"ü".repeat(4_000), "").is_ok());
        assert!(
            feedback(&"ü".repeat(4_001), "").is_err() && feedback("", &"n".repeat(4_001)).is_err()
        );
        assert!(candidates(&[1; 65]).is_err() && candidates(&[1, 2]).is_ok());
        let texts = |count, text: &str| vec![text.to_owned(); count];
        assert!(embedded(&texts(2_048, "a")).is_ok() && embedded(&texts(2_049, "a")).is_err());
        assert!(embedded(&[]).is_err() && embedded(&texts(2, " ")).is_err());
        assert!(embedded(&texts(2, &"ü".repeat(200_000))).is_ok());
        assert!(embedded(&texts(2, &"ü".repeat(200_001))).is_err());
    }
}
