//! `Which actor starred in both A and B?`: what is in common is asked of each.
use super::super::super::lexicon::Lexicon;
use super::super::Step;
use super::super::tokens::{Tag, said, tokens};

/// Verbs of those who take part in several works.
const TAKES_PART: &[&str] =
    &["star", "act", "appear", "perform", "play", "feature", "direct", "write"];

pub(super) fn steps(question: &str, lexicon: &Lexicon) -> Vec<Step> {
    parted(question, lexicon).unwrap_or_default()
}

fn parted(question: &str, lexicon: &Lexicon) -> Option<Vec<Step>> {
    let tokens = tokens(question, lexicon);
    let first = tokens.first()?.lower.as_str();
    let asks = ["who", "which", "what", "whose"].contains(&first);
    let both = tokens.iter().position(|token| token.lower == "both");
    let takes_part = tokens.iter().any(|token| {
        lexicon.verbs.base(&token.lower).is_some_and(|base| TAKES_PART.contains(&base))
    });
    if !asks || tokens.len() > 40 || (both.is_none() && !takes_part) {
        return None;
    }
    let named = |at: &usize| tokens[*at].tag == Tag::Name;
    let from = both.map_or(1, |at| at + 1);
    let at = (from..tokens.len()).find(named)?;
    let one = &tokens[at];
    let (a, b, end) = match one.text.split_once(" and ") {
        // One run of capitals, `Low Tide and High Noon`.
        Some((a, b)) if !one.text.starts_with(['"', '“', '(']) => {
            (a.to_owned(), b.to_owned(), at + 1)
        }
        _ => {
            tokens.get(at + 1).filter(|token| token.lower == "and" && both.is_some())?;
            let other = (at + 2..tokens.len()).find(named).filter(|other| other - at < 5)?;
            (one.text.clone(), said(&tokens[at + 2..=other]), other + 1)
        }
    };
    let lead = said(&tokens[..both.unwrap_or(at)]);
    let kind = both.map_or_else(String::new, |both| said(&tokens[both + 1..at]));
    let tail = said(&tokens[end..]);
    let ask = |thing: &str| {
        let words = [lead.as_str(), kind.as_str(), thing, tail.as_str()];
        let said: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        Step { question: format!("{}?", said.join(" ")), stands_for: String::new() }
    };
    Some(vec![ask(&a), ask(&b)])
}
