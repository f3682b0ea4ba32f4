//! Preferences from right and wrong trajectories of one question (PIKE-RAG, Section 5.3.3).
use halma_core::NextQuestion;
use halma_core::text::words;

use super::chat::Example;
use super::error::TrainError;
use super::pairs::{Render, SubAnswer, Trajectory};

/// Where a wrong trajectory leaves a right one, what the right one does is preferred: up to there
/// both had the same prompt.
pub(super) fn preferences(
    right: &[Trajectory<'_>],
    wrong: &[Trajectory<'_>],
    render: &Render<'_>,
) -> Result<Vec<(NextQuestion, Example)>, TrainError> {
    let mut made = vec![];
    for right in right {
        for wrong in wrong {
            let i = shared(&right.steps, &wrong.steps);
            let (preferred, rejected) = (right.reply(i), wrong.reply(i));
            // A trajectory that a budget cut off did not choose to end.
            let cut_off = wrong.partial && rejected == NextQuestion::Stop;
            let untaught = !right.teaches(i);
            if untaught || preferred == rejected || cut_off || same(&preferred, &rejected) {
                continue;
            }
            let prompt = render.prompt(right.question, &right.steps[..i])?;
            let (reply, rejected) = (preferred.to_string(), Some(rejected.to_string()));
            made.push((preferred, Example { prompt, reply, rejected }));
        }
    }
    Ok(made)
}

/// How many first steps are the same, answers included.
fn shared(one: &[SubAnswer], other: &[SubAnswer]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Whether both ask the same in the same words: then only the answers differed.
fn same(one: &NextQuestion, other: &NextQuestion) -> bool {
    match (one, other) {
        (NextQuestion::Ask(one), NextQuestion::Ask(other)) => words(one) == words(other),
        _ => false,
    }
}
