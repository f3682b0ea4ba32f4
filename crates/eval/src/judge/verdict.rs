//! Whether an answer is right, in a model's eyes: yes or no, and never half.
use halma_core::{Cx, Prompt, Result};
use minijinja::context;
use serde::{Deserialize, Serialize};

use crate::Item;

const PIKE: Prompt<bool> = Prompt { name: "judge/pike", parse: yes_or_no };
const DEC: Prompt<bool> = Prompt { name: "judge/dec", parse: yes_or_no };

/// How the judge is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// All gold answers at once, one verdict (KAR³ and PIKE-RAG, section 6.1; the papers' judge is
    /// GPT-4).
    Pike,
    /// The main gold answer alone, after two worked examples (DEC, Table 11; the paper's judge is
    /// Llama-3.1-8B-Instruct).
    Dec,
}

/// What a judge ruled on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    Right,
    Wrong,
    /// Its reply could not be read, also when it was asked again: counted apart.
    Unreadable,
}

/// Asks the judge about one answer. An empty answer is wrong, and the judge is not asked. A verdict that
/// cannot be read is asked for again, at most twice.
///
/// # Errors
///
/// A verdict that cannot be read is [`halma_core::Error::BadReply`]; the others are what ends any
/// run: a spent budget, a model that does not reply.
pub async fn judge(cx: &Cx, protocol: Protocol, item: &Item, answer: &str) -> Result<Ruling> {
    let (question, golds) = (&item.question.text, &item.answers);
    let Some(gold) = golds.first().filter(|_| !answer.trim().is_empty()) else {
        return Ok(Ruling::Wrong);
    };
    let cx = cx.span("judge");
    let right = match protocol {
        Protocol::Pike => cx.ask(&PIKE, context! { question, golds, answer }).await?,
        Protocol::Dec => cx.ask(&DEC, context! { question, gold, answer }).await?,
    };
    Ok(if right { Ruling::Right } else { Ruling::Wrong })
}

/// `yes`, `No.`, `Correctness: yes`, `{"verdict": "yes"}`, `Yes, because …`; prose that only hints
/// at a verdict is none.
fn yes_or_no(reply: &str) -> std::result::Result<bool, String> {
    let complaint = || "the verdict is neither `yes` nor `no`".to_owned();
    let last = reply.rsplit(':').next().unwrap_or(reply);
    let whole = verdict_of(reply);
    whole.or_else(|| verdict_of(last).filter(|_| is_label(reply))).ok_or_else(complaint)
}

/// The word that a text begins with, if it is a verdict and a sentence does not run on in it.
fn verdict_of(text: &str) -> Option<bool> {
    let text = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let (word, rest) =
        text.split_at(text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len()));
    let ends = rest.is_empty() || !rest.starts_with(' ');
    match word {
        "yes" if ends => Some(true),
        "no" if ends => Some(false),
        _ => None,
    }
}

/// Whether what stands before the last colon is a label of one word, `Correctness` say.
fn is_label(reply: &str) -> bool {
    reply.rsplit_once(':').is_some_and(|(label, _)| {
        let label = label.trim_matches(|c: char| !c.is_alphanumeric());
        !label.is_empty() && label.chars().all(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn verdicts_are_read_and_prose_is_not() {
        for (reply, wanted) in [
            ("yes", Some(true)),
            ("No.", Some(false)),
            ("**Yes**", Some(true)),
            ("Correctness: yes", Some(true)),
            ("- Correctness: No", Some(false)),
            ("{\"verdict\": \"yes\"}", Some(true)),
            ("Yes, because both name the river.", Some(true)),
            ("no\nThe candidate names another river.", Some(false)),
            ("no doubt it is right", None),
            ("The answers mean the same.", None),
            ("It is correct: yes they agree", None),
            ("I would say that the answer is correct: yes", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(yes_or_no(reply).ok(), wanted, "{reply:?}");
        }
    }

    proptest! {
        #[test]
        fn any_reply_is_read(reply in "(yes|no|[:.,\"{} \n]|\\PC){0,12}") {
            let _ = yes_or_no(&reply);
        }
    }
}
