//! Long answers: a few sentences.
use std::collections::HashSet;

use super::Answer;
use super::score::Query;
use super::text::Text;
use crate::weights::covered;

/// The most sentences of a long answer.
const LONG: usize = 3;

/// The sentences that cover most of the question, in their order; a sentence of a passage that
/// the question names comes first.
pub(super) fn answer(query: &Query<'_>, text: &Text) -> Answer {
    let mut open = query.mass.clone();
    let mut chosen: Vec<usize> = vec![];
    while chosen.len() < LONG {
        let gain = |i: &usize| {
            let line = &text.lines[*i];
            let titles: HashSet<String> = text.titles[line.passage].stems.iter().cloned().collect();
            covered(&open, &line.stems()) + covered(&open, &titles) / 2.0
        };
        let rest = (0..text.lines.len()).filter(|i| !chosen.contains(i));
        let best = rest.max_by(|a, b| gain(a).total_cmp(&gain(b)).then(b.cmp(a)));
        let Some(line) = best.filter(|line| gain(line) > 0.0) else { break };
        let held = text.lines[line].stems();
        open.retain(|(stem, _)| !held.contains(stem));
        chosen.push(line);
    }
    chosen.sort_unstable();
    let said: Vec<&str> = chosen.iter().map(|&i| text.lines[i].sentence.text.as_str()).collect();
    let titles: Vec<&str> =
        chosen.iter().map(|&i| text.titles[text.lines[i].passage].plain.as_str()).collect();
    Answer { text: said.join(" "), rationale: format!("Said in: {}.", titles.join("; ")) }
}
