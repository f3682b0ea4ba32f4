//! Questions with options: the option that the context supports best.
use std::collections::HashSet;

use super::Answer;
use super::score::Query;
use super::text::Text;
use crate::lexicon::Lexicon;
use crate::links::mentions;
use crate::weights::covered;

/// The first option with the best support; its text is the answer.
pub(crate) fn pick(
    options: &[String],
    query: &Query<'_>,
    text: &Text,
    lexicon: &Lexicon,
) -> Answer {
    let mut best = (-1.0_f32, options[0].as_str(), "");
    for option in options {
        let wanted: HashSet<String> = lexicon.content(option).into_iter().collect();
        for line in &text.lines {
            let held = text.titled_stems(line);
            #[expect(clippy::cast_precision_loss, reason = "an option has few words")]
            let share = wanted.intersection(&held).count() as f32 / wanted.len().max(1) as f32;
            let whole = if mentions(&line.sentence.text, option) { 0.5 } else { 0.0 };
            let support = (share + whole) * (0.2 + covered(&query.mass, &held));
            if support > best.0 {
                best = (support, option, &line.sentence.text);
            }
        }
    }
    Answer { text: best.1.to_owned(), rationale: format!("Best supported by “{}”", best.2) }
}
