//! What several criteria share: taking a text apart into statements, and counting what the judge
//! picks from a numbered list.
use halma_core::{Cx, Prompt, Result};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::SourceText;

const STATEMENTS: Prompt<Statements> = Prompt::json("judge/statements");
const SUPPORT: Prompt<Support> = Prompt::json("judge/support");

#[derive(Deserialize)]
struct Statements {
    statements: Vec<String>,
}

#[derive(Deserialize)]
struct Support {
    supported: Vec<usize>,
}

/// The share of the answer's statements that follow from the passages; `None` when it states
/// nothing.
pub(super) async fn supported_share(
    cx: &Cx,
    question: &str,
    answer: &str,
    passages: &[SourceText],
) -> Result<Option<f64>> {
    let asked = cx.ask(&STATEMENTS, context! { question, answer }).await?;
    let statements: Vec<String> =
        asked.statements.into_iter().filter(|statement| !statement.trim().is_empty()).collect();
    if statements.is_empty() {
        return Ok(None);
    }
    let count = statements.len();
    let variables = context! { statements, passages => Serde(passages) };
    let support =
        cx.ask_checked(&SUPPORT, variables, |reply| numbers(&reply.supported, count)).await?;
    Ok(Some(crate::metrics::share(distinct(&support.supported), count)))
}

/// Whether the numbers are places in a list of `count`, counted from 1.
pub(super) fn numbers(numbers: &[usize], count: usize) -> std::result::Result<(), String> {
    match numbers.iter().find(|number| **number == 0 || **number > count) {
        Some(stray) => Err(format!("{stray} is not one of the numbers 1 to {count}")),
        None => Ok(()),
    }
}

pub(super) fn distinct(numbers: &[usize]) -> usize {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len()
}
