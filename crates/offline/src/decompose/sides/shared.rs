//! `Which actor starred in both A and B?`: each of the two is asked about in turn.
use super::pair::find_pair;
use crate::decompose::Step;
use crate::decompose::tokens::{join, tokens};
use crate::lexicon::Lexicon;

/// Questions of more tokens hold several clauses, of which one names the pair.
const MAX_TOKENS: usize = 40;

/// No steps where the question names no pair after `both`.
pub(super) fn steps(question: &str, lexicon: &Lexicon) -> Vec<Step> {
    split(question, lexicon).unwrap_or_default()
}

fn split(question: &str, lexicon: &Lexicon) -> Option<Vec<Step>> {
    let tokens = tokens(question, lexicon);
    let first = tokens.first()?.lower.as_str();
    let asks = ["who", "which", "what", "whose"].contains(&first);
    if !asks || tokens.len() > MAX_TOKENS {
        return None;
    }
    let both = tokens.iter().position(|token| token.lower == "both")?;
    let pair = find_pair(&tokens, "and", both + 1)?;
    let ask = |name: String| {
        let kind = join(&tokens[both + 1..pair.span.start]);
        let parts = [join(&tokens[..both]), kind, name, join(&tokens[pair.span.end..])];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Step { question: format!("{}?", parts.join(" ")), stands_for: String::new() }
    };
    Some(pair.names.clone().map(ask).into())
}
