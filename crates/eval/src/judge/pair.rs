//! Which of two answers to an open question is better (PIKE-RAG's L4). Judges favour a position, so each
//! pair is shown twice, with the positions swapped.
use halma_core::{Cx, Prompt, Result};
use minijinja::context;
use serde::Deserialize;

const PAIR: Prompt<Choice> = Prompt::json("judge/pair");

#[derive(Debug, Deserialize)]
struct Choice {
    better: Better,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Better {
    #[serde(alias = "1", alias = "A", alias = "a")]
    First,
    #[serde(alias = "2", alias = "B", alias = "b")]
    Second,
    #[serde(alias = "neither", alias = "both", alias = "equal")]
    Tie,
}

/// Has the judge compare an answer with its rival, in both orders: how far the answer is preferred,
/// and whether both orders have one verdict.
///
/// # Errors
///
/// A reply without a verdict is asked for again, then [`halma_core::Error::BadReply`].
pub(super) async fn prefer(
    cx: &Cx,
    question: &str,
    [answer, rival]: [&str; 2],
) -> Result<[f64; 2]> {
    let cx = cx.span("compare");
    let first = cx.ask(&PAIR, context! { question, first => answer, second => rival }).await?;
    let swapped = cx.ask(&PAIR, context! { question, first => rival, second => answer }).await?;
    let points = |better: Better, position: Better| match better {
        Better::Tie => 0.5,
        better => f64::from(u8::from(better == position)),
    };
    Ok(preference(points(first.better, Better::First), points(swapped.better, Better::Second)))
}

/// 1 where the answer is preferred in both orders, 0 where its rival is, else 0.5: a judge that
/// follows the position prefers neither. Then 1 where both orders have one verdict, else 0.
fn preference(first: f64, swapped: f64) -> [f64; 2] {
    let consistent = first.total_cmp(&swapped).is_eq();
    [if consistent { first } else { 0.5 }, f64::from(u8::from(consistent))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_preferred_in_both_orders_counts() {
        assert_eq!((preference(1.0, 1.0)[0], preference(0.0, 0.0)[0]), (1.0, 0.0));
        assert!((preference(1.0, 0.0)[0] - 0.5).abs() + preference(1.0, 0.0)[1].abs() < 1e-9);
        assert!(
            (preference(0.5, 0.5)[0] - 0.5).abs() + (preference(0.5, 0.5)[1] - 1.0).abs() < 1e-9
        );
    }
}
