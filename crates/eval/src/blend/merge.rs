//! One question of two halves: the clue's words in the place of the bridge's name.
use halma_core::text::split_words;
use halma_core::{Cx, Prompt, Result};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::build::Wording;
use super::checks;
use super::half::{Ask, Clue};
use super::kind::Dropped;

const MERGE: Prompt<Merged> = Prompt::json("blend/merge");

#[derive(Deserialize)]
struct Merged {
    question: String,
}

#[derive(Serialize)]
struct CluePhrase<'a> {
    question: &'a str,
    phrase: &'a str,
}

/// The merged question, or why there is none.
pub(super) async fn merge(
    cx: &Cx,
    (clue, ask): (&Clue, &Ask),
    bridge: &str,
    wording: Wording,
) -> Result<std::result::Result<String, Dropped>> {
    if let Err(why) = checks::halves(clue, ask, bridge) {
        return Ok(Err(why));
    }
    let question = match wording {
        Wording::Rules => match replaced(&ask.question, bridge, &clue.phrase) {
            Some(question) => question,
            None => return Ok(Err(Dropped::NotMerged)),
        },
        Wording::Model => {
            let phrase = CluePhrase { question: &clue.question, phrase: &clue.phrase };
            let second = ask.question.as_str();
            let variables = context! { name => bridge, clue => Serde(phrase), second };
            let check = |reply: &Merged| {
                let wrong = checks::merged(&reply.question, ask, bridge);
                wrong.map_err(|why| match why {
                    Dropped::NotMerged => "it is not a question".to_owned(),
                    _ => format!("it holds `{bridge}` or the answer"),
                })
            };
            cx.ask_checked(&MERGE, variables, check).await?.question.trim().to_owned()
        }
    };
    Ok(checks::merged(&question, ask, bridge).map(|()| question))
}

/// The phrase in the place of the only mention of the name; a possessive cannot be replaced.
fn replaced(question: &str, name: &str, phrase: &str) -> Option<String> {
    let (before, after) = question.split_once(name)?;
    let whole = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let apart = whole(before.chars().next_back()) && whole(after.chars().next());
    let possessive = ["'s", "’s", "'", "’"].iter().any(|end| after.starts_with(end));
    if !apart || possessive || after.contains(name) {
        return None;
    }
    // `the probe Juno` becomes the phrase and not `the probe the one that …`.
    let before = match split_words(before).last() {
        Some(last) if before[..last.start].ends_with("the ") && before.ends_with(' ') => {
            let noun = &before[last.clone()];
            let named = noun.chars().all(char::is_lowercase);
            if named { before[..last.start].trim_end_matches("the ") } else { before }
        }
        _ => before.strip_suffix("the ").unwrap_or(before),
    };
    Some(format!("{before}{phrase}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phrase_takes_the_place_of_the_name() {
        let put = |question: &str| replaced(question, "Juno", "the one that burned");
        assert_eq!(
            put("When was Juno built?").as_deref(),
            Some("When was the one that burned built?")
        );
        assert_eq!(put("Who led the probe Juno?").as_deref(), Some("Who led the one that burned?"));
        assert_eq!(put("Who led the Juno?").as_deref(), Some("Who led the one that burned?"));
        assert_eq!(put("What is Juno's mass?"), None);
        assert_eq!(put("Who are Junos?"), None);
        assert_eq!(put("Is Juno older than Juno?"), None);
    }
}
